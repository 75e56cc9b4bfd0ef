// Parts beside other axes. In a pipeline sums are taken apart before stages are made: micro-batches are added up, then the sum is cut over the replicas of the stage (stage 1), or
// the other way round (stage 2); what is updated is put together on its stage. What is split by rows or columns is cut flat once more: the relation says both, dims first.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=8 sharding=true sharding_degree=2 pipeline=true accumulate_steps=4})" 2>&1 | FileCheck %s --check-prefix=ONE
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true sharding_stage=2 pipeline=true accumulate_steps=4})" 2>&1 | FileCheck %s --check-prefix=TWO
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 sharding=true tensor_parallel=true tensor_parallel_degree=2})" 2>&1 | FileCheck %s --check-prefix=SPLIT

// ONE: dist.mesh @world [dp = 2, pp = 2, sharding = 2] time [micro = 4]
// ONE: dist.comm @shards0 on @world over [sharding] group {carries = "shards"}
// ONE: dist.comm @replicas0 on @world over [dp] group {carries = "gradients between"}
// ONE: pd.var @w1 : tensor<8x16xf32> {dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"w1", pp: R at pp = 0>, parameter}
// ONE: pd.var @v1 : tensor<64xf32> {dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"v1", pp: R at pp = 0, sharding: S(flat, even(128))>}
// ONE: dist.micro over [micro]
// ONE-NOT: reduce_scatter
// ONE: dist.yield {{.*}}!dist.at<tensor<4x1xf32>, pp = 1>
// Behind the loop, on the stage: parts of the sum over the micro-batches, then over the replicas beside it; norms over the stages, and over the parts.
// ONE: %[[P:.*]] = dist.reduce_scatter sum({{.*}}) on @shards0 dim flat : (tensor<8x16xf32>) -> tensor<64xf32>
// ONE: %[[G:.*]] = dist.all_reduce sum(%[[P]]) on @replicas0 : (tensor<64xf32>) -> tensor<64xf32>
// ONE: pd.squared_l2_norm X(%[[G]])
// ONE: dist.slice {{.*}} dim flat layout <even(128)> over [sharding] : tensor<8x16xf32> -> tensor<64xf32>
// ONE: %[[N:.*]] = dist.all_reduce sum({{.*}}) on @stages : (tensor<1xf32>) -> tensor<1xf32>
// ONE: dist.all_reduce sum(%[[N]]) on @shards0 : (tensor<1xf32>) -> tensor<1xf32>
// ONE: %[[U:.*]]:2 = pd.momentum {{.*}} : (tensor<64xf32>, tensor<1xf32>, tensor<64xf32>, tensor<64xf32>)
// ONE: dist.all_gather(%[[U]]#0) on @shards0 dim flat : (tensor<64xf32>) -> tensor<8x16xf32>
// ONE: pd.program @startup
// ONE: dist.slice {{.*}} over [sharding] : tensor<8x16xf32> -> tensor<64xf32>
// ONE: dist.broadcast({{.*}}) on @grad0 from <dp = 0 and sharding = 0>

// TWO: dist.mesh @world [pp = 2, sharding = 2] time [micro = 4]
// TWO-NOT: carries = "gradients between"
// TWO: dist.micro over [micro]
// TWO: task B
// TWO: %[[P:.*]] = dist.reduce_scatter sum({{.*}}) on @shards0 dim flat : (tensor<8x16xf32>) -> tensor<64xf32>
// TWO: pd.sum X(%{{.*}}, %[[P]]) -> Out({{.*}}) {{.*}} -> tensor<64xf32>

// SPLIT: dist.mesh @world [sharding = 2, mp = 2]
// SPLIT: pd.var @w1 : tensor<8x8xf32> {dist.rel = #dist.rel<"w1", mp: S(1)>, parameter}
// SPLIT: pd.var @v1 : tensor<32xf32> {dist.rel = #dist.rel<"v1", sharding: S(flat, even(64)), mp: S(1)>}
// SPLIT: dist.reduce_scatter sum({{.*}}) on @grad0 dim flat : ({{.*}}tensor<8x8xf32>{{.*}}) -> !dist.pending<{{.*}}tensor<32xf32>

