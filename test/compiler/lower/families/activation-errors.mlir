// Family activation: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: prelu: mode 'some' is not supported natively
pd.program @mode attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %a = pd.input "a" : tensor<1xf32>
  %y = pd.prelu X(%x) Alpha(%a) -> Out("y") {mode = "some"} : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
}

// CHECK: error: maxout: cannot make groups of 2 along axis 1 of X [2, 5]
pd.program @groups attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x5xf32>
  %y = pd.maxout X(%x) -> Out("y") {axis = 1 : i32, groups = 2 : i32} : (tensor<2x5xf32>) -> tensor<2x2xf32>
}
