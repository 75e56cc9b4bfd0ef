// Family shape: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: im2sequence: input Y is not supported natively
pd.program @sizes attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<2x1x4x4xf32>
  %y = pd.input "y" : tensor<2x2xf32>
  %o = pd.im2sequence X(%x) Y(%y) -> Out("o") {kernels = array<i32: 2, 2>, out_stride = array<i32: 1, 1>, paddings = array<i32: 0, 0, 0, 0>, strides = array<i32: 1, 1>} : (tensor<2x1x4x4xf32>, tensor<2x2xf32>) -> tensor<?x4xf32>
}

// CHECK: error: transpose2_grad: axis 5 of 2 is not supported natively
pd.program @axis attributes {version = 2006002 : i64} {
  %s = pd.undef "s" : tensor<0x3x2xf32>
  %g = pd.input "g" : tensor<2x3xf32>
  %dx = pd.transpose2_grad "Out@GRAD"(%g) XShape(%s) -> "X@GRAD"("dx") {axis = array<i32: 5, 0>} : (tensor<2x3xf32>, tensor<0x3x2xf32>) -> tensor<3x2xf32>
}
