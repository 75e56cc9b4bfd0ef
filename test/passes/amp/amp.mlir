// Casts in both parts, the scale, and the branch of the update.
// RUN: dtranspile-opt %s --amp="init_loss_scaling=1024" | FileCheck %s
// The scale stays, and is not looked after.
// RUN: dtranspile-opt %s --amp="init_loss_scaling=8 use_dynamic_loss_scaling=false" | FileCheck %s --check-prefix=STATIC
// Nothing is scaled, looked at or skipped.
// RUN: dtranspile-opt %s --amp="init_loss_scaling=1 use_dynamic_loss_scaling=false" | FileCheck %s --check-prefix=UNSCALED
// RUN: dtranspile-opt %s --amp="amp_dtype=bfloat16" | FileCheck %s --check-prefix=BF16
// RUN: dtranspile-opt %s --amp="custom_white_list=gelu custom_black_list=mul" | FileCheck %s --check-prefix=LISTS
// RUN: dtranspile-opt %s --amp="custom_black_varnames=h" 2>&1 | FileCheck %s --check-prefix=NAMES
// In a job the gradient travels in half precision, and what the branch decides by is equal on all ranks.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 amp=true})" | FileCheck %s --check-prefix=JOB
// For stages of a pipeline: a check per gradient, and a branch per parameter.
// RUN: dtranspile-opt %s --amp="apart=true" | FileCheck %s --check-prefix=APART
// Parts of gradients are checked as parts, and whole ones beside them.
// RUN: dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 amp=true sharding=true})" 2>/dev/null | FileCheck %s --check-prefix=PARTS

