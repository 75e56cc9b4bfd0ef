// A round of two stages: the norm of all gradients, summed up over servers, then the updates. Powers
// of decay rates advance once per round.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=8" --ps-split="axes=dp servers=2" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=1" --ps-split="axes=dp servers=1" | FileCheck %s --check-prefix=ONE

// CHECK: dist.comm @pservers_sum on @pservers over [ps] group {carries = "sums of servers"}
// CHECK: pd.var @p1 : tensor<1xf32> {dist.rel = #dist.rel<"p1">}
// CHECK: dist.handle round
// CHECK: [[ZERO:%[0-9]+]] = pd.fill_constant -> Out("norm_w")
// CHECK: [[SW:%[0-9]+]] = dist.foreach_block @w (%{{[a-z0-9]+}}) iter([[ARG:%[a-z0-9]+]] = [[ZERO]] : tensor<1xf32>) -> (tensor<1xf32>) {
// CHECK-NEXT: [[G:%[0-9]+]] = dist.merged @w : tensor<?x4xf32>
// CHECK-NEXT: [[T:%[0-9]+]] = pd.squared_l2_norm X([[G]])
// CHECK-NEXT: [[ADDED:%[0-9]+]] = pd.elementwise_add X([[ARG]]) Y([[T]])
// CHECK-NEXT: dist.yield [[ADDED]] : tensor<1xf32>
// CHECK: [[SB:%[0-9]+]] = dist.foreach_block @b
// CHECK: [[PART:%[0-9]+]] = pd.sum X([[SW]], [[SB]])
// CHECK: [[ALL:%[0-9]+]] = dist.all_reduce sum([[PART]]) on @pservers_sum
// CHECK: [[ROOT:%[0-9]+]] = pd.sqrt X([[ALL]])
// CHECK: dist.foreach_block @w
// CHECK-NEXT: dist.merged @w
// CHECK-NEXT: pd.elementwise_mul
// CHECK: pd.adam
// CHECK: pd.scale X({{%[0-9]+}}) -> Out("p1") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 0.899999976 : f32}
// CHECK-NEXT: pd.set @p1
// CHECK: pd.scale X({{%[0-9]+}}) -> Out("p2") {{.*}}scale = 9.990000e-01 : f32}
// CHECK-NEXT: pd.set @p2

// ONE-NOT: all_reduce

pd.var @w : tensor<10x4xf32> {parameter}
pd.var @b : tensor<4xf32> {parameter}
pd.var @m1 : tensor<10x4xf32>
pd.var @m2 : tensor<10x4xf32>
pd.var @p1 : tensor<1xf32>
pd.var @p2 : tensor<1xf32>
pd.var @lr : tensor<1xf32>
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
  %nw = pd.squared_l2_norm X(%gw) -> Out("norm_w") {op_role = 2 : i32} : (tensor<10x4xf32>) -> tensor<1xf32>
  %nb = pd.squared_l2_norm X(%g#1) -> Out("norm_b") {op_role = 2 : i32} : (tensor<4xf32>) -> tensor<1xf32>
  %n = pd.sum X(%nw, %nb) -> Out("norm") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %r = pd.sqrt X(%n) -> Out("root") {op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %cw = pd.elementwise_mul X(%gw) Y(%r) -> Out("w@CLIP") {axis = -1 : i32, op_role = 2 : i32} : (tensor<10x4xf32>, tensor<1xf32>) -> tensor<10x4xf32>
  %cb = pd.elementwise_mul X(%g#1) Y(%r) -> Out("b@CLIP") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %m1 = pd.get @m1 : tensor<10x4xf32>
  %m2 = pd.get @m2 : tensor<10x4xf32>
  %p1 = pd.get @p1 : tensor<1xf32>
  %p2 = pd.get @p2 : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %a:5 = pd.adam Beta1Pow(%p1) Beta2Pow(%p2) Grad(%cw) LearningRate(%lr) Moment1(%m1) Moment2(%m2) Param(%w) -> Beta1PowOut("p1") Beta2PowOut("p2") Moment1Out("m1") Moment2Out("m2") ParamOut("w") {beta1 = 0.9 : f32, beta2 = 0.999 : f32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<10x4xf32>, tensor<10x4xf32>, tensor<10x4xf32>)
  pd.set @p1, %a#0 : tensor<1xf32>
  pd.set @p2, %a#1 : tensor<1xf32>
  pd.set @m1, %a#2 : tensor<10x4xf32>
  pd.set @m2, %a#3 : tensor<10x4xf32>
  pd.set @w, %a#4 : tensor<10x4xf32>
  %b1 = pd.sgd Grad(%cb) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @b, %b1 : tensor<4xf32>
}
