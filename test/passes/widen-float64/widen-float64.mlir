// Types of values, variables and declarations, and attributes that hold the code of a type: 5 is float32, 6 float64. Others stay.
// RUN: dtranspile-opt %s --widen-float64 | FileCheck %s

// CHECK: pd.var @w : tensor<4x2xf64>
pd.var @w : tensor<4x2xf32>
// CHECK: pd.var @n : tensor<1xi64>
pd.var @n : tensor<1xi64>
pd.program @main {
  // CHECK: pd.decl "x" tensor of float64 [-1, 4]
  pd.decl "x" tensor of float32 [-1, 4]
  // CHECK: %[[X:.*]] = pd.input "x" : !pd.lod<tensor<?x4xf64>, 1>
  %x = pd.input "x" : !pd.lod<tensor<?x4xf32>, 1>
  // CHECK: %[[W:.*]] = pd.get @w : tensor<4x2xf64>
  %w = pd.get @w : tensor<4x2xf32>
  // CHECK: pd.mul X(%[[X]]) Y(%[[W]]) {{.*}} -> !pd.lod<tensor<?x2xf64>, 1>
  %y = pd.mul X(%x) Y(%w) -> Out("y") : (!pd.lod<tensor<?x4xf32>, 1>, tensor<4x2xf32>) -> !pd.lod<tensor<?x2xf32>, 1>
  // CHECK: pd.fill_constant {{.*}} {dtype = 6 : i32{{.*}} value = 5.000000e-01 : f32{{.*}} -> tensor<1xf64>
  %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.5 : f32} : () -> tensor<1xf32>
  // CHECK: pd.cast {{.*}} {in_dtype = 6 : i32, out_dtype = 3 : i32} : (tensor<1xf64>) -> tensor<1xi64>
  %i = pd.cast X(%c) -> Out("i") {in_dtype = 5 : i32, out_dtype = 3 : i32} : (tensor<1xf32>) -> tensor<1xi64>
  // A factor is the fraction that it was written for, others keep their float32.
  // CHECK: pd.scale X(%[[W]]) {{.*}}scale = 0.33333333333333331 : f64
  %s = pd.scale X(%w) -> Out("s") {scale = 0.333333343 : f32} : (tensor<4x2xf32>) -> tensor<4x2xf32>
  // CHECK: pd.scale X(%[[W]]) {{.*}}scale = 0.899999976 : f32
  %n = pd.scale X(%w) -> Out("n") {scale = 0.9 : f32} : (tensor<4x2xf32>) -> tensor<4x2xf32>
}
