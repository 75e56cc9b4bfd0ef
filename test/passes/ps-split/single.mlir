// Servers that apply every push by itself: a handler per parameter, one for the counter of steps.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2 serve=async" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2 serve=half_async" | FileCheck %s --check-prefix=HALF
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2 serve=async max_merge_var_num=4 send_queue_size=8 send_wait_times=3 thread_pool_size=2 min_send_grad_num_before_recv=9 is_sgd_optimizer=false" | FileCheck %s --check-prefix=QUEUES
// QUEUES: dist.contracts = [{{.*}}statement = "every push is applied by itself, to what the servers have then; up to 4 gradients of a trainer, averaged, are one push; trainers go on with parameters that they pulled before their last pushes"
// QUEUES: dist.comm @rounds on @world over [dp] rpc @pserver {{.*}}dist.sending = {average, max_merge_var_num = 4 : i64, min_send_grad_num_before_recv = 9 : i64, send_queue_size = 8 : i64, send_wait_times = 3 : i64, thread_pool_size = 2 : i64}
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2 serve=async independent_recv_thread=true" | FileCheck %s --check-prefix=RECEIVER
// RECEIVER: dist.sending = {independent_recv_thread}
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2 serve=geo" 2>&1 | FileCheck %s --check-prefix=GEO
// GEO: ps-split: no servers work in mode 'geo'; known are sync, async, half_async

// CHECK: dist.contracts = [{sites = ["b", "m1", "m2", "w", "v"], statement = "every push is applied by itself, to what the servers have then", tag = "staleness"}]

// The step is counted before its gradients come; there are no phases.
// CHECK-LABEL: dist.role @trainer
// CHECK: [[ONE:%[0-9]+]] = pd.fill_constant -> Out("step@STEP{{.*}}") {dtype = 3 : i32, op_role = 1 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32}
// CHECK-NEXT: dist.push [[ONE]] to @pserver::@step merge each on @rounds {dist.at_once} : tensor<1xi64>
// CHECK-NEXT: [[G:%[0-9]+]]:2 = pd.elementwise_add_grad
// CHECK-NEXT: dist.push [[G]]#1 to @pserver::@b merge each on @rounds
// CHECK-NEXT: [[GW:%[0-9]+]] = pd.mul_grad
// CHECK-NEXT: dist.push [[GW]] to @pserver::@w merge each on @rounds
// CHECK-NEXT: [[B:%[0-9]+]] = dist.pull @pserver::@b on @rounds : tensor<4xf32>
// CHECK-NEXT: pd.set @b, [[B]]
// CHECK-NEXT: [[W:%[0-9]+]] = dist.pull @pserver::@w on @rounds : tensor<10x4xf32>
// CHECK-NEXT: pd.set @w, [[W]]
// CHECK-NEXT: }

// HALF: dist.push {{.*}} to @pserver::@w merge each
// HALF-NEXT: dist.phase push on @rounds
// HALF-NEXT: dist.pull
// HALF-NOT: dist.phase pull
// HALF: dist.serve on @rounds mode half_async

// The rate is made anew of the counter; powers are advanced after the blocks, once per push.
// CHECK-LABEL: dist.role @pserver on @pservers
// CHECK: dist.serve on @rounds mode async {
// CHECK-NEXT: dist.handle push @step ({{.*}}: tensor<1xi64>) {
// CHECK-NEXT: [[OLD:%[0-9]+]] = pd.get @step
// CHECK-NEXT: [[NEXT:%[0-9]+]] = pd.increment X([[OLD]])
// CHECK-NEXT: pd.set @step, [[NEXT]]
// CHECK-NEXT: dist.yield
// CHECK-NEXT: }
// CHECK-NEXT: dist.handle push @b ({{.*}}: tensor<1xi64>) {
// CHECK: [[STEP:%[0-9]+]] = pd.get @step
// CHECK-NEXT: [[NUMBER:%[0-9]+]] = pd.cast X([[STEP]])
// CHECK-NEXT: [[RATE:%[0-9]+]] = pd.scale X([[NUMBER]])
// CHECK-DAG: [[P1:%[0-9]+]] = pd.get @p1
// CHECK-DAG: [[P2:%[0-9]+]] = pd.get @p2
// CHECK: dist.foreach_block @b
// CHECK: dist.merged @b
// CHECK: pd.adam Beta1Pow([[P1]]) Beta2Pow([[P2]]) {{.*}} LearningRate([[RATE]])
// CHECK: dist.yield
// CHECK-NEXT: }
// CHECK-NEXT: [[N1:%[0-9]+]] = pd.scale X([[P1]])
// CHECK-NEXT: pd.set @p1, [[N1]]
// CHECK-NEXT: [[N2:%[0-9]+]] = pd.scale X([[P2]])
// CHECK-NEXT: pd.set @p2, [[N2]]
// CHECK-NEXT: dist.yield
// CHECK: dist.handle push @w
// CHECK: dist.foreach_block @w
// CHECK: dist.merged @w
// CHECK: pd.momentum
// CHECK-NEXT: pd.set @w
// CHECK-NEXT: pd.set @v

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
