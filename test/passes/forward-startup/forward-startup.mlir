// What start-up has set is not read back: a value that is set twice is set once, what a branch
// reads stays set, and what it sets is read. The saved program stays as it is.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --forward-startup | FileCheck %s

// CHECK: module @source
// CHECK: %[[R:.*]] = pd.get @w
// CHECK-NEXT: pd.scale X(%[[R]])
// CHECK: dist.role
// CHECK: %[[W:.*]] = pd.fill_constant -> Out("w")
// CHECK-NEXT: %[[M:.*]] = pd.scale X(%[[W]])
// CHECK-NEXT: %[[P:.*]] = pd.elementwise_mul X(%[[W]]) Y(%[[M]])
// CHECK-NEXT: pd.set @w, %[[P]]
// CHECK-NEXT: pd.set @b, %[[W]]
// CHECK-NEXT: pd.set @v, %[[W]]
// CHECK: pd.conditional_block
// CHECK-NEXT: pd.get @b
// CHECK: pd.set @b, %[[M]]
// CHECK-NEXT: %[[V:.*]] = pd.get @v
// CHECK-NEXT: pd.set @m, %[[V]]
// CHECK: pd.program @main
// CHECK-NEXT: pd.get @w

pd.var @w : tensor<4xf32> {parameter}
pd.var @m : tensor<4xf32>
pd.var @b : tensor<4xf32>
pd.var @v : tensor<4xf32>
pd.program @startup {
  %0 = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 4>, value = 1.0 : f32} : () -> tensor<4xf32>
  pd.set @w, %0 : tensor<4xf32>
  %1 = pd.get @w : tensor<4xf32>
  %2 = pd.scale X(%1) -> Out("m") {scale = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  pd.set @m, %2 : tensor<4xf32>
  %3 = pd.get @m : tensor<4xf32>
  %4 = pd.elementwise_mul X(%1) Y(%3) -> Out("w") {axis = -1 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %4 : tensor<4xf32>
  pd.set @b, %0 : tensor<4xf32>
  pd.set @v, %0 : tensor<4xf32>
  %c = pd.fill_constant -> Out("c") {dtype = 0 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi1>
  %t = pd.conditional_block Cond(%c) -> Scope("tape") {sub_block = #pd.block<1>, is_scalar_condition = true} blocks [{idx = 1 : i32}] {
    %5 = pd.get @b : tensor<4xf32>
    pd.set @v, %5 : tensor<4xf32>
    pd.yield
  } : (tensor<1xi1>) -> !pd.tape
  pd.set @b, %3 : tensor<4xf32>
  %6 = pd.get @v : tensor<4xf32>
  pd.set @m, %6 : tensor<4xf32>
}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %g = pd.scale X(%w) -> Out("g") {scale = 2.0 : f32} : (tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %g : tensor<4xf32>
}
