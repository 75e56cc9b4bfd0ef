// Family normalization: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: group_norm: 2 groups of 5 channels is not supported natively
pd.program @groups attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x5x3xf32>
  %y, %m, %v = pd.group_norm X(%x) -> Y("y") Mean("m") Variance("v") {epsilon = 1.0e-5 : f32, groups = 2 : i32} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
}

// CHECK: error: instance_norm_double_grad: an x without channels is not supported natively
pd.program @flat attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %m = pd.input "m" : tensor<4xf32>
  %g = pd.instance_norm_double_grad x(%x) saved_mean(%m) saved_variance(%m) grad_y(%x) "grad_x@GRAD"(%x) -> "x@GRAD"("r") : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}

// CHECK: error: instance_norm_double_grad: a scale or bias of another extent than the channels is not supported natively
pd.program @scale attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x4x3xf32>
  %w = pd.input "w" : tensor<5xf32>
  %m = pd.input "m" : tensor<8xf32>
  %g = pd.instance_norm_double_grad x(%x) fwd_scale(%w) saved_mean(%m) saved_variance(%m) grad_y(%x) "grad_x@GRAD"(%x) -> "x@GRAD"("r") : (tensor<2x4x3xf32>, tensor<5xf32>, tensor<8xf32>, tensor<8xf32>, tensor<2x4x3xf32>, tensor<2x4x3xf32>) -> tensor<2x4x3xf32>
}
