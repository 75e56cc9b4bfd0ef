// What gradients read before a checkpoint is computed again from what is kept, right before the
// first gradient that needs it; a dropout with the same mask, running statistics untouched.
// RUN: dtranspile-opt %s --recompute="recompute_checkpoints=h2" | FileCheck %s
// RUN: dtranspile-opt %s --recompute="recompute_checkpoints=h*" | FileCheck %s --check-prefix=TWO
// RUN: dtranspile-opt %s --recompute="recompute_checkpoints=sqrt" | FileCheck %s --check-prefix=SQRT
// RUN: dtranspile-opt %s --recompute="recompute_checkpoints=auto recompute_extra_work=100" | FileCheck %s --check-prefix=AUTO
// RUN: dtranspile-opt %s --recompute="recompute_checkpoints=auto recompute_extra_work=0" 2>&1 | FileCheck %s --check-prefix=NOTHING

// CHECK: dist.changes = [{pass = "recompute", recompute_checkpoints = ["h2"], recompute_extra_work = 30 : i64}]
// CHECK: pd.decl "mean.subprog_0" tensor of float32 [64]{{[^{]*$}}
// CHECK: pd.decl "mask.subprog_0" tensor of uint8
// CHECK: %[[X:.*]] = pd.input "x"
// CHECK: %[[MEAN:.*]] = pd.get @mean
// CHECK: %[[OLD:.*]] = pd.assign X(%[[MEAN]]) -> Out("mean.subprog_0") {op_role = 0 : i32}
// CHECK-NEXT: pd.assign
// CHECK-NEXT: pd.batch_norm {{.*}}Mean(%[[MEAN]])
// CHECK: %[[SEED:.*]] = pd.seed -> Out("seed.tmp_0") {force_cpu = true, op_role = 0 : i32, seed = 7 : i32}
// CHECK-NEXT: pd.dropout Seed(%[[SEED]]) X({{.*}}) -> Out("d") Mask("mask") {dropout_prob = 5.000000e-01 : f32, op_role = 0 : i32}
// CHECK: %[[GH2:.*]] = pd.tanh_grad
// CHECK-NEXT: %[[A:.*]] = pd.mul X(%[[X]]) Y(%{{.*}}) -> Out("a.subprog_0") {op_role = 1 : i32
// CHECK-NEXT: %[[N:.*]]:5 = pd.batch_norm {{.*}}Mean(%[[OLD]]){{.*}}X(%[[A]]) -> Y("n.subprog_0") MeanOut("mean.subprog_0")
// CHECK-NEXT: %[[H1:.*]] = pd.relu X(%[[N]]#0) -> Out("h1.subprog_0")
// CHECK-NEXT: %[[D:.*]]:2 = pd.dropout Seed(%[[SEED]]) X(%[[H1]]) -> Out("d.subprog_0") Mask("mask.subprog_0")
// CHECK-NEXT: pd.mul_grad "Out@GRAD"(%[[GH2]]) X(%[[D]]#0)
// CHECK-NEXT: pd.dropout_grad Mask(%[[D]]#1)
// CHECK-NEXT: pd.relu_grad Out(%[[H1]])
// CHECK-NEXT: pd.batch_norm_grad {{.*}}SavedMean(%[[N]]#3) SavedVariance(%[[N]]#4) {{.*}}X(%[[A]])
// CHECK-NEXT: pd.mul_grad "Out@GRAD"({{.*}}) X(%[[X]])
// CHECK-NOT: pd.set
// Of two segments the later one has the lower number; what is kept between them is not computed again.
// TWO: pd.dropout {{.*}} -> Out("d.subprog_0") Mask("mask.subprog_0")
// TWO-NEXT: pd.mul_grad
// TWO-NEXT: pd.dropout_grad
// TWO-NEXT: pd.relu_grad Out(%[[H1:[0-9]+]])
// TWO: pd.batch_norm {{.*}}Y("n.subprog_1")
// TWO-NEXT: pd.batch_norm_grad
// TWO-NOT: h1.subprog
// SQRT: .subprog_0
// AUTO: .subprog_0
// NOTHING: warning: recompute: nothing is computed again: no segment of the forward part saves memory
// NOTHING-NOT: .subprog_

