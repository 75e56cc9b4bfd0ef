// Family convolution: refusals name what is not supported.
// RUN: not dtranspile-lower %s 2>&1 | FileCheck %s

// CHECK: error: conv2d: fuse_activation swish is not supported natively
pd.program @fused attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3x8x8xf32>
  %w = pd.input "w" : tensor<4x3x3x3xf32>
  %c = pd.conv2d Input(%x) Filter(%w) -> Output("c") {dilations = array<i32: 1, 1>, fuse_activation = "swish", groups = 1 : i32, paddings = array<i32: 1, 1>, strides = array<i32: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
}
