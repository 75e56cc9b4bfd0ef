// Family sequence: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: sequence_mask: attribute 'out_dtype' holds 99, which is no element type
pd.program @type attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3xi64>
  %y = pd.sequence_mask X(%x) -> Y("y") {maxlen = 4 : i32, out_dtype = 99 : i32} : (tensor<3xi64>) -> tensor<3x4xi64>
}

// CHECK: error: sequence_expand_grad: lacks the forward value of 'X@GRAD'
pd.program @forward attributes {version = 1008005 : i64} {
  %y = pd.input "y" : !pd.lod<tensor<?x2xf32>, 1>
  %g = pd.input "g" : !pd.lod<tensor<?x2xf32>, 1>
  %dx = pd.sequence_expand_grad "Out@GRAD"(%g) X(empty) Y(%y) -> "X@GRAD"("dx") {ref_level = 0 : i32} : (!pd.lod<tensor<?x2xf32>, 1>, !pd.lod<tensor<?x2xf32>, 1>) -> tensor<?x2xf32>
}

// CHECK: error: sequence_pad: needs an argument in input slot 'PadValue'
pd.program @padding attributes {version = 1008005 : i64} {
  %x = pd.input "x" : !pd.lod<tensor<?x2xf32>, 1>
  %y, %l = pd.sequence_pad X(%x) PadValue(empty) -> Out("y") Length("l") {padded_length = 4 : i32} : (!pd.lod<tensor<?x2xf32>, 1>) -> (tensor<?x4x2xf32>, tensor<?xi64>)
}
