// A rank's program of a pair of layers, a layer whose columns are put together, and one that takes
// whole rows apart: parts become wholes, no communication is left, variables say how they lie.
// RUN: dtranspile-opt %s --lift-parallel-ops="tensor_parallel_degree=2" | FileCheck %s
// What follows is made of the marks: the same parts, sums where the layers had them.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 tensor_parallel=true tensor_parallel_degree=2 input_parallel=mp fuse_all_reduce_ops=false})" 2>&1 | FileCheck %s --check-prefix=JOB

// CHECK: pd.var @b1 : tensor<8xf32> {held_in_parts = 0 : i64, parameter}
// CHECK: pd.var @b2 : tensor<3xf32> {parameter}
// CHECK: pd.var @w1 : tensor<6x8xf32> {held_in_parts = 1 : i64, parameter}
// CHECK: pd.var @w2 : tensor<8x3xf32> {held_in_parts = 0 : i64, parameter}
// CHECK: pd.program @main
// CHECK-NOT: c_identity
// CHECK-NOT: allreduce
// CHECK: pd.decl "h" tensor of float32 [-1, 8]
// CHECK: %[[X:.*]] = pd.input "x"
// CHECK: %[[H:.*]] = pd.matmul_v2 X(%[[X]]) Y({{.*}}) -> Out("h") {{.*}}-> tensor<?x8xf32>
// CHECK: pd.elementwise_add X(%[[H]]) {{.*}}-> tensor<?x8xf32>
// CHECK: %[[Y:.*]] = pd.matmul_v2 {{.*}} -> Out("y")
// CHECK: pd.elementwise_add X(%[[Y]]) {{.*}} -> Out("z")
// CHECK: pd.matmul_v2_grad {{.*}}-> "X@GRAD"("r@GRAD") "Y@GRAD"("w2@GRAD") {{.*}}-> (tensor<?x8xf32>, tensor<8x3xf32>)
// CHECK: pd.sgd {{.*}}-> tensor<6x8xf32>
// CHECK: pd.program @startup
// CHECK: pd.fill_constant -> Out("w1") {{.*}}shape = array<i64: 6, 8>{{.*}}-> tensor<6x8xf32>
// CHECK: pd.fill_constant -> Out("b2") {{.*}}shape = array<i64: 3>

