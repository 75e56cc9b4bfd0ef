// Pipelines as requests: which passes, with which options, and what is no request.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 pipeline=true accumulate_steps=4})" | FileCheck %s
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 pipeline=true stages=2 accumulate_steps=4 schedule_mode=F-then-B})" | FileCheck %s --check-prefix=REPLICAS
// As many ops for many replicas as for few.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 pipeline=true accumulate_steps=4})" | wc -l > %t.few
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=100000 pipeline=true accumulate_steps=4})" | wc -l | diff - %t.few
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=3 pipeline=true accumulate_steps=4})" 2>&1 | FileCheck %s --check-prefix=MULTIPLE
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 pipeline=true accumulate_steps=4 schedule_mode=ZB-H1})" | FileCheck %s --check-prefix=WEIGHTS
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=3 pipeline=true stages=2 virtual_stages=2 schedule_mode=ZB-H1})" 2>&1 | FileCheck %s --check-prefix=ERRORS
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 pipeline=true stages=2 virtual_stages=2 accumulate_steps=3})" 2>&1 | FileCheck %s --check-prefix=GROUPS
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 stages=2})" 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 pipeline=true stages=1})" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 pipeline=true stages=4 tensor_parallel=true tensor_parallel_degree=2})" 2>&1 | FileCheck %s --check-prefix=BOTH

// BOTH: error: trainers, stages and tensor_parallel_degree: every stage has as many ranks as its layers are split over; give --trainers a multiple of both together
// CHECK: dist.mesh @world [dp = 1, pp = 2] time [micro = 4]
// CHECK: schedule("1F1B", chunks 1)

// REPLICAS: dist.mesh @world [dp = 2, pp = 2] time [micro = 4]
// REPLICAS: schedule("F-then-B", chunks 1)
// Behind the loop each stage sums its gradient over the replicas, once.
// REPLICAS: dist.on <pp = 0>
// REPLICAS: dist.all_reduce sum({{.*}}) on @grad0
// REPLICAS: pd.sgd

// MULTIPLE: error: {{.*}}3 trainers are no multiple of the 2 stages that op_device names: every pipeline has all stages
// ERRORS: error: trainers and stages: pipelines of that many stages each make up all trainers
// ERRORS: schedule_mode ZB-H1 and virtual_stages: this schedule has one part of the model per stage
// WEIGHTS: schedule("ZB-H1", chunks 1)
// WEIGHTS: task W
// GROUPS: error: accumulate_steps and virtual_stages: interleaved parts take micro-batches in groups as large as the pipeline
// OFF: error: stages, virtual_stages and pipeline: stages exist in a pipeline only; add --pipeline
// ONE: error: pipeline and stages: one stage is no pipeline
pd.var @w0 : tensor<2x3xf32> {parameter}
pd.var @w1 : tensor<3x1xf32> {parameter}
pd.var @rate : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w0 = pd.get @w0 : tensor<2x3xf32>
  %w1 = pd.get @w1 : tensor<3x1xf32>
  %h = pd.mul X(%x) Y(%w0) -> Out("h") {op_device = "gpu:0", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<?x3xf32>
  %y = pd.mul X(%h) Y(%w1) -> Out("y") {op_device = "gpu:1", x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x3xf32>, tensor<3x1xf32>) -> tensor<?x1xf32>
  %loss = pd.mean X(%y) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %seed = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %gy = pd.mean_grad "Out@GRAD"(%seed) X(%y) -> "X@GRAD"("y@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %g1:2 = pd.mul_grad "Out@GRAD"(%gy) X(%h) Y(%w1) -> "X@GRAD"("h@GRAD") "Y@GRAD"("w1@GRAD") {op_device = "gpu:1", op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x1xf32>, tensor<?x3xf32>, tensor<3x1xf32>) -> (tensor<?x3xf32>, tensor<3x1xf32>)
  %g0 = pd.mul_grad "Out@GRAD"(%g1#0) X(%x) Y(%w0) -> "X@GRAD"() "Y@GRAD"("w0@GRAD") {op_device = "gpu:0", op_role = 1 : i32, op_role_var = ["w0", "w0@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x3xf32>, tensor<?x2xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %rate = pd.get @rate : tensor<1xf32>
  %u0 = pd.sgd Grad(%g0) LearningRate(%rate) Param(%w0) -> ParamOut("w0") {op_role = 2 : i32, op_role_var = ["w0", "w0@GRAD"]} : (tensor<2x3xf32>, tensor<1xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  pd.set @w0, %u0 : tensor<2x3xf32>
  %u1 = pd.sgd Grad(%g1#1) LearningRate(%rate) Param(%w1) -> ParamOut("w1") {op_role = 2 : i32, op_role_var = ["w1", "w1@GRAD"]} : (tensor<3x1xf32>, tensor<1xf32>, tensor<3x1xf32>) -> tensor<3x1xf32>
  pd.set @w1, %u1 : tensor<3x1xf32>
}
pd.program @startup {
  %0 = pd.fill_constant -> Out("w0") {dtype = 5 : i32, shape = array<i64: 2, 3>, value = 1.000000e+00 : f32} : () -> tensor<2x3xf32>
  pd.set @w0, %0 : tensor<2x3xf32>
  %1 = pd.fill_constant -> Out("w1") {dtype = 5 : i32, shape = array<i64: 3, 1>, value = 1.000000e+00 : f32} : () -> tensor<3x1xf32>
  pd.set @w1, %1 : tensor<3x1xf32>
  %2 = pd.fill_constant -> Out("rate") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
  pd.set @rate, %2 : tensor<1xf32>
}