// CHECK: dist.changes = [{amp_dtype = ["float16"], {{.*}}pass = "amp"{{.*}}scaled = true
// CHECK: pd.var @loss_scaling_0 : tensor<1xf32>
// CHECK: pd.var @num_good_steps_0 : tensor<1xi32>
// CHECK: pd.var @num_bad_steps_0 : tensor<1xi32>
// CHECK: pd.program @main
// CHECK: pd.decl "h" tensor of float16
// CHECK: %[[X:.*]] = pd.cast X(%{{.*}}) -> Out("x.cast_fp16") {in_dtype = 5 : i32, op_role = 0 : i32, out_dtype = 4 : i32}
// CHECK: %[[W:.*]] = pd.cast X(%{{.*}}) -> Out("w.cast_fp16")
// CHECK: %[[H:.*]] = pd.mul X(%[[X]]) Y(%[[W]]) -> Out("h") {{.*}} -> tensor<?x2xf16>
// A gray op follows, and its parameter is cast.
// CHECK: %[[B:.*]] = pd.cast X(%{{.*}}) -> Out("b.cast_fp16")
// CHECK: %[[A:.*]] = pd.elementwise_add X(%[[H]]) Y(%[[B]]) -> Out("a") {{.*}} -> tensor<?x2xf16>
// An op of no list is black; one cast serves two.
// CHECK: %[[A32:.*]] = pd.cast X(%[[A]]) -> Out("a.cast_fp32")
// CHECK: %[[G:.*]] = pd.gelu X(%[[A32]]) -> Out("g") {{.*}} -> tensor<?x2xf32>
// CHECK: %[[S:.*]] = pd.square X(%[[A32]])
// CHECK: %[[LOSS:.*]] = pd.mean
// CHECK: %[[SCALE:.*]] = pd.get @loss_scaling_0
// CHECK: %[[SEED:.*]] = pd.fill_constant -> Out("loss@GRAD") {{.*}}op_role = 257
// CHECK-NEXT: %[[SCALED:.*]] = pd.elementwise_mul X(%[[SEED]]) Y(%[[SCALE]]) -> Out("loss@GRAD")
// CHECK: pd.mean_grad "Out@GRAD"(%[[SCALED]])
// Gradients of the cast are added up in its type, and cast once.
// CHECK: %[[DG:.*]] = pd.gelu_grad "Out@GRAD"(%{{.*}}) X(%[[A32]])
// CHECK: %[[DS:.*]] = pd.square_grad "Out@GRAD"(%{{.*}}) X(%[[A32]])
// CHECK: %[[DA:.*]] = pd.sum X(%[[DG]], %[[DS]]) -> Out("a.cast_fp32@GRAD") {{.*}} -> tensor<?x2xf32>
// CHECK: %[[DA16:.*]] = pd.cast X(%[[DA]]) -> Out("a@GRAD") {in_dtype = 5 : i32, op_role = 1 : i32, out_dtype = 4 : i32}
// CHECK: %[[DB:.*]]:2 = pd.elementwise_add_grad "Out@GRAD"(%[[DA16]]) X(%[[H]]) Y(%[[B]]) -> "X@GRAD"("h@GRAD") "Y@GRAD"("b.cast_fp16@GRAD") {{.*}}op_role_var = ["b", "b.cast_fp16@GRAD"]
// CHECK: %[[DW:.*]] = pd.mul_grad "Out@GRAD"(%[[DB]]#0) X(%[[X]]) Y(%[[W]]) -> "Y@GRAD"("w.cast_fp16@GRAD") {{.*}}op_role_var = ["w", "w.cast_fp16@GRAD"]
// The counter of the schedule is taken back after a step that overflows.
// CHECK: pd.get @count
// CHECK: %[[OLD:.*]] = pd.get @count
// CHECK: %[[BEFORE:.*]] = pd.assign X(%[[OLD]]) -> Out("count@BEFORE")
// CHECK: pd.increment
// CHECK: pd.set @count
// CHECK: %[[B32:.*]] = pd.cast X(%[[DB]]#1) -> Out("b@GRAD") {in_dtype = 4 : i32, op_role = 2 : i32, out_dtype = 5 : i32}
// CHECK: %[[W32:.*]] = pd.cast X(%[[DW]]) -> Out("w@GRAD") {in_dtype = 4 : i32, op_role = 2 : i32, out_dtype = 5 : i32}
// CHECK: %[[C:.*]]:3 = pd.check_finite_and_unscale X(%[[B32]], %[[W32]]) Scale(%[[SCALE]]) -> Out("b@GRAD@UNSCALED", "w@GRAD@UNSCALED") FoundInfinite("find_infinite_scale")
// CHECK: %[[U:.*]]:5 = pd.update_loss_scaling X(%[[C]]#0, %[[C]]#1) FoundInfinite(%[[C]]#2) PrevLossScaling(%[[SCALE]]){{.*}}decr_every_n_nan_or_inf = 2 : i32, decr_ratio = 8.000000e-01 : f32, incr_every_n_steps = 1000 : i32, incr_ratio = 2.000000e+00 : f32
// CHECK: pd.set @loss_scaling_0, %[[U]]#2
// CHECK: pd.set @num_good_steps_0, %[[U]]#3
// CHECK: pd.set @num_bad_steps_0, %[[U]]#4
// CHECK: %[[GOOD:.*]] = pd.logical_not X(%[[C]]#2)
// CHECK: pd.conditional_block "$capture"({{.*}}) Cond(%[[GOOD]])
// CHECK: pd.decl "b@CLIP"
// CHECK: %[[CLIP:.*]] = pd.clip X(%{{.*}}) -> Out("b@CLIP")
// CHECK: %[[NB:.*]] = pd.sgd Grad(%[[CLIP]])
// CHECK: pd.set @b, %[[NB]]
// CHECK: %[[NW:.*]] = pd.sgd
// CHECK: pd.set @w, %[[NW]]
// CHECK: pd.yield
// CHECK: pd.conditional_block "$capture"(%[[BEFORE]]) Cond(%[[C]]#2)
// CHECK: ^bb0(%[[ARG:.*]]: tensor<1xf32>):
// CHECK: %[[BACK:.*]] = pd.assign X(%[[ARG]]) -> Out("count")
// CHECK: pd.set @count, %[[BACK]]
// CHECK: pd.program @startup
// CHECK: pd.fill_constant -> Out("loss_scaling_0") {{.*}}value = 1.024000e+03
// CHECK: pd.set @loss_scaling_0

// STATIC-NOT: num_good_steps
// STATIC: pd.check_finite_and_unscale
// STATIC-NOT: pd.update_loss_scaling
// STATIC: pd.conditional_block
// STATIC: value = 8.000000e+00

// UNSCALED-NOT: loss_scaling_0
// UNSCALED: pd.cast X(%{{.*}}) -> Out("w@GRAD") {in_dtype = 4 : i32, op_role = 2 : i32, out_dtype = 5 : i32}
// UNSCALED-NOT: pd.conditional_block

// BF16-NOT: loss_scaling_0
// BF16: pd.cast X(%{{.*}}) -> Out("x.cast_bf16") {in_dtype = 5 : i32, op_role = 0 : i32, out_dtype = 22 : i32}
// BF16: pd.mul {{.*}} -> tensor<?x2xbf16>
// BF16-NOT: pd.conditional_block

// LISTS-NOT: x.cast_fp16
// LISTS: pd.mul {{.*}} -> tensor<?x2xf32>
// LISTS: pd.gelu {{.*}} -> tensor<?x2xf16>
// LISTS: pd.gelu_grad {{.*}} -> tensor<?x2xf16>

// The op that gives h and the one that takes it are float32; nothing else is white.
// NAMES: warning: amp: no op is on the white list of float16
// NAMES-NOT: .cast_fp16

