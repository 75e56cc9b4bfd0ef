// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --broadcast-startup="axes=dp" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=inter:2,intra:2 comm-axes=inter,intra use_hierarchical_allreduce=true" --cut-batch="axes=inter,intra" --broadcast-startup="axes=inter,intra megabytes=0" | FileCheck %s --check-prefix=LEVELS

// Random values, parameter or not, and what is computed from them, come from rank 0; constants are equal already, and a flat variable is held by its
// parts.
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.program @startup
// CHECK: pd.set @c
// CHECK: %[[W:.*]] = pd.get @w
// CHECK-NEXT: %[[S:.*]] = pd.get @state
// CHECK-NEXT: %[[R:.*]]:2 = dist.broadcast(%[[W]], %[[S]]) on @grad0 from <dp = 0> : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
// CHECK-NEXT: pd.set @w, %[[R]]#0
// CHECK-NEXT: pd.set @state, %[[R]]#1
// CHECK-NOT: dist.broadcast
// LEVELS: dist.broadcast(%{{[0-9]+}}) on @grad0 from <inter = 0 and intra = 0>
// LEVELS: dist.broadcast(%{{[0-9]+}}) on @grad0 from <inter = 0 and intra = 0>
pd.var @w : tensor<2xf32> {parameter}
pd.var @state : tensor<2xf32>
pd.var @c : tensor<2xf32>
pd.var @flat : tensor<4xf32> {pd.parts = [@w, @state]}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2>, dtype = 5 : i32} : () -> tensor<2xf32>
  pd.set @w, %0 : tensor<2xf32>
  %1 = pd.scale X(%0) -> Out("state") {scale = 2.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  pd.set @state, %1 : tensor<2xf32>
  %2 = pd.fill_constant -> Out("c") {shape = array<i64: 2>, dtype = 5 : i32, value = 0.5 : f32} : () -> tensor<2xf32>
  pd.set @c, %2 : tensor<2xf32>
  %3 = pd.uniform_random -> Out("flat") {shape = array<i64: 4>, dtype = 5 : i32} : () -> tensor<4xf32>
  pd.set @flat, %3 : tensor<4xf32>
}