pd.var @w1 : tensor<8x16xf32> {parameter}
pd.var @w2 : tensor<16x4xf32> {parameter}
pd.var @w3 : tensor<4x1xf32> {parameter}
pd.var @v1 : tensor<8x16xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x8xf32>
  %w1 = pd.get @w1 : tensor<8x16xf32>
  %w2 = pd.get @w2 : tensor<16x4xf32>
  %w3 = pd.get @w3 : tensor<4x1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.matmul_v2 X(%x) Y(%w1) -> Out("h") {op_device = "gpu:0"} : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
  %r = pd.relu X(%h) -> Out("r") {op_device = "gpu:0"} : (tensor<?x16xf32>) -> tensor<?x16xf32>
  %y = pd.matmul_v2 X(%r) Y(%w2) -> Out("y") {op_device = "gpu:0"} : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
  %z = pd.tanh X(%y) -> Out("z") {op_device = "gpu:0"} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %o = pd.matmul_v2 X(%z) Y(%w3) -> Out("o") {op_device = "gpu:1"} : (tensor<?x4xf32>, tensor<4x1xf32>) -> tensor<?x1xf32>
  %loss = pd.mean X(%o) -> Out("loss") {op_device = "gpu:1", op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %one = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, op_device = "gpu:1", op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
  %do = pd.mean_grad "Out@GRAD"(%one) X(%o) -> "X@GRAD"("o@GRAD") {op_device = "gpu:1", op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
  %m3:2 = pd.matmul_v2_grad "Out@GRAD"(%do) X(%z) Y(%w3) -> "X@GRAD"("z@GRAD") "Y@GRAD"("w3@GRAD") {op_device = "gpu:1", op_role = 1 : i32, op_role_var = ["w3", "w3@GRAD"]} : (tensor<?x1xf32>, tensor<?x4xf32>, tensor<4x1xf32>) -> (tensor<?x4xf32>, tensor<4x1xf32>)
  %dy = pd.tanh_grad Out(%z) "Out@GRAD"(%m3#0) -> "X@GRAD"("y@GRAD") {op_device = "gpu:0", op_role = 1 : i32} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %m2:2 = pd.matmul_v2_grad "Out@GRAD"(%dy) X(%r) Y(%w2) -> "X@GRAD"("r@GRAD") "Y@GRAD"("w2@GRAD") {op_device = "gpu:0", op_role = 1 : i32, op_role_var = ["w2", "w2@GRAD"]} : (tensor<?x4xf32>, tensor<?x16xf32>, tensor<16x4xf32>) -> (tensor<?x16xf32>, tensor<16x4xf32>)
  %dr = pd.relu_grad Out(%r) "Out@GRAD"(%m2#0) -> "X@GRAD"("h@GRAD") {op_device = "gpu:0", op_role = 1 : i32} : (tensor<?x16xf32>, tensor<?x16xf32>) -> tensor<?x16xf32>
  %m1 = pd.matmul_v2_grad "Out@GRAD"(%dr) X(%x) Y(%w1) -> "X@GRAD"() "Y@GRAD"("w1@GRAD") {op_device = "gpu:0", op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"]} : (tensor<?x16xf32>, tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
  %n1 = pd.squared_l2_norm X(%m1) -> Out("n1") {op_role = 2 : i32} : (tensor<8x16xf32>) -> tensor<1xf32>
  %n2 = pd.squared_l2_norm X(%m2#1) -> Out("n2") {op_role = 2 : i32} : (tensor<16x4xf32>) -> tensor<1xf32>
  %n3 = pd.squared_l2_norm X(%m3#1) -> Out("n3") {op_role = 2 : i32} : (tensor<4x1xf32>) -> tensor<1xf32>
  %n = pd.sum X(%n1, %n2, %n3) -> Out("n") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %root = pd.sqrt X(%n) -> Out("root") {op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %c1 = pd.elementwise_mul X(%m1) Y(%root) -> Out("c1") {axis = -1 : i32, op_role = 2 : i32} : (tensor<8x16xf32>, tensor<1xf32>) -> tensor<8x16xf32>
  %v1 = pd.get @v1 : tensor<8x16xf32>
  %u1, %nv1 = pd.momentum Grad(%c1) LearningRate(%lr) Param(%w1) Velocity(%v1) -> ParamOut("w1") VelocityOut("v1") {mu = 9.000000e-01 : f32, op_role = 2 : i32} : (tensor<8x16xf32>, tensor<1xf32>, tensor<8x16xf32>, tensor<8x16xf32>) -> (tensor<8x16xf32>, tensor<8x16xf32>)
  pd.set @v1, %nv1 : tensor<8x16xf32>
  pd.set @w1, %u1 : tensor<8x16xf32>
  %c2 = pd.elementwise_mul X(%m2#1) Y(%root) -> Out("c2") {axis = -1 : i32, op_role = 2 : i32} : (tensor<16x4xf32>, tensor<1xf32>) -> tensor<16x4xf32>
  %u2 = pd.sgd Grad(%c2) LearningRate(%lr) Param(%w2) -> ParamOut("w2") {op_role = 2 : i32} : (tensor<16x4xf32>, tensor<1xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
  pd.set @w2, %u2 : tensor<16x4xf32>
  %c3 = pd.elementwise_mul X(%m3#1) Y(%root) -> Out("c3") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4x1xf32>, tensor<1xf32>) -> tensor<4x1xf32>
  %u3 = pd.sgd Grad(%c3) LearningRate(%lr) Param(%w3) -> ParamOut("w3") {op_role = 2 : i32} : (tensor<4x1xf32>, tensor<1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  pd.set @w3, %u3 : tensor<4x1xf32>
}
pd.program @startup {
  %w1 = pd.uniform_random -> Out("w1") {dtype = 5 : i32, shape = array<i64: 8, 16>} : () -> tensor<8x16xf32>
  pd.set @w1, %w1 : tensor<8x16xf32>
  %w2 = pd.uniform_random -> Out("w2") {dtype = 5 : i32, shape = array<i64: 16, 4>} : () -> tensor<16x4xf32>
  pd.set @w2, %w2 : tensor<16x4xf32>
  %w3 = pd.uniform_random -> Out("w3") {dtype = 5 : i32, shape = array<i64: 4, 1>} : () -> tensor<4x1xf32>
  pd.set @w3, %w3 : tensor<4x1xf32>
  %v1 = pd.fill_constant -> Out("v1") {dtype = 5 : i32, shape = array<i64: 8, 16>, value = 0.000000e+00 : f32} : () -> tensor<8x16xf32>
  pd.set @v1, %v1 : tensor<8x16xf32>
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
}
