// Family convolution: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: conv2d: fuse_activation swish is not supported natively
pd.program @fused attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3x8x8xf32>
  %w = pd.input "w" : tensor<4x3x3x3xf32>
  %c = pd.conv2d Input(%x) Filter(%w) -> Output("c") {dilations = array<i32: 1, 1>, fuse_activation = "swish", groups = 1 : i32, paddings = array<i32: 1, 1>, strides = array<i32: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
}

// Gradients that stand alone: nothing has looked at their windows yet.
// CHECK: error: conv2d_grad: has windows over 2 axes, but not as many spatial axes in each argument
pd.program @line attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3x8xf32>
  %w = pd.input "w" : tensor<4x3x3x3xf32>
  %g = pd.input "g" : tensor<2x4x8x8xf32>
  %dx = pd.conv2d_grad Filter(%w) Input(%x) "Output@GRAD"(%g) -> "Input@GRAD"("dx") {dilations = array<i32: 1, 1>, groups = 1 : i32, paddings = array<i32: 1, 1>, strides = array<i32: 1, 1>} : (tensor<4x3x3x3xf32>, tensor<2x3x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x3x8xf32>
}

// CHECK: error: conv2d_grad: has 2 spatial axes, but 2 kernel extents, 1 strides and 2 dilations
pd.program @stride attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3x8x8xf32>
  %w = pd.input "w" : tensor<4x3x3x3xf32>
  %g = pd.input "g" : tensor<2x4x8x8xf32>
  %dx = pd.conv2d_grad Filter(%w) Input(%x) "Output@GRAD"(%g) -> "Input@GRAD"("dx") {dilations = array<i32: 1, 1>, groups = 1 : i32, paddings = array<i32: 1, 1>, strides = array<i32: 1>} : (tensor<4x3x3x3xf32>, tensor<2x3x8x8xf32>, tensor<2x4x8x8xf32>) -> tensor<2x3x8x8xf32>
}

// CHECK: error: pool2d_grad: an argument without spatial axes is not supported natively
pd.program @pool attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<8xf32>
  %o = pd.input "o" : tensor<8xf32>
  %g = pd.input "g" : tensor<8xf32>
  %dx = pd.pool2d_grad Out(%o) "Out@GRAD"(%g) X(%x) -> "X@GRAD"("dx") {global_pooling = true, ksize = array<i32: 2, 2>, pooling_type = "max"} : (tensor<8xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8xf32>
}

// CHECK: error: pool2d_double_grad: pooling_type 'max' is not supported natively
pd.program @largest attributes {version = 2006002 : i64} {
  %g = pd.input "g" : tensor<1x1x4x4xf32>
  %r = pd.pool2d_double_grad "grad_x@GRAD"(%g) -> "grad_out@GRAD"("r") {pooling_type = "max", ksize = array<i32: 2, 2>, strides = array<i32: 2, 2>, paddings = array<i32: 0, 0>} : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
}
