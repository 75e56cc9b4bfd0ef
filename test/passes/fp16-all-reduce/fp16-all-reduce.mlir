// Gradients are cast right before their sums, and back before the first use of these: both become
// one bucket.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 fp16_allreduce=true})" | FileCheck %s
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=1 fp16_allreduce=true})" | FileCheck %s --check-prefix=ONE

// CHECK: dist.contracts = [{{.*}}sites = ["a@GRAD", "b@GRAD"]{{.*}}tag = "fp16_wire"
// CHECK: dist.role @trainer
// CHECK: %[[A:.*]] = pd.cast X(%{{.*}}) -> Out("a@GRAD.cast_fp16") {in_dtype = 5 : i32, op_role = 1 : i32, out_dtype = 4 : i32}
// CHECK: %[[B:.*]] = pd.cast X(%{{.*}}) -> Out("b@GRAD.cast_fp16")
// CHECK: %[[P:.*]] = dist.all_reduce sum(%[[A]], %[[B]]) on @grad0
// CHECK: %[[R:.*]]:2 = dist.wait %[[P]]
// CHECK: pd.cast X(%[[R]]#0) -> Out("a@GRAD.cast_fp16.cast_fp32") {in_dtype = 4 : i32, op_role = 2 : i32, out_dtype = 5 : i32}
// ONE-NOT: cast_fp16

pd.var @a : tensor<1xf32> {parameter}
pd.var @b : tensor<1xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %a = pd.get @a : tensor<1xf32>
  %b = pd.get @b : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %m = pd.mean X(%x) -> Out("m") : (tensor<?x1xf32>) -> tensor<1xf32>
  %c = pd.elementwise_add X(%a) Y(%b) -> Out("c") {axis = -1 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_mul X(%m) Y(%c) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %ga = pd.elementwise_mul X(%s) Y(%m) -> Out("a@GRAD") {op_role = 1 : i32, op_role_var = ["a", "a@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %gb = pd.elementwise_mul X(%m) Y(%s) -> Out("b@GRAD") {op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %ua = pd.sgd Grad(%ga) LearningRate(%lr) Param(%a) -> ParamOut("a") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @a, %ua : tensor<1xf32>
  %ub = pd.sgd Grad(%gb) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @b, %ub : tensor<1xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("a") {shape = array<i64: 1>, dtype = 5 : i32} : () -> tensor<1xf32>
  pd.set @a, %0 : tensor<1xf32>
  %1 = pd.uniform_random -> Out("b") {shape = array<i64: 1>, dtype = 5 : i32} : () -> tensor<1xf32>
  pd.set @b, %1 : tensor<1xf32>
  %2 = pd.fill_constant -> Out("lr") {shape = array<i64: 1>, dtype = 5 : i32, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @lr, %2 : tensor<1xf32>
}
