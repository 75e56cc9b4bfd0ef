// A gradient that the backward part clips has to have the size that it has on one device: seeds are
// divided by the number of trainers, and servers add up.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2" --ps-split="axes=dp servers=2" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:1 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2" --ps-split="axes=dp servers=2" | FileCheck %s --check-prefix=ONE

// CHECK-LABEL: dist.role @trainer
// CHECK: %[[SEED:.*]] = pd.fill_constant -> Out("loss@GRAD")
// CHECK-NEXT: %[[OWN:.*]] = pd.scale X(%[[SEED]]) -> Out("loss@GRAD") {{.*}}scale = 5.000000e-01 : f32
// CHECK: pd.mean_grad "Out@GRAD"(%[[OWN]])
// CHECK: pd.clip
// CHECK: dist.push %{{.*}} to @pserver::@w merge sum on @rounds

// ONE-LABEL: dist.role @trainer
// ONE-NOT: pd.scale
// ONE: dist.push %{{.*}} to @pserver::@w merge mean on @rounds

pd.var @w : tensor<10x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x10xf32>
  %w = pd.get @w : tensor<10x4xf32>
  %y = pd.mul X(%x) Y(%w) -> Out("y") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<?x4xf32>
  %l = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %gy = pd.mean_grad "Out@GRAD"(%s) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %c = pd.clip X(%gy) -> Out("y@GRAD@CLIP") {max = 0.01 : f32, min = -0.01 : f32, op_role = 1 : i32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %gw = pd.mul_grad "Out@GRAD"(%c) X(%x) Y(%w) -> "X@GRAD"() "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x4xf32>, tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %w1 = pd.sgd Grad(%gw) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<10x4xf32>, tensor<1xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  pd.set @w, %w1 : tensor<10x4xf32>
}
