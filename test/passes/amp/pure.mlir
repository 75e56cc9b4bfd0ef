// Pure half precision: ops of any list but those that cannot, parameters that lie in float16 beside
// float32 copies, which are updated and which the rest of the update takes.
// RUN: dtranspile-opt %s --amp="use_pure_fp16=true use_fp16_guard=false init_loss_scaling=1024" | FileCheck %s
// RUN: dtranspile-opt %s --amp="use_pure_bf16=true use_fp16_guard=false" | FileCheck %s --check-prefix=BF16
// Only what stands under fp16_guard: the product, and no parameter but its own.
// RUN: dtranspile-opt %s --amp="use_pure_fp16=true" | FileCheck %s --check-prefix=GUARD

// CHECK: dist.changes = [{amp_dtype = ["float16"], {{.*}}pass = "amp", pure = true, scaled = true{{.*}}use_fp16_guard = false
// CHECK-DAG: pd.var @w : tensor<4x2xf16> {parameter}
// CHECK-DAG: pd.var @w_fp32_master_0 : tensor<4x2xf32>
// CHECK-DAG: pd.var @b : tensor<2xf16> {parameter}
// CHECK-DAG: pd.var @e : tensor<2xf32>
// CHECK: pd.program @main
// CHECK-NOT: pd.decl "w.cast_fp16"
// CHECK: %[[X:.*]] = pd.cast X(%{{.*}}) -> Out("x.cast_fp16")
// CHECK: pd.mul X(%[[X]]) Y(%[[W:.*]]) -> Out("h") {{.*}} -> tensor<?x2xf16>
// CHECK: %[[A:.*]] = pd.elementwise_add {{.*}} -> Out("a") {{.*}} -> tensor<?x2xf16>
// CHECK: %[[A32:.*]] = pd.cast X(%[[A]])
// CHECK: pd.gelu X(%[[A32]])
// CHECK: pd.square X(%[[A]]) -> Out("s") {{.*}} -> tensor<?x2xf16>
// CHECK: %[[T:.*]] = pd.elementwise_add {{.*}} -> Out("t") {{.*}} -> tensor<?x2xf16>
// CHECK: %[[T32:.*]] = pd.cast X(%[[T]])
// CHECK: pd.mean X(%[[T32]]) -> Out("loss") {{.*}} -> tensor<1xf32>
// CHECK: pd.check_finite_and_unscale
// CHECK: pd.conditional_block
// The decay takes the copy, the average what the update gives for it.
// CHECK: pd.scale X(%[[COPY:.*]]) -> Out("b@DECAY") {{.*}} -> tensor<2xf32>
// CHECK: %[[NB:.*]]:2 = pd.sgd Grad(%{{.*}}) LearningRate(%{{.*}}) Param(%[[B:.*]]) MasterParam(%[[COPY]]) -> ParamOut("b") MasterParamOut("b_fp32_master_0") {multi_precision = true, op_role = 2 : i32} {{.*}} -> (tensor<2xf16>, tensor<2xf32>)
// CHECK-DAG: pd.set @b, %[[NB]]#0
// CHECK-DAG: pd.set @b_fp32_master_0, %[[NB]]#1
// CHECK: pd.elementwise_add X(%{{.*}}) Y(%[[NB]]#1) -> Out("e")
// CHECK: pd.sgd {{.*}}MasterParamOut("w_fp32_master_0")
// CHECK: pd.program @startup
// CHECK: %[[I:.*]] = pd.fill_constant -> Out("w_fp32_master_0") {{.*}} -> tensor<4x2xf32>
// CHECK: pd.set @w_fp32_master_0, %[[I]]
// CHECK: %[[R:.*]] = pd.cast X(%[[I]]) -> Out("w") {in_dtype = 5 : i32, op_role = 0 : i32, out_dtype = 4 : i32}
// CHECK: pd.set @w, %[[R]]

// BF16: pd.var @w : tensor<4x2xbf16>
// BF16-NOT: loss_scaling
// BF16: pd.sgd {{.*}}MasterParamOut

