// Family normalization: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: group_norm: 2 groups of 5 channels is not supported natively
pd.program @groups attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x5x3xf32>
  %y, %m, %v = pd.group_norm X(%x) -> Y("y") Mean("m") Variance("v") {epsilon = 1.0e-5 : f32, groups = 2 : i32} : (tensor<2x5x3xf32>) -> (tensor<2x5x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
}
