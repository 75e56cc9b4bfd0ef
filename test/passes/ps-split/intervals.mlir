// Servers that apply every push by itself, and a rate by intervals: branches set it inside. They
// stand where steps are counted, and so does an op of which nothing is made.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2 serve=async" | FileCheck %s

// CHECK-LABEL: dist.role @trainer
// CHECK: dist.push {{.*}} to @pserver::@step merge each
// CHECK-NOT: conditional_block

// CHECK-LABEL: dist.role @pserver on @pservers
// CHECK: dist.handle push @step
// CHECK-NEXT: pd.get @step
// CHECK-NEXT: [[NEXT:%[0-9]+]] = pd.increment
// CHECK-NEXT: pd.set @step, [[NEXT]]
// CHECK: [[EARLY:%[0-9]+]] = pd.less_than X([[NEXT]])
// CHECK-NEXT: pd.logical_not X([[EARLY]]) -> Out("late")
// CHECK: pd.conditional_block {{.*}} Cond([[EARLY]])
// CHECK: pd.set @lr
// CHECK: dist.yield
// CHECK-NEXT: }
// CHECK-NEXT: dist.handle push @w
// CHECK-NEXT: [[RATE:%[0-9]+]] = pd.get @lr
// CHECK-NOT: conditional_block
// CHECK: pd.sgd {{.*}} LearningRate([[RATE]])

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.var @step : tensor<1xi64>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %old = pd.get @step : tensor<1xi64>
  %step = pd.increment X(%old) -> Out("step") {op_role = 16 : i32, step = 1.0 : f32} : (tensor<1xi64>) -> tensor<1xi64>
  pd.set @step, %step : tensor<1xi64>
  %end = pd.fill_constant -> Out("end") {dtype = 3 : i32, op_role = 16 : i32, shape = array<i64: 1>, value = 3.0 : f32} : () -> tensor<1xi64>
  %early = pd.less_than X(%step) Y(%end) -> Out("early") {op_role = 16 : i32} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
  %late = pd.logical_not X(%early) -> Out("late") {op_role = 16 : i32} : (tensor<1xi1>) -> tensor<1xi1>
  %high = pd.fill_constant -> Out("high") {dtype = 5 : i32, op_role = 16 : i32, shape = array<i64: 1>, value = 0.1 : f32} : () -> tensor<1xf32>
  %out:2 = pd.conditional_block "$capture"(%high) Cond(%early) Input(%high) -> Out("lr") Scope("scope") {is_scalar_condition = true, op_role = 16 : i32, sub_block = #pd.block<1>} blocks [{captures = ["high"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%c: tensor<1xf32>):
    %rate = pd.assign X(%c) -> Out("lr") {op_role = 16 : i32} : (tensor<1xf32>) -> tensor<1xf32>
    pd.set @lr, %rate : tensor<1xf32>
    pd.yield
  } : (tensor<1xf32>, tensor<1xi1>, tensor<1xf32>) -> (tensor<1xf32>, !pd.tape)
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}