pd.var @w1 : tensor<64x64xf32> {parameter}
pd.var @w2 : tensor<64x64xf32> {parameter}
pd.var @scale : tensor<64xf32> {parameter}
pd.var @bias : tensor<64xf32> {parameter}
pd.var @mean : tensor<64xf32>
pd.var @variance : tensor<64xf32>
pd.program @main attributes {version = 2006002 : i64} {
  pd.decl "x" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "a" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "n" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "mean" tensor of float32 [64] lod 0 {persistable = true}
  pd.decl "variance" tensor of float32 [64] lod 0 {persistable = true}
  pd.decl "h1" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "d" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "mask" tensor of uint8 [-1, 64] lod 0 {persistable = false}
  pd.decl "h2" tensor of float32 [-1, 64] lod 0 {persistable = false}
  %x = pd.input "x" : tensor<?x64xf32>
  %w1 = pd.get @w1 : tensor<64x64xf32>
  %w2 = pd.get @w2 : tensor<64x64xf32>
  %scale = pd.get @scale : tensor<64xf32>
  %bias = pd.get @bias : tensor<64xf32>
  %mean = pd.get @mean : tensor<64xf32>
  %variance = pd.get @variance : tensor<64xf32>
  %a = pd.mul X(%x) Y(%w1) -> Out("a") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 0 : i32} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %n, %m, %v, %sm, %sv = pd.batch_norm Bias(%bias) Mean(%mean) Scale(%scale) Variance(%variance) X(%a) -> Y("n") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") {op_role = 0 : i32} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>)
  pd.set @mean, %m : tensor<64xf32>
  pd.set @variance, %v : tensor<64xf32>
  %h1 = pd.relu X(%n) -> Out("h1") {op_role = 0 : i32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %d, %mask = pd.dropout X(%h1) -> Out("d") Mask("mask") {dropout_prob = 0.5 : f32, fix_seed = true, seed = 7 : i32, op_role = 0 : i32} : (tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xui8>)
  %h2 = pd.mul X(%d) Y(%w2) -> Out("h2") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 0 : i32} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %r = pd.tanh X(%h2) -> Out("r") {op_role = 0 : i32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %l = pd.mean X(%r) -> Out("loss") {op_role = 256 : i32} : (tensor<?x64xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %gr = pd.mean_grad "Out@GRAD"(%s) X(%r) -> "X@GRAD"("r@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %gh2 = pd.tanh_grad Out(%r) "Out@GRAD"(%gr) -> "X@GRAD"("h2@GRAD") {op_role = 1 : i32} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %gd, %gw2 = pd.mul_grad "Out@GRAD"(%gh2) X(%d) Y(%w2) -> "X@GRAD"("d@GRAD") "Y@GRAD"("w2@GRAD") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 1 : i32, op_role_var = ["w2", "w2@GRAD"]} : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<64x64xf32>) -> (tensor<?x64xf32>, tensor<64x64xf32>)
  %gh1 = pd.dropout_grad Mask(%mask) "Out@GRAD"(%gd) -> "X@GRAD"("h1@GRAD") {dropout_prob = 0.5 : f32, op_role = 1 : i32} : (tensor<?x64xui8>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %gn = pd.relu_grad Out(%h1) "Out@GRAD"(%gh1) -> "X@GRAD"("n@GRAD") {op_role = 1 : i32} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %gb, %gs, %ga = pd.batch_norm_grad Bias(%bias) SavedMean(%sm) SavedVariance(%sv) Scale(%scale) X(%a) "Y@GRAD"(%gn) -> "Bias@GRAD"("bias@GRAD") "Scale@GRAD"("scale@GRAD") "X@GRAD"("a@GRAD") {op_role = 1 : i32, op_role_var = ["bias", "bias@GRAD", "scale", "scale@GRAD"]} : (tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<64xf32>, tensor<?x64xf32>, tensor<?x64xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<?x64xf32>)
  %gw1 = pd.mul_grad "Out@GRAD"(%ga) X(%x) Y(%w1) -> "Y@GRAD"("w1@GRAD") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 1 : i32, op_role_var = ["w1", "w1@GRAD"]} : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
}