// GUARD: use_fp16_guard = true
// GUARD-DAG: pd.var @w : tensor<4x2xf16>
// GUARD-DAG: pd.var @b : tensor<2xf32>
// GUARD: pd.mul {{.*}} -> tensor<?x2xf16>
// GUARD: pd.elementwise_add {{.*}} -> Out("a") {{.*}} -> tensor<?x2xf32>
// GUARD: pd.sgd {{.*}} -> ParamOut("b") {op_role = 2 : i32}

pd.var @w : tensor<4x2xf32> {parameter}
pd.var @b : tensor<2xf32> {parameter}
pd.var @e : tensor<2xf32>
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 2004000 : i64} {
  %x = pd.input "x" : tensor<?x4xf32>
  %w = pd.get @w : tensor<4x2xf32>
  %h = pd.mul X(%x) Y(%w) -> Out("h") {op_namescope = "/__use_fp16__/", op_role = 0 : i32} : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
  %b = pd.get @b : tensor<2xf32>
  %a = pd.elementwise_add X(%h) Y(%b) -> Out("a") {axis = 1 : i32, op_role = 0 : i32} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %g = pd.gelu X(%a) -> Out("g") {op_role = 0 : i32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %s = pd.square X(%a) -> Out("s") {op_role = 0 : i32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %t = pd.elementwise_add X(%g) Y(%s) -> Out("t") {op_role = 0 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %loss = pd.mean X(%t) -> Out("loss") {op_role = 256 : i32} : (tensor<?x2xf32>) -> tensor<1xf32>
  %d = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %dt = pd.mean_grad "Out@GRAD"(%d) X(%t) -> "X@GRAD"("t@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %dgs:2 = pd.elementwise_add_grad "Out@GRAD"(%dt) X(%g) Y(%s) -> "X@GRAD"("g@GRAD") "Y@GRAD"("s@GRAD") {op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<?x2xf32>) -> (tensor<?x2xf32>, tensor<?x2xf32>)
  %da0 = pd.gelu_grad "Out@GRAD"(%dgs#0) X(%a) -> "X@GRAD"("a@GRAD@RENAME@0") {op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %da1 = pd.square_grad "Out@GRAD"(%dgs#1) X(%a) -> "X@GRAD"("a@GRAD@RENAME@1") {op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %da = pd.sum X(%da0, %da1) -> Out("a@GRAD") {op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %dhb:2 = pd.elementwise_add_grad "Out@GRAD"(%da) X(%h) Y(%b) -> "X@GRAD"("h@GRAD") "Y@GRAD"("b@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<?x2xf32>, tensor<?x2xf32>, tensor<2xf32>) -> (tensor<?x2xf32>, tensor<2xf32>)
  %dw = pd.mul_grad "Out@GRAD"(%dhb#0) X(%x) Y(%w) -> "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2xf32>, tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %decay = pd.scale X(%b) -> Out("b@DECAY") {scale = 0.5 : f32, bias = 0.0 : f32, op_role = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %gb = pd.sum X(%dhb#1, %decay) -> Out("b@BOTH") {op_role = 2 : i32} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %nb = pd.sgd Grad(%gb) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<2xf32>, tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32>
  pd.set @b, %nb : tensor<2xf32>
  %e = pd.get @e : tensor<2xf32>
  %ne = pd.elementwise_add X(%e) Y(%nb) -> Out("e") {axis = -1 : i32, op_role = 2 : i32} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  pd.set @e, %ne : tensor<2xf32>
  %nw = pd.sgd Grad(%dw) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4x2xf32>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @w, %nw : tensor<4x2xf32>
}
pd.program @startup attributes {version = 2004000 : i64} {
  %1 = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 4, 2>, value = 1.0 : f32} : () -> tensor<4x2xf32>
  pd.set @w, %1 : tensor<4x2xf32>
  %2 = pd.fill_constant -> Out("b") {dtype = 5 : i32, shape = array<i64: 2>, value = 1.0 : f32} : () -> tensor<2xf32>
  pd.set @b, %2 : tensor<2xf32>
}
