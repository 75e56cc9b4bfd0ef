// Geo-SGD: trainers keep the update, and every fourth step ends with an exchange.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8 serve=geo" --ps-exchange="axes=dp servers=2 geo_sgd_need_push_nums=4" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8 serve=geo" --ps-exchange="axes=dp servers=2 geo_sgd_need_push_nums=4" --ps-startup="axes=dp" --declare-relations="axes=dp" | FileCheck %s --check-prefix=WHOLE
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2 min_block_size=8 serve=geo" --ps-exchange="axes=dp servers=2 geo_sgd_need_push_nums=0" 2>&1 | FileCheck %s --check-prefix=STEPS
// STEPS: ps-exchange: geo_sgd_need_push_nums is 0; it lies between 1 and 16777216
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --ps-exchange="axes=dp servers=2" 2>&1 | FileCheck %s --check-prefix=PLACE
// PLACE: ps-exchange: has no place on the servers; run ps-place first

// CHECK: dist.contracts = [{sites = [], statement = "every trainer takes the steps of one device on its own share of each batch; every 4 steps {{.*}}", tag = "geo"}]
// CHECK: dist.comm @rounds on @world over [dp] rpc @pserver {{.*}}geo_sgd_counter = "geo_sgd_step", geo_sgd_need_push_nums = 4

// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @w : tensor<10x4xf32> {
// CHECK-NEXT: pd.var @"w@SNAPSHOT" : tensor<10x4xf32> {dist.rel = #dist.rel<"w">
// CHECK: pd.adam
// CHECK: pd.momentum
// CHECK: [[STEP:%[0-9]+]] = pd.get @geo_sgd_step : tensor<1xi64>
// CHECK-NEXT: [[NEXT:%[0-9]+]] = pd.increment X([[STEP]])
// CHECK-NEXT: pd.set @geo_sgd_step, [[NEXT]]
// CHECK-NEXT: [[K:%[0-9]+]] = pd.fill_constant {{.*}}value = 4.000000e+00
// CHECK-NEXT: [[REST:%[0-9]+]] = pd.elementwise_mod X([[NEXT]]) Y([[K]])
// CHECK-NEXT: [[ZERO:%[0-9]+]] = pd.fill_constant {{.*}}value = 0.000000e+00
// CHECK-NEXT: [[DUE:%[0-9]+]] = pd.equal X([[REST]]) Y([[ZERO]])
// CHECK-NEXT: pd.conditional_block {{.*}}Cond([[DUE]])
// All pushes stand before the first pull.
// CHECK: [[XB:%[0-9]+]] = pd.get @b : tensor<4xf32>
// CHECK-NEXT: [[YB:%[0-9]+]] = pd.get @"b@SNAPSHOT"
// CHECK-NEXT: [[WAY:%[0-9]+]] = pd.elementwise_sub X([[XB]]) Y([[YB]])
// CHECK-NEXT: [[SHARE:%[0-9]+]] = pd.scale X([[WAY]]) {{.*}}scale = 5.000000e-01
// CHECK-NEXT: [[KNOWN:%[0-9]+]] = pd.elementwise_add X([[YB]]) Y([[SHARE]])
// CHECK-NEXT: dist.push [[SHARE]] to @pserver::@b merge each on @rounds : tensor<4xf32>
// CHECK: dist.push {{.*}} to @pserver::@w merge each on @rounds
// CHECK: [[ZB:%[0-9]+]] = dist.pull @pserver::@b on @rounds : tensor<4xf32>
// CHECK-NEXT: [[OTHERS:%[0-9]+]] = pd.elementwise_sub X([[ZB]]) Y([[KNOWN]])
// CHECK-NEXT: [[NEWB:%[0-9]+]] = pd.elementwise_add X([[XB]]) Y([[OTHERS]])
// CHECK-NEXT: pd.set @b, [[NEWB]]
// CHECK-NEXT: pd.set @"b@SNAPSHOT", [[ZB]]
// CHECK: dist.pull @pserver::@w on @rounds
// CHECK: pd.yield

// Servers hold parameters, and nothing else.
// CHECK-LABEL: dist.role @pserver on @pservers
// CHECK-NEXT: pd.var @b : tensor<?xf32> {dist.rel = #dist.rel<"b", ps: S(0, blocks(4, per 4, first 0))>
// CHECK-NEXT: pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(10, per 5, first 1))>
// CHECK-NEXT: pd.program @main
// CHECK: dist.serve on @rounds mode geo {
// CHECK-NEXT: dist.handle push @b ({{.*}}: tensor<1xi64>) {
// CHECK-NEXT: dist.foreach_block @b
// CHECK: [[MINE:%[0-9]+]] = dist.merged @b : tensor<?xf32>
// CHECK-NEXT: [[OLD:%[0-9]+]] = pd.get @b : tensor<?xf32>
// CHECK-NEXT: [[SUM:%[0-9]+]] = pd.elementwise_add X([[OLD]]) Y([[MINE]])
// CHECK-NEXT: pd.set @b, [[SUM]]
// CHECK: dist.handle push @w

