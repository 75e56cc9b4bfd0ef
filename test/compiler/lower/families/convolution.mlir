// Family convolution. Convolutions and pooling are calls with the geometry spelled out; others go slot by slot.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program convolution
// CHECK-NEXT: call dt_conv(x float32[2x3x8x8], w float32[4x3x3x3]; 1 1 1 1 1 1 1 1 1 0) -> c float32[2x4x8x8]
// CHECK-NEXT: call dt_pool(c float32[2x4x8x8]; 2 2 2 2 0 0 1 0 0 'max') -> p float32[2x4x4x4]
pd.program @convolution attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3x8x8xf32>
  %w = pd.input "w" : tensor<4x3x3x3xf32>
  %c = pd.conv2d Input(%x) Filter(%w) -> Output("c") {dilations = array<i32: 1, 1>, groups = 1 : i32, paddings = array<i32: 1, 1>, strides = array<i32: 1, 1>} : (tensor<2x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<2x4x8x8xf32>
  %p = pd.pool2d X(%c) -> Out("p") {ksize = array<i32: 2, 2>, paddings = array<i32: 0, 0>, pooling_type = "max", strides = array<i32: 2, 2>} : (tensor<2x4x8x8xf32>) -> tensor<2x4x4x4xf32>
}

// CHECK: program call
// CHECK-NEXT: call dt_row_conv(x float32[2x5x4], w float32[3x4]) -> y float32[2x5x4]
pd.program @call attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x5x4xf32>
  %w = pd.input "w" : tensor<3x4xf32>
  %y = pd.row_conv X(%x) Filter(%w) -> Out("y") : (tensor<2x5x4xf32>, tensor<3x4xf32>) -> tensor<2x5x4xf32>
}