// JOB: module @source
// JOB: module @reference
// JOB: dist.role @trainer
// JOB: %[[SUM:.*]]:2 = dist.wait {{.*}} -> (tensor<2xf16>, tensor<4x2xf16>)
// JOB: pd.cast X(%[[SUM]]#0)
// JOB: pd.check_finite_and_unscale

// Complete behind the cast, for micro-batches to add up in float32.
// APART: pd.elementwise_add_grad
// APART: %[[B32:.*]] = pd.cast X(%{{.*}}) -> Out("b@GRAD") {in_dtype = 4 : i32, op_role = 1 : i32, op_role_var = ["b", "b@GRAD"], out_dtype = 5 : i32}
// APART: %[[W32:.*]] = pd.cast X(%{{.*}}) -> Out("w@GRAD") {{.*}}op_role_var = ["w", "w@GRAD"]
// APART: %[[CB:.*]]:2 = pd.check_finite_and_unscale X(%[[B32]]) Scale(%[[SCALE:[0-9]+]]) ->
// APART: %[[ANY:.*]] = pd.assign X(%[[CB]]#1) -> Out("any_infinite")
// APART: %[[CW:.*]]:2 = pd.check_finite_and_unscale X(%[[W32]])
// APART: %[[BOTH:.*]] = pd.logical_or X(%[[ANY]]) Y(%[[CW]]#1)
// APART: pd.update_loss_scaling X(%[[SCALE]]) FoundInfinite(%[[BOTH]])
// APART: %[[GOOD:.*]] = pd.logical_not X(%[[BOTH]])
// What follows from gradients alone is in no branch.
// APART: %[[CLIP:.*]] = pd.clip X(%[[CB]]#0)
// APART: pd.conditional_block "$capture"(%[[CLIP]]) Cond(%[[GOOD]])
// APART: pd.set @b
// APART-NOT: pd.set @w
// APART: pd.yield
// APART: pd.conditional_block "$capture"(%[[CW]]#0) Cond(%[[GOOD]])
// APART: pd.set @w
// APART: pd.conditional_block {{.*}} Cond(%[[BOTH]])
// APART: pd.set @count

// PARTS: dist.role @trainer
// PARTS: %[[C:.*]]:3 = pd.check_finite_and_unscale X(%{{.*}}, %{{.*}}) {{.*}} : (tensor<2xf32>, tensor<4xf32>, tensor<1xf32>)
// PARTS: %[[ANY:.*]] = dist.all_reduce or(%[[C]]#2) on @grad0 : (tensor<1xi1>) -> tensor<1xi1>
// PARTS: pd.update_loss_scaling X(%[[C]]#0, %[[C]]#1) FoundInfinite(%[[ANY]])
// PARTS: %[[GOOD:.*]] = pd.logical_not X(%[[ANY]])
// PARTS: pd.conditional_block {{.*}} Cond(%[[GOOD]])
// PARTS-NEXT: ^bb0(%{{.*}}: tensor<2xf32>, %[[PART:.*]]: tensor<4xf32>):
// PARTS: %[[NEW:.*]] = pd.sgd Grad(%[[PART]])
// PARTS: dist.all_gather(%[[NEW]])
// PARTS: pd.conditional_block {{.*}} Cond(%[[ANY]])

pd.var @w : tensor<4x2xf32> {parameter}
pd.var @b : tensor<2xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.var @count : tensor<1xf32>
pd.program @main attributes {version = 2004000 : i64} {
  pd.decl "h" tensor of float32 [-1, 2] lod 0
  pd.decl "a" tensor of float32 [-1, 2] lod 0
  pd.decl "a@GRAD" tensor of float32 [-1, 2] lod 0
  pd.decl "b@CLIP" tensor of float32 [2] lod 0
  %x = pd.input "x" : tensor<?x4xf32>
  %w = pd.get @w : tensor<4x2xf32>
  %h = pd.mul X(%x) Y(%w) -> Out("h") {op_role = 0 : i32} : (tensor<?x4xf32>, tensor<4x2xf32>) -> tensor<?x2xf32>
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
  %c0 = pd.get @count : tensor<1xf32>
  %c1 = pd.increment X(%c0) -> Out("count") {step = 1.0 : f32, op_role = 16 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @count, %c1 : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %clip = pd.clip X(%dhb#1) -> Out("b@CLIP") {min = -1.0 : f32, max = 1.0 : f32, op_role = 2 : i32} : (tensor<2xf32>) -> tensor<2xf32>
  %nb = pd.sgd Grad(%clip) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<2xf32>, tensor<1xf32>, tensor<2xf32>) -> tensor<2xf32>
  pd.set @b, %nb : tensor<2xf32>
  %nw = pd.sgd Grad(%dw) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4x2xf32>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @w, %nw : tensor<4x2xf32>
}
pd.program @startup attributes {version = 2004000 : i64} {
}
