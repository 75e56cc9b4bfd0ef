// Family shape: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: im2sequence: input Y is not supported natively
pd.program @sizes attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<2x1x4x4xf32>
  %y = pd.input "y" : tensor<2x2xf32>
  %o = pd.im2sequence X(%x) Y(%y) -> Out("o") {kernels = array<i32: 2, 2>, out_stride = array<i32: 1, 1>, paddings = array<i32: 0, 0, 0, 0>, strides = array<i32: 1, 1>} : (tensor<2x1x4x4xf32>, tensor<2x2xf32>) -> tensor<?x4xf32>
}

