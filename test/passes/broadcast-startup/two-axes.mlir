// What was broadcast along one axis still differs along the other; constants differ along none. Variables are grouped by the axes that they need.
// RUN: dtranspile-opt %s --broadcast-startup="axes=a,b" | FileCheck %s
// RUN: dtranspile-opt %s --broadcast-startup="axes=a" --broadcast-startup="axes=b" --broadcast-startup="axes=a,b" | FileCheck %s --check-prefix=EACH

// CHECK: dist.broadcast(%{{.*}}) on @on_a from <a = 0>
// CHECK: %[[V:.*]] = pd.get @v
// CHECK-NEXT: dist.broadcast(%[[V]]) on @on_both from <a = 0 and b = 0>
// CHECK: %[[W:.*]] = pd.get @w
// CHECK-NEXT: dist.broadcast(%[[W]]) on @on_b from <b = 0>
// CHECK-NOT: dist.broadcast

// EACH: dist.broadcast(%{{.*}}) on @on_a from <a = 0>
// EACH: %[[V:.*]] = pd.get @v
// EACH-NEXT: dist.broadcast(%[[V]]) on @on_a from <a = 0>
// EACH: %[[V:.*]] = pd.get @v
// EACH-NEXT: %[[W:.*]] = pd.get @w
// EACH-NEXT: dist.broadcast(%[[V]], %[[W]]) on @on_b from <b = 0>
// EACH-NOT: dist.broadcast
dist.mesh @world [a = 2, b = 3]
dist.comm @on_a on @world over [a] group {carries = "gradients"}
dist.comm @on_b on @world over [b] group {carries = "gradients"}
dist.comm @on_both on @world over [a, b] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @v : tensor<2xf32> {dist.rel = #dist.rel<"v">}
  pd.var @w : tensor<2xf32> {dist.rel = #dist.rel<"w">}
  pd.var @c : tensor<2xf32> {dist.rel = #dist.rel<"c">}
  pd.program @main {}
  pd.program @startup {
    %v = pd.uniform_random -> Out("v") {shape = array<i64: 2>, dtype = 5 : i32} : () -> tensor<2xf32>
    pd.set @v, %v : tensor<2xf32>
    %drawn = pd.uniform_random -> Out("w") {shape = array<i64: 2>, dtype = 5 : i32, seed = 7 : i32} : () -> tensor<2xf32>
    %w = dist.broadcast(%drawn) on @on_a from <a = 0> : (tensor<2xf32>) -> tensor<2xf32>
    pd.set @w, %w : tensor<2xf32>
    %c = pd.fill_constant -> Out("c") {shape = array<i64: 2>, dtype = 5 : i32, value = 0.5 : f32} : () -> tensor<2xf32>
    pd.set @c, %c : tensor<2xf32>
    // A copy of what another variable holds by now.
    %held = pd.get @c : tensor<2xf32>
    pd.set @c, %held : tensor<2xf32>
  }
}