// Trainers begin with what servers have, in both variables; what their updates change is listed.
// WHOLE: dist.contracts = [{sites = ["m1", "m2", "p1", "p2", "v", "b", "w"], {{.*}}tag = "geo"}]
// WHOLE: pd.program @startup
// WHOLE: pd.program @startup
// WHOLE: [[B:%[0-9]+]] = dist.pull @pserver::@b on @rounds
// WHOLE-NEXT: pd.set @b, [[B]]
// WHOLE-NEXT: pd.set @"b@SNAPSHOT", [[B]]
// WHOLE-NOT: dist.phase
// WHOLE: dist.role @pserver

pd.var @w : tensor<10x4xf32> {parameter}
pd.var @b : tensor<4xf32> {parameter}
pd.var @v : tensor<10x4xf32>
pd.var @step : tensor<1xi64>
pd.var @m1 : tensor<4xf32>
pd.var @m2 : tensor<4xf32>
pd.var @p1 : tensor<1xf32>
pd.var @p2 : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x10xf32>
  %w = pd.get @w : tensor<10x4xf32>
  %b = pd.get @b : tensor<4xf32>
  %y = pd.mul X(%x) Y(%w) -> Out("y") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<?x4xf32>
  %z = pd.elementwise_add X(%y) Y(%b) -> Out("z") {axis = 1 : i32} : (tensor<?x4xf32>, tensor<4xf32>) -> tensor<?x4xf32>
  %l = pd.mean X(%z) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %gz = pd.mean_grad "Out@GRAD"(%s) X(%z) -> "X@GRAD"("z@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %g:2 = pd.elementwise_add_grad "Out@GRAD"(%gz) X(%y) Y(%b) -> "X@GRAD"("y@GRAD") "Y@GRAD"("b@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<4xf32>) -> (tensor<?x4xf32>, tensor<4xf32>)
  %gw = pd.mul_grad "Out@GRAD"(%g#0) X(%x) Y(%w) -> "X@GRAD"() "Y@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"], x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x4xf32>, tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<10x4xf32>
  %v = pd.get @v : tensor<10x4xf32>
  %step = pd.get @step : tensor<1xi64>
  %next = pd.increment X(%step) -> Out("step") {op_role = 16 : i32, step = 1.0 : f32} : (tensor<1xi64>) -> tensor<1xi64>
  pd.set @step, %next : tensor<1xi64>
  %number = pd.cast X(%next) -> Out("number") {in_dtype = 3 : i32, op_role = 16 : i32, out_dtype = 5 : i32} : (tensor<1xi64>) -> tensor<1xf32>
  %lr = pd.scale X(%number) -> Out("rate") {bias = 0.0 : f32, bias_after_scale = true, op_role = 16 : i32, scale = 0.1 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  %m1 = pd.get @m1 : tensor<4xf32>
  %m2 = pd.get @m2 : tensor<4xf32>
  %p1 = pd.get @p1 : tensor<1xf32>
  %p2 = pd.get @p2 : tensor<1xf32>
  %b1:5 = pd.adam Beta1Pow(%p1) Beta2Pow(%p2) Grad(%g#1) LearningRate(%lr) Moment1(%m1) Moment2(%m2) Param(%b) -> Beta1PowOut("p1") Beta2PowOut("p2") Moment1Out("m1") Moment2Out("m2") ParamOut("b") {beta1 = 0.9 : f32, beta2 = 0.999 : f32, epsilon = 1.0e-8 : f32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  pd.set @b, %b1#4 : tensor<4xf32>
  pd.set @m1, %b1#2 : tensor<4xf32>
  pd.set @m2, %b1#3 : tensor<4xf32>
  pd.set @p1, %b1#0 : tensor<1xf32>
  pd.set @p2, %b1#1 : tensor<1xf32>
  %w1:2 = pd.momentum Grad(%gw) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<10x4xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> (tensor<10x4xf32>, tensor<10x4xf32>)
  pd.set @w, %w1#0 : tensor<10x4xf32>
  pd.set @v, %w1#1 : tensor<10x4xf32>
}
pd.program @startup {
  %w = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 10, 4>, value = 0.5 : f32} : () -> tensor<10x4xf32>
  pd.set @w, %w : tensor<10x4xf32>
  pd.set @v, %w : tensor<10x4xf32>
  %b = pd.fill_constant -> Out("b") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.0 : f32} : () -> tensor<4xf32>
  pd.set @b, %b : tensor<4xf32>
  pd.set @m1, %b : tensor<4xf32>
  pd.set @m2, %b : tensor<4xf32>
  %p = pd.fill_constant -> Out("p1") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.9 : f32} : () -> tensor<1xf32>
  pd.set @p1, %p : tensor<1xf32>
  pd.set @p2, %p : tensor<1xf32>
  %s = pd.fill_constant -> Out("step") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xi64>
  pd.set @step, %s : tensor<1xi64>
}
