// Family normalization. Statistics and result are one kernel.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program layer
// CHECK-NEXT: kernel layer_norm(x float32[4x6], s float32[6], b float32[6]) -> y float32[4x6], m float32[4], v float32[4]
pd.program @layer attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xf32>
  %s = pd.input "s" : tensor<6xf32>
  %b = pd.input "b" : tensor<6xf32>
  %y, %m, %v = pd.layer_norm X(%x) Scale(%s) Bias(%b) -> Y("y") Mean("m") Variance("v") {begin_norm_axis = 1 : i32, epsilon = 1.0e-5 : f32} : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> (tensor<4x6xf32>, tensor<4xf32>, tensor<4xf32>)
}

// CHECK: program call
// CHECK-NEXT: call dt_lrn(x float32[1x4x3x3]; 5 1 0.0001 0.75 'AnyLayout') -> y float32[1x4x3x3], m float32[1x4x3x3]
pd.program @call attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<1x4x3x3xf32>
  %y, %m = pd.lrn X(%x) -> Out("y") MidOut("m") {alpha = 1.0e-4 : f32, beta = 0.75 : f32, k = 1.0 : f32, n = 5 : i32} : (tensor<1x4x3x3xf32>) -> (tensor<1x4x3x3xf32>, tensor<1x4x3x3xf32>)
}
