// What a segment that is computed again reads of the one before goes to the host's memory behind the
// op that makes it, and comes back where the segment whose gradients come before begins. What the
// first of these segments reads is needed at once and stays; so do feeds.
// RUN: dtranspile-opt %s --recompute="recompute_checkpoints=h* recompute_offload=true" | FileCheck %s
// RUN: dtranspile-opt %s --recompute="recompute_checkpoints=h2 recompute_offload=true" 2>&1 | FileCheck %s --check-prefix=NOTHING

// CHECK: dist.changes = [{pass = "recompute", recompute_checkpoints = ["h*"], recompute_extra_work = 30 : i64, recompute_offload = true}]
// CHECK: pd.decl "h1@Pinned" tensor of float32 [-1, 64]
// CHECK: pd.decl "h1@Fetch" tensor of float32 [-1, 64]
// CHECK: %[[X:.*]] = pd.input "x"
// CHECK: %[[H1:.*]] = pd.gelu {{.*}} -> Out("h1")
// CHECK-NEXT: %[[P1:.*]] = pd.memcpy X(%[[H1]]) -> Out("h1@Pinned") {dst_place_type = 2 : i32, op_role = 0 : i32}
// CHECK-NEXT: pd.mul X(%[[H1]])
// CHECK-NEXT: %[[H2:.*]] = pd.gelu {{.*}} -> Out("h2")
// CHECK-NEXT: pd.mul X(%[[H2]])
// CHECK-NEXT: pd.gelu {{.*}} -> Out("h3")
// CHECK: pd.mean_grad
// CHECK-NEXT: %[[F1:.*]] = pd.memcpy X(%[[P1]]) -> Out("h1@Fetch") {dst_place_type = 1 : i32, op_role = 1 : i32}
// CHECK-NEXT: pd.mul X(%[[H2]]) Y({{.*}}) -> Out("a3.subprog_0")
// CHECK-NEXT: pd.gelu_grad
// CHECK-NEXT: pd.mul_grad {{.*}}X(%[[H2]])
// CHECK-NEXT: pd.mul X(%[[F1]]) Y({{.*}}) -> Out("a2.subprog_1")
// CHECK-NEXT: pd.gelu_grad
// CHECK-NEXT: pd.mul_grad {{.*}}X(%[[F1]])
// CHECK-NEXT: pd.mul X(%[[X]]) Y({{.*}}) -> Out("a1.subprog_2")
// CHECK-NOT: pd.memcpy
// NOTHING: warning: recompute: recompute_offload moves nothing: what is computed again reads nothing that is kept for more than one segment
// NOTHING-NOT: pd.memcpy

pd.var @w1 : tensor<64x64xf32> {parameter}
pd.var @w2 : tensor<64x64xf32> {parameter}
pd.var @w3 : tensor<64x64xf32> {parameter}
pd.program @main attributes {version = 2006002 : i64} {
  pd.decl "x" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "a1" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "h1" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "a2" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "h2" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "a3" tensor of float32 [-1, 64] lod 0 {persistable = false}
  pd.decl "h3" tensor of float32 [-1, 64] lod 0 {persistable = false}
  %h0 = pd.input "x" : tensor<?x64xf32>
  %w1 = pd.get @w1 : tensor<64x64xf32>
  %w2 = pd.get @w2 : tensor<64x64xf32>
  %w3 = pd.get @w3 : tensor<64x64xf32>
  %a1 = pd.mul X(%h0) Y(%w1) -> Out("a1") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 0 : i32} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %h1 = pd.gelu X(%a1) -> Out("h1") {op_role = 0 : i32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %a2 = pd.mul X(%h1) Y(%w2) -> Out("a2") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 0 : i32} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %h2 = pd.gelu X(%a2) -> Out("h2") {op_role = 0 : i32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %a3 = pd.mul X(%h2) Y(%w3) -> Out("a3") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 0 : i32} : (tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<?x64xf32>
  %h3 = pd.gelu X(%a3) -> Out("h3") {op_role = 0 : i32} : (tensor<?x64xf32>) -> tensor<?x64xf32>
  %l = pd.mean X(%h3) -> Out("loss") {op_role = 256 : i32} : (tensor<?x64xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %g3 = pd.mean_grad "Out@GRAD"(%s) X(%h3) -> "X@GRAD"("h3@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %ga3 = pd.gelu_grad "Out@GRAD"(%g3) X(%a3) -> "X@GRAD"("a3@GRAD") {op_role = 1 : i32} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %g2, %gw3 = pd.mul_grad "Out@GRAD"(%ga3) X(%h2) Y(%w3) -> "X@GRAD"("h2@GRAD") "Y@GRAD"("w3@GRAD") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 1 : i32} : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<64x64xf32>) -> (tensor<?x64xf32>, tensor<64x64xf32>)
  %ga2 = pd.gelu_grad "Out@GRAD"(%g2) X(%a2) -> "X@GRAD"("a2@GRAD") {op_role = 1 : i32} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %g1, %gw2 = pd.mul_grad "Out@GRAD"(%ga2) X(%h1) Y(%w2) -> "X@GRAD"("h1@GRAD") "Y@GRAD"("w2@GRAD") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 1 : i32} : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<64x64xf32>) -> (tensor<?x64xf32>, tensor<64x64xf32>)
  %ga1 = pd.gelu_grad "Out@GRAD"(%g1) X(%a1) -> "X@GRAD"("a1@GRAD") {op_role = 1 : i32} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
  %gw1 = pd.mul_grad "Out@GRAD"(%ga1) X(%h0) Y(%w1) -> "Y@GRAD"("w1@GRAD") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32, op_role = 1 : i32} : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<64x64xf32>) -> tensor<64x64xf32>
}
