// Family indexing: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: gather: has no axis 2 in [4, 3]
pd.program @axis attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %i = pd.input "i" : tensor<2xi64>
  %y = pd.gather X(%x) Index(%i) -> Out("y") {axis = 2 : i32} : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
}

// CHECK: error: gather_nd: indexes 3 axes of X [4, 3]
pd.program @depth attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %i = pd.input "i" : tensor<2x3xi64>
  %y = pd.gather_nd X(%x) Index(%i) -> Out("y") : (tensor<4x3xf32>, tensor<2x3xi64>) -> tensor<2xf32>
}

// CHECK: error: slice: has 2 axes, 1 starts and 2 ends
pd.program @bounds attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %y = pd.slice Input(%x) -> Out("y") {axes = array<i32: 0, 1>, ends = array<i32: 2, 2>, starts = array<i32: 0>} : (tensor<4x3xf32>) -> tensor<2x2xf32>
}

// CHECK: error: strided_slice: has stride 0 on axis 1
pd.program @still attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %y = pd.strided_slice Input(%x) -> Out("y") {axes = array<i32: 1>, ends = array<i32: 3>, starts = array<i32: 0>, strides = array<i32: 0>} : (tensor<4x3xf32>) -> tensor<4x3xf32>
}

// CHECK: error: diag_embed: has no two dims 1 and 1
pd.program @same attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %y = pd.diag_embed Input(%x) -> Out("y") {dim1 = 1 : i32, dim2 = 1 : i32} : (tensor<4x3xf32>) -> tensor<4x3x3xf32>
}
