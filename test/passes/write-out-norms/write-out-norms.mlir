// Norms inside of updates become values of their own where servers would cut the parameter; moments
// are set in front of the norm and read behind it; what a gradient is made of is made again.
// RUN: dtranspile-opt %s --split-input-file --write-out-norms="servers=2 min_block_size=8" | FileCheck %s
// RUN: dtranspile-opt %s --split-input-file --write-out-norms="servers=2 min_block_size=8192" | FileCheck %s --check-prefix=WHOLE
// RUN: dtranspile-opt %s --split-input-file --write-out-norms="servers=2 min_block_size=8 slice_var_up=false" | FileCheck %s --check-prefix=WHOLE

// WHOLE-NOT: @source
// WHOLE: pd.lamb
// WHOLE: pd.lars_momentum
// WHOLE: pd.lamb

// Of 1.x: no powers. The clip's factor is one of its norm, and is used behind the norms of lamb too.
// CHECK: dist.changes = [{pass = "write-out-norms", values = ["c", "w"]}]
// CHECK: module @source
// CHECK: pd.clip_by_norm
// CHECK: pd.lamb
// CHECK: pd.program @main
// CHECK: %[[W:.*]] = pd.get @w
// CHECK: %[[MOST:.*]] = pd.fill_constant {{.*}}value = 5.000000e-01
// CHECK: %[[S:.*]] = pd.squared_l2_norm X(%[[G:.*]]) -> Out
// CHECK: %[[N:.*]] = pd.sqrt X(%[[S]])
// CHECK: %[[M:.*]] = pd.elementwise_max X(%[[N]]) Y(%[[MOST]])
// CHECK: %[[F:.*]] = pd.elementwise_div X(%[[MOST]]) Y(%[[M]])
// CHECK: %[[C:.*]] = pd.elementwise_mul X(%[[G]]) Y(%[[F]]) -> Out("c")
// CHECK: %[[M1:.*]] = pd.elementwise_add
// CHECK: pd.square X(%[[C]])
// CHECK: %[[M2:.*]] = pd.elementwise_add
// CHECK: pd.set @m1, %[[M1]]
// CHECK: %[[THEN1:.*]] = pd.get @m1
// CHECK: pd.set @m2, %[[M2]]
// CHECK: %[[THEN2:.*]] = pd.get @m2
// CHECK: pd.sqrt X(%[[M2]])
// CHECK: pd.squared_l2_norm X(%[[W]])
// CHECK: %[[R:.*]] = pd.elementwise_add
// CHECK: pd.sign
// CHECK: pd.sqrt X(%[[THEN2]])
// CHECK: pd.elementwise_div X(%[[THEN1]])
// CHECK: %[[STEP:.*]] = pd.elementwise_mul
// CHECK: %[[NEW:.*]] = pd.sgd Grad(%[[STEP]]) LearningRate(%{{.*}}) Param(%[[W]]) -> ParamOut("w")
// CHECK-NOT: pd.lamb
// CHECK: pd.set @w, %[[NEW]]

pd.var @w : tensor<10x4xf32> {parameter}
pd.var @m1 : tensor<10x4xf32>
pd.var @m2 : tensor<10x4xf32>
pd.var @p : tensor<1xf32>
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 1008005 : i64} {
  %w = pd.get @w : tensor<10x4xf32>
  %m1 = pd.get @m1 : tensor<10x4xf32>
  %m2 = pd.get @m2 : tensor<10x4xf32>
  %p = pd.get @p : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("w@GRAD") {scale = 2.0 : f32, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<10x4xf32>) -> tensor<10x4xf32>
  %c = pd.clip_by_norm X(%g) -> Out("c") {max_norm = 0.5 : f32, op_role = 2 : i32} : (tensor<10x4xf32>) -> tensor<10x4xf32>
  %n:3 = pd.lamb Beta1Pow(%p) Beta2Pow(%p) Grad(%c) LearningRate(%lr) Moment1(%m1) Moment2(%m2) Param(%w) -> Moment1Out("m1") Moment2Out("m2") ParamOut("w") {weight_decay = 0.01 : f32, op_role = 2 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> (tensor<10x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>)
  pd.set @m1, %n#0 : tensor<10x4xf32>
  pd.set @m2, %n#1 : tensor<10x4xf32>
  pd.set @w, %n#2 : tensor<10x4xf32>
}

// -----

// A decay in front of lars is added once more behind the norm.
// CHECK: dist.changes = [{pass = "write-out-norms", values = ["w"]}]
// CHECK: pd.program @main
// CHECK: %[[G:.*]] = pd.scale {{.*}} -> Out("w@GRAD")
// CHECK: %[[D:.*]] = pd.elementwise_add X(%[[G]])
// CHECK: pd.squared_l2_norm X(%[[D]])
// CHECK: %[[AGAIN:.*]] = pd.elementwise_add X(%[[G]])
// CHECK: pd.elementwise_add X(%[[AGAIN]])
// CHECK: %[[ONE:.*]] = pd.fill_constant
// CHECK: pd.momentum {{.*}}LearningRate(%[[ONE]]){{.*}} -> ParamOut("w") VelocityOut("v") {mu = 0.899999976 : f32
// CHECK-NOT: pd.lars_momentum

pd.var @w : tensor<10x4xf32> {parameter}
pd.var @v : tensor<10x4xf32>
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 2006002 : i64} {
  %w = pd.get @w : tensor<10x4xf32>
  %v = pd.get @v : tensor<10x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("w@GRAD") {scale = 2.0 : f32, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<10x4xf32>) -> tensor<10x4xf32>
  %d = pd.elementwise_add X(%g) Y(%w) -> Out("d") {op_role = 2 : i32} : (tensor<10x4xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  %n:2 = pd.lars_momentum Grad(%d) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, lars_weight_decay = array<f32: 0.01>, op_role = 2 : i32} : (tensor<10x4xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> (tensor<10x4xf32>, tensor<10x4xf32>)
  pd.set @w, %n#0 : tensor<10x4xf32>
  pd.set @v, %n#1 : tensor<10x4xf32>
}

// -----

// What passes lamb and lars have made is what their changes say.
// CHECK: pass = "lamb"
// CHECK: pd.program @main
// CHECK: pd.lamb

module attributes {dist.changes = [{pass = "lamb"}]} {
  pd.var @w : tensor<10x4xf32> {parameter}
  pd.var @p : tensor<1xf32>
  pd.program @main {
    %w = pd.get @w : tensor<10x4xf32>
    %p = pd.get @p : tensor<1xf32>
    %n:3 = pd.lamb Beta1Pow(%p) Beta2Pow(%p) Grad(%w) LearningRate(%p) Moment1(%w) Moment2(%w) Param(%w) -> Moment1Out("m1") Moment2Out("m2") ParamOut("w") {weight_decay = 0.01 : f32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> (tensor<10x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>)
    pd.set @w, %n#2 : tensor<10x4xf32>
  }
}