// JOB: dist.mesh @world [dp = 2, mp = 2]
// JOB: module @source
// JOB: pd.var @w1 : tensor<6x8xf32> {parameter}
// JOB: dist.role @trainer
// JOB: pd.var @b1 : tensor<4xf32> {dist.rel = #dist.rel<"b1", mp: S(0)>, parameter}
// JOB: pd.var @w1 : tensor<6x4xf32> {dist.rel = #dist.rel<"w1", mp: S(1)>, parameter}
// JOB: pd.var @w2 : tensor<4x3xf32> {dist.rel = #dist.rel<"w2", mp: S(0)>, parameter}
// JOB: %[[T:.*]] = pd.matmul_v2 {{.*}} -> Out("y")
// JOB: %[[S:.*]] = dist.all_reduce sum(%[[T]]) on @mp
// JOB: pd.elementwise_add X(%[[S]])
module {
  pd.var @b1 : tensor<4xf32> {parameter}
  pd.var @b2 : tensor<3xf32> {parameter}
  pd.var @w1 : tensor<6x4xf32> {parameter}
  pd.var @w2 : tensor<4x3xf32> {parameter}
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    pd.decl "h" tensor of float32 [-1, 4]
    %x = pd.input "x" : tensor<?x6xf32>
    %i = pd.c_identity X(%x) -> Out("i") {ring_id = 3 : i32} : (tensor<?x6xf32>) -> tensor<?x6xf32>
    %w1 = pd.get @w1 : tensor<6x4xf32>
    %h = pd.matmul_v2 X(%i) Y(%w1) -> Out("h") : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
    %b1 = pd.get @b1 : tensor<4xf32>
    %a = pd.elementwise_add X(%h) Y(%b1) -> Out("a") : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
    %r = pd.relu X(%a) -> Out("r") : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %w2 = pd.get @w2 : tensor<4x3xf32>
    %y = pd.matmul_v2 X(%r) Y(%w2) -> Out("y") : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    %s = pd.mp_allreduce_sum X(%y) -> Out("s") {ring_id = 3 : i32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %b2 = pd.get @b2 : tensor<3xf32>
    %z = pd.elementwise_add X(%s) Y(%b2) -> Out("z") : (tensor<?x3xf32>, tensor<3xf32>) -> tensor<?x3xf32>
    %l = pd.mean X(%z) -> Out("l") {op_role = 256 : i32} : (tensor<?x3xf32>) -> tensor<1xf32>
    %gl = pd.fill_constant -> Out("l@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
    %gz = pd.mean_grad X(%z) "Out@GRAD"(%gl) -> "X@GRAD"("z@GRAD") {op_role = 1 : i32} : (tensor<?x3xf32>, tensor<1xf32>) -> tensor<?x3xf32>
    %gs:2 = pd.elementwise_add_grad X(%s) Y(%b2) "Out@GRAD"(%gz) -> "X@GRAD"("s@GRAD") "Y@GRAD"("b2@GRAD") {op_role = 1 : i32, op_role_var = ["b2", "b2@GRAD"]} : (tensor<?x3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>)
    %gy = pd.c_identity X(%gs#0) -> Out("y@GRAD") {op_role = 1 : i32, ring_id = 3 : i32} : (tensor<?x3xf32>) -> tensor<?x3xf32>
    %gr:2 = pd.matmul_v2_grad X(%r) Y(%w2) "Out@GRAD"(%gy) -> "X@GRAD"("r@GRAD") "Y@GRAD"("w2@GRAD") {op_role = 1 : i32, op_role_var = ["w2", "w2@GRAD"]} : (tensor<?x4xf32>, tensor<4x3xf32>, tensor<?x3xf32>) -> (tensor<?x4xf32>, tensor<4x3xf32>)
    %ga = pd.relu_grad Out(%r) "Out@GRAD"(%gr#0) -> "X@GRAD"("a@GRAD") {op_role = 1 : i32} : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
    %gh:2 = pd.elementwise_add_grad X(%h) Y(%b1) "Out@GRAD"(%ga) -> "X@GRAD"("h@GRAD") "Y@GRAD"("b1@GRAD") {op_role = 1 : i32, op_role_var = ["b1", "b1@GRAD"]} : (tensor<?x4xf32>, tensor<4xf32>, tensor<?x4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>)
    %gi:2 = pd.matmul_v2_grad X(%i) Y(%w1) "Out@GRAD"(%gh#0) -> "X@GRAD"("i@GRAD") "Y@GRAD"("w1@GRAD") {op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"]} : (tensor<?x6xf32>, tensor<6x4xf32>, tensor<?x4xf32>) -> (tensor<?x6xf32>, tensor<6x4xf32>)
    %gx = pd.c_allreduce_sum X(%gi#0) -> Out("x@GRAD") {op_role = 1 : i32, ring_id = 3 : i32, use_model_parallel = true} : (tensor<?x6xf32>) -> tensor<?x6xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %u1 = pd.sgd Param(%w1) LearningRate(%lr) Grad(%gi#1) -> ParamOut("w1") {op_role = 2 : i32} : (tensor<6x4xf32>, tensor<1xf32>, tensor<6x4xf32>) -> tensor<6x4xf32>
    pd.set @w1, %u1 : tensor<6x4xf32>
    %u2 = pd.sgd Param(%b1) LearningRate(%lr) Grad(%gh#1) -> ParamOut("b1") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    pd.set @b1, %u2 : tensor<4xf32>
    %u3 = pd.sgd Param(%w2) LearningRate(%lr) Grad(%gr#1) -> ParamOut("w2") {op_role = 2 : i32} : (tensor<4x3xf32>, tensor<1xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
    pd.set @w2, %u3 : tensor<4x3xf32>
    %u4 = pd.sgd Param(%b2) LearningRate(%lr) Grad(%gs#1) -> ParamOut("b2") {op_role = 2 : i32} : (tensor<3xf32>, tensor<1xf32>, tensor<3xf32>) -> tensor<3xf32>
    pd.set @b2, %u4 : tensor<3xf32>
  }
  pd.program @startup {
    %w1 = pd.fill_constant -> Out("w1") {dtype = 5 : i32, shape = array<i64: 6, 4>, value = 1.000000e+00 : f32} : () -> tensor<6x4xf32>
    pd.set @w1, %w1 : tensor<6x4xf32>
    %w2 = pd.fill_constant -> Out("w2") {dtype = 5 : i32, shape = array<i64: 4, 3>, value = 1.000000e+00 : f32} : () -> tensor<4x3xf32>
    pd.set @w2, %w2 : tensor<4x3xf32>
    %b1 = pd.fill_constant -> Out("b1") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.000000e+00 : f32} : () -> tensor<4xf32>
    pd.set @b1, %b1 : tensor<4xf32>
    %b2 = pd.fill_constant -> Out("b2") {dtype = 5 : i32, shape = array<i64: 3>, value = 0.000000e+00 : f32} : () -> tensor<3xf32>
    pd.set @b2, %b2 : tensor<3xf32>
    %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
    pd.set @lr, %lr : tensor<1xf32>
  }
}
