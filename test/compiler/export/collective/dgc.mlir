// Composites of dgc are written as their bodies: the framework's operators of these names exchange nothing, its graph executor did that.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8 sparsity=0.75" --specialize="composites=keep" --export-collective="rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s

// CHECK: pd.program @main
// CHECK-NOT: = dist.
// CHECK: %[[G:.*]] = pd.reduce_mean
// CHECK: pd.scale X(%{{.*}}) {{.*}}scale = 2.000000e+00
// CHECK: pd.top_k_v2
// CHECK: %[[AT:.*]] = pd.cast {{.*}}tensor<2xi32>
// CHECK: %[[VALUES:.*]] = pd.gather X(%{{.*}}) Index(%[[AT]])
// CHECK: pd.c_allgather X(%[[AT]])
// CHECK: pd.c_allgather X(%[[VALUES]])
// CHECK: pd.scatter
// CHECK: pd.set @w__dgc_v__
// CHECK: pd.sgd
// CHECK-NOT: = dist.
pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 2, 4>, dtype = 5 : i32} : () -> tensor<2x4xf32>
  pd.set @w, %0 : tensor<2x4xf32>
}
