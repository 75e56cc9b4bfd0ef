// Layers that are split lie in the tasks of their stages: the sum of a pair of products in the task that makes its terms, once per micro-batch; norms of gradients on their
// stages, each number by itself; start-up draws, spreads over the parts and cuts where the variable is.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=8 tensor_parallel=true tensor_parallel_degree=2 pipeline=true accumulate_steps=4 fuse_all_reduce_ops=false})" 2>&1 | FileCheck %s

// CHECK: dist.mesh @world [dp = 2, pp = 2, mp = 2] time [micro = 4]
// CHECK: dist.comm @mp on @world over [mp] group {carries = "layers"}
// CHECK: pd.var @w1 : tensor<8x8xf32> {dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"w1", pp: R at pp = 0, mp: S(1)>, parameter}
// CHECK: pd.var @w2 : tensor<8x4xf32> {dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"w2", pp: R at pp = 0, mp: S(0)>, parameter}
// CHECK: pd.var @w3 : tensor<4x1xf32> {dist.at = #dist.sel<pp = 1>, dist.rel = #dist.rel<"w3", pp: R at pp = 1>, parameter}
// CHECK: pd.program @main
// CHECK: dist.micro over [micro]
// CHECK: dist.on <pp = 0>{{.*}} task F
// CHECK: %[[Y:.*]] = pd.matmul_v2 {{.*}} -> Out("y")
// CHECK: %[[S:.*]] = dist.all_reduce sum(%[[Y]]) on @mp
// CHECK: %[[Z:.*]] = pd.tanh X(%[[S]])
// CHECK: dist.yield {{.*}}%[[Z]]
// CHECK: dist.on <pp = 1>{{.*}} task F
// CHECK-NOT: on @mp
// Behind the loop: the square of the gradient of a part is summed over the parts on its stage, then over the stages.
// CHECK: %[[G:.*]] = dist.all_reduce sum({{.*}}) on @grad0 : (tensor<8x8xf32>)
// CHECK: %[[N:.*]] = pd.squared_l2_norm X(%[[G]])
// CHECK: dist.all_reduce sum(%[[N]]) on @mp : (tensor<1xf32>) -> tensor<1xf32>
// CHECK: dist.all_reduce sum({{.*}}) on @stages : (tensor<1xf32>) -> tensor<1xf32>
// CHECK: pd.program @startup
// CHECK: dist.on <pp = 0>
// CHECK: dist.broadcast({{.*}}) on @mp from <mp = 0>
// CHECK: dist.slice {{.*}} over [mp] : tensor<8x16xf32> -> tensor<8x8xf32>

pd.var @w1 : tensor<8x16xf32> {parameter}
pd.var @w2 : tensor<16x4xf32> {parameter}
pd.var @w3 : tensor<4x1xf32> {parameter}
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
  %u1 = pd.sgd Grad(%c1) LearningRate(%lr) Param(%w1) -> ParamOut("w1") {op_role = 2 : i32} : (tensor<8x16xf32>, tensor<1xf32>, tensor<8x16xf32>) -> tensor<8x16xf32>
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
  %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
  pd.set @lr, %lr : tensor<1xf32>
}
