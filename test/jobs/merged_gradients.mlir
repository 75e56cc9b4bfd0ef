// Gradients merged over 4 runs: every run adds its gradients to sums that each rank keeps for itself,
// every 4th run the ranks add their sums together, update and begin anew. One round on a batch cut
// into 4 runs is one step of the program without merging on the whole batch.
//
// The sums are partial along `dp` between runs: that is what their relation says, and both branches
// keep it (zero is a partial sum of zero). The predicate is equal on all ranks, for all count alike.
module {
  dist.mesh @world [dp = 2]
  dist.comm @gradients on @world over [dp] group {carries = "gradients"}

  // The single-device program, with the merging in it.
  module @source {
    pd.var @learning_rate_0 : tensor<1xf32>
    pd.var @fc_2.b_0_velocity_0 : tensor<10xf32>
    pd.var @fc_1.w_0_velocity_0 : tensor<128x128xf32>
    pd.var @fc_2.w_0_velocity_0 : tensor<128x10xf32>
    pd.var @fc_2.b_0 : tensor<10xf32> {parameter}
    pd.var @fc_2.w_0 : tensor<128x10xf32> {parameter}
    pd.var @fc_0.w_0_velocity_0 : tensor<64x128xf32>
    pd.var @fc_1.b_0 : tensor<128xf32> {parameter}
    pd.var @fc_0.b_0 : tensor<128xf32> {parameter}
    pd.var @fc_0.w_0 : tensor<64x128xf32> {parameter}
    pd.var @fc_1.w_0 : tensor<128x128xf32> {parameter}
    pd.var @fc_0.b_0_velocity_0 : tensor<128xf32>
    pd.var @fc_1.b_0_velocity_0 : tensor<128xf32>
    pd.var @fc_0.b_0.merged : tensor<128xf32>
    pd.var @fc_0.w_0.merged : tensor<64x128xf32>
    pd.var @fc_1.b_0.merged : tensor<128xf32>
    pd.var @fc_1.w_0.merged : tensor<128x128xf32>
    pd.var @fc_2.b_0.merged : tensor<10xf32>
    pd.var @fc_2.w_0.merged : tensor<128x10xf32>
    pd.var @merge_step : tensor<1xi64>
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_2.b_0_velocity_0" tensor of float32 [10] {persistable = true}
      pd.decl "fc_1.w_0_velocity_0" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.w_0_velocity_0" tensor of float32 [128, 10] {persistable = true}
      pd.decl "cross_entropy2_0.tmp_2" tensor of float32 [-1, 1] {persistable = false}
      pd.decl "fc_2.tmp_2" tensor of float32 [-1, 10] lod 0 {persistable = false}
      pd.decl "cross_entropy2_0.tmp_1" tensor of float32 [-1, 10, 0] lod 0 {persistable = false}
      pd.decl "top_k_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_2.tmp_1" tensor of float32 [-1, 10] lod 0 {persistable = false}
      pd.decl "mean_0.tmp_0" tensor of float32 [1] {persistable = false}
      pd.decl "fc_0.tmp_0@GRAD" tensor of float32 [-1, 128] lod 0
      pd.decl "cross_entropy2_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_2.b_0" tensor of float32 [10] {persistable = true}
      pd.decl "fc_2.w_0" tensor of float32 [128, 10] {persistable = true}
      pd.decl "label" tensor of int64 [-1, 1] lod 0 {persistable = false}
      pd.decl "top_k_0.tmp_1" tensor of int64 [-1, 1] lod 0 {persistable = false}
      pd.decl "img" tensor of float32 [-1, 64] lod 0 {persistable = false}
      pd.decl "accuracy_0.tmp_0" tensor of float32 [1] lod 0 {persistable = false}
      pd.decl "fc_0.tmp_2@GRAD" tensor of float32 [-1, 128]
      pd.decl "fc_0.tmp_0" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "fc_0.w_0_velocity_0" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.b_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.tmp_1" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "fc_1.w_0" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.tmp_0@GRAD" tensor of float32 [-1, 10] lod 0
      pd.decl "fc_0.tmp_1@GRAD" tensor of float32 [-1, 128] lod 0
      pd.decl "fc_0.tmp_1" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [64, 128]
      pd.decl "fc_0.tmp_2" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "cross_entropy2_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "accuracy_0.tmp_1" tensor of int32 [1] {persistable = false}
      pd.decl "fc_1.tmp_0" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "accuracy_0.tmp_2" tensor of int32 [1] {persistable = false}
      pd.decl "mean_0.tmp_0@GRAD" tensor of float32 [1]
      pd.decl "fc_2.tmp_0" tensor of float32 [-1, 10] lod 0 {persistable = false}
      pd.decl "fc_2.tmp_2@GRAD" tensor of float32 [-1, 10] lod 0
      pd.decl "fc_2.tmp_1@GRAD" tensor of float32 [-1, 10]
      pd.decl "fc_2.b_0@GRAD" tensor of float32 [10] lod 0
      pd.decl "fc_1.tmp_2@GRAD" tensor of float32 [-1, 128]
      pd.decl "fc_2.w_0@GRAD" tensor of float32 [128, 10]
      pd.decl "fc_1.tmp_1@GRAD" tensor of float32 [-1, 128] lod 0
      pd.decl "fc_1.tmp_0@GRAD" tensor of float32 [-1, 128] lod 0
      pd.decl "fc_1.b_0@GRAD" tensor of float32 [128] lod 0
      pd.decl "fc_1.tmp_2" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [128] lod 0
      pd.decl "fc_1.w_0@GRAD" tensor of float32 [128, 128]
      pd.decl "fc_0.b_0_velocity_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.b_0_velocity_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.b_0.merged" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.w_0.merged" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.b_0.merged" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.w_0.merged" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.b_0.merged" tensor of float32 [10] {persistable = true}
      pd.decl "fc_2.w_0.merged" tensor of float32 [128, 10] {persistable = true}
      pd.decl "merge_step" tensor of int64 [1] {persistable = true}
      pd.decl "merge_k" tensor of int64 [1] {persistable = false}
      pd.decl "merge_rest" tensor of int64 [1] {persistable = false}
      pd.decl "merge_none" tensor of int64 [1] {persistable = false}
      pd.decl "merge_due" tensor of bool [1] {persistable = false}
      pd.decl "merge_scope" tape
      %img = pd.input "img" : tensor<?x64xf32>
      %label = pd.input "label" : tensor<?x1xi64>
      %fc_0.w_0 = pd.get @fc_0.w_0 : tensor<64x128xf32>
      %fc_0.tmp_0 = pd.mul X(%img) Y(%fc_0.w_0) -> Out("fc_0.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
      %fc_0.b_0 = pd.get @fc_0.b_0 : tensor<128xf32>
      %fc_0.tmp_1 = pd.elementwise_add X(%fc_0.tmp_0) Y(%fc_0.b_0) -> Out("fc_0.tmp_1") {axis = 1 : i32} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %fc_0.tmp_2 = pd.relu X(%fc_0.tmp_1) -> Out("fc_0.tmp_2") : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %fc_1.w_0 = pd.get @fc_1.w_0 : tensor<128x128xf32>
      %fc_1.tmp_0 = pd.mul X(%fc_0.tmp_2) Y(%fc_1.w_0) -> Out("fc_1.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x128xf32>, tensor<128x128xf32>) -> tensor<?x128xf32>
      %fc_1.b_0 = pd.get @fc_1.b_0 : tensor<128xf32>
      %fc_1.tmp_1 = pd.elementwise_add X(%fc_1.tmp_0) Y(%fc_1.b_0) -> Out("fc_1.tmp_1") {axis = 1 : i32} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %fc_1.tmp_2 = pd.relu X(%fc_1.tmp_1) -> Out("fc_1.tmp_2") : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %fc_2.w_0 = pd.get @fc_2.w_0 : tensor<128x10xf32>
      %fc_2.tmp_0 = pd.mul X(%fc_1.tmp_2) Y(%fc_2.w_0) -> Out("fc_2.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x128xf32>, tensor<128x10xf32>) -> tensor<?x10xf32>
      %fc_2.b_0 = pd.get @fc_2.b_0 : tensor<10xf32>
      %fc_2.tmp_1 = pd.elementwise_add X(%fc_2.tmp_0) Y(%fc_2.b_0) -> Out("fc_2.tmp_1") {axis = 1 : i32} : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
      %fc_2.tmp_2 = pd.softmax X(%fc_2.tmp_1) -> Out("fc_2.tmp_2") {axis = -1 : i32, data_format = "AnyLayout", is_test = false} : (tensor<?x10xf32>) -> tensor<?x10xf32>
      %cross_entropy2:3 = pd.cross_entropy2 Label(%label) X(%fc_2.tmp_2) -> MatchX("cross_entropy2_0.tmp_2") XShape("cross_entropy2_0.tmp_1") Y("cross_entropy2_0.tmp_0") {ignore_index = -100 : i32} : (tensor<?x1xi64>, tensor<?x10xf32>) -> (tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>)
      %mean_0.tmp_0 = pd.mean X(%cross_entropy2#2) -> Out("mean_0.tmp_0") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
      %top_k:2 = pd.top_k K() X(%fc_2.tmp_2) -> Indices("top_k_0.tmp_1") Out("top_k_0.tmp_0") {k = 1 : i32} : (tensor<?x10xf32>) -> (tensor<?x1xi64>, tensor<?x1xf32>)
      %accuracy:3 = pd.accuracy Indices(%top_k#0) Label(%label) Out(%top_k#1) -> Accuracy("accuracy_0.tmp_0") Correct("accuracy_0.tmp_1") Total("accuracy_0.tmp_2") : (tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
      %mean_0.tmp_0.grad = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
      %cross_entropy2_0.tmp_0.grad = pd.mean_grad "Out@GRAD"(%mean_0.tmp_0.grad) X(%cross_entropy2#2) -> "X@GRAD"("cross_entropy2_0.tmp_0@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %fc_2.tmp_2.grad = pd.cross_entropy_grad2 Label(%label) MatchX(%cross_entropy2#0) XShape(%cross_entropy2#1) "Y@GRAD"(%cross_entropy2_0.tmp_0.grad) -> "X@GRAD"("fc_2.tmp_2@GRAD") {ignore_index = -100 : i32, op_role = 1 : i32} : (tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>) -> tensor<?x10xf32>
      %fc_2.tmp_1.grad = pd.softmax_grad Out(%fc_2.tmp_2) "Out@GRAD"(%fc_2.tmp_2.grad) -> "X@GRAD"("fc_2.tmp_1@GRAD") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_role = 1 : i32} : (tensor<?x10xf32>, tensor<?x10xf32>) -> tensor<?x10xf32>
      %elementwise_add_grad:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_2.tmp_1.grad) X(%fc_2.tmp_0) Y(%fc_2.b_0) -> "X@GRAD"("fc_2.tmp_0@GRAD") "Y@GRAD"("fc_2.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} : (tensor<?x10xf32>, tensor<?x10xf32>, tensor<10xf32>) -> (tensor<?x10xf32>, tensor<10xf32>)
      %mul_grad:2 = pd.mul_grad "Out@GRAD"(%elementwise_add_grad#0) X(%fc_1.tmp_2) Y(%fc_2.w_0) -> "X@GRAD"("fc_1.tmp_2@GRAD") "Y@GRAD"("fc_2.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x10xf32>, tensor<?x128xf32>, tensor<128x10xf32>) -> (tensor<?x128xf32>, tensor<128x10xf32>)
      %fc_1.tmp_1.grad = pd.relu_grad Out(%fc_1.tmp_2) "Out@GRAD"(%mul_grad#0) -> "X@GRAD"("fc_1.tmp_1@GRAD") {op_role = 1 : i32} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %elementwise_add_grad.2:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_1.tmp_1.grad) X(%fc_1.tmp_0) Y(%fc_1.b_0) -> "X@GRAD"("fc_1.tmp_0@GRAD") "Y@GRAD"("fc_1.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %mul_grad.2:2 = pd.mul_grad "Out@GRAD"(%elementwise_add_grad.2#0) X(%fc_0.tmp_2) Y(%fc_1.w_0) -> "X@GRAD"("fc_0.tmp_2@GRAD") "Y@GRAD"("fc_1.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128x128xf32>) -> (tensor<?x128xf32>, tensor<128x128xf32>)
      %fc_0.tmp_1.grad = pd.relu_grad Out(%fc_0.tmp_2) "Out@GRAD"(%mul_grad.2#0) -> "X@GRAD"("fc_0.tmp_1@GRAD") {op_role = 1 : i32} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %elementwise_add_grad.3:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_0.tmp_1.grad) X(%fc_0.tmp_0) Y(%fc_0.b_0) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %fc_0.w_0.grad = pd.mul_grad "Out@GRAD"(%elementwise_add_grad.3#0) X(%img) Y(%fc_0.w_0) -> "X@GRAD"() "Y@GRAD"("fc_0.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x128xf32>, tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
      // The gradients of this run are added to what the earlier ones of the round have given.
      %old_fc_0_b_0 = pd.get @fc_0.b_0.merged : tensor<128xf32>
      %sum_fc_0_b_0 = pd.sum X(%old_fc_0_b_0, %elementwise_add_grad.3#1) -> Out("fc_0.b_0.merged") {op_role = 1 : i32} : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
      pd.set @fc_0.b_0.merged, %sum_fc_0_b_0 : tensor<128xf32>
      %old_fc_0_w_0 = pd.get @fc_0.w_0.merged : tensor<64x128xf32>
      %sum_fc_0_w_0 = pd.sum X(%old_fc_0_w_0, %fc_0.w_0.grad) -> Out("fc_0.w_0.merged") {op_role = 1 : i32} : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
      pd.set @fc_0.w_0.merged, %sum_fc_0_w_0 : tensor<64x128xf32>
      %old_fc_1_b_0 = pd.get @fc_1.b_0.merged : tensor<128xf32>
      %sum_fc_1_b_0 = pd.sum X(%old_fc_1_b_0, %elementwise_add_grad.2#1) -> Out("fc_1.b_0.merged") {op_role = 1 : i32} : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
      pd.set @fc_1.b_0.merged, %sum_fc_1_b_0 : tensor<128xf32>
      %old_fc_1_w_0 = pd.get @fc_1.w_0.merged : tensor<128x128xf32>
      %sum_fc_1_w_0 = pd.sum X(%old_fc_1_w_0, %mul_grad.2#1) -> Out("fc_1.w_0.merged") {op_role = 1 : i32} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
      pd.set @fc_1.w_0.merged, %sum_fc_1_w_0 : tensor<128x128xf32>
      %old_fc_2_b_0 = pd.get @fc_2.b_0.merged : tensor<10xf32>
      %sum_fc_2_b_0 = pd.sum X(%old_fc_2_b_0, %elementwise_add_grad#1) -> Out("fc_2.b_0.merged") {op_role = 1 : i32} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
      pd.set @fc_2.b_0.merged, %sum_fc_2_b_0 : tensor<10xf32>
      %old_fc_2_w_0 = pd.get @fc_2.w_0.merged : tensor<128x10xf32>
      %sum_fc_2_w_0 = pd.sum X(%old_fc_2_w_0, %mul_grad#1) -> Out("fc_2.w_0.merged") {op_role = 1 : i32} : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
      pd.set @fc_2.w_0.merged, %sum_fc_2_w_0 : tensor<128x10xf32>
      // Every 4th run ends a round.
      %step = pd.get @merge_step : tensor<1xi64>
      %next = pd.increment X(%step) -> Out("merge_step") {op_role = 2 : i32, step = 1.000000e+00 : f32} : (tensor<1xi64>) -> tensor<1xi64>
      pd.set @merge_step, %next : tensor<1xi64>
      %k = pd.fill_constant -> Out("merge_k") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 4.000000e+00 : f32} : () -> tensor<1xi64>
      %rest = pd.elementwise_mod X(%next) Y(%k) -> Out("merge_rest") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
      %none = pd.fill_constant -> Out("merge_none") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} : () -> tensor<1xi64>
      %due = pd.equal X(%rest) Y(%none) -> Out("merge_due") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
      %scope = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("merge_scope") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
        pd.decl "fc_0.b_0.mean" tensor of float32 [128] {persistable = false}
        pd.decl "fc_0.w_0.mean" tensor of float32 [64, 128] {persistable = false}
        pd.decl "fc_1.b_0.mean" tensor of float32 [128] {persistable = false}
        pd.decl "fc_1.w_0.mean" tensor of float32 [128, 128] {persistable = false}
        pd.decl "fc_2.b_0.mean" tensor of float32 [10] {persistable = false}
        pd.decl "fc_2.w_0.mean" tensor of float32 [128, 10] {persistable = false}
        %rate = pd.get @learning_rate_0 : tensor<1xf32>
        %all_fc_0_b_0 = pd.get @fc_0.b_0.merged : tensor<128xf32>
        %mean_fc_0_b_0 = pd.scale X(%all_fc_0_b_0) -> Out("fc_0.b_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} : (tensor<128xf32>) -> tensor<128xf32>
        %w_fc_0_b_0 = pd.get @fc_0.b_0 : tensor<128xf32>
        %v_fc_0_b_0 = pd.get @fc_0.b_0_velocity_0 : tensor<128xf32>
        %new_fc_0_b_0:2 = pd.momentum Grad(%mean_fc_0_b_0) LearningRate(%rate) Param(%w_fc_0_b_0) Velocity(%v_fc_0_b_0) -> ParamOut("fc_0.b_0") VelocityOut("fc_0.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
        pd.set @fc_0.b_0, %new_fc_0_b_0#0 : tensor<128xf32>
        pd.set @fc_0.b_0_velocity_0, %new_fc_0_b_0#1 : tensor<128xf32>
        %empty_fc_0_b_0 = pd.fill_constant -> Out("fc_0.b_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 128>, value = 0.000000e+00 : f32} : () -> tensor<128xf32>
        pd.set @fc_0.b_0.merged, %empty_fc_0_b_0 : tensor<128xf32>
        %all_fc_0_w_0 = pd.get @fc_0.w_0.merged : tensor<64x128xf32>
        %mean_fc_0_w_0 = pd.scale X(%all_fc_0_w_0) -> Out("fc_0.w_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} : (tensor<64x128xf32>) -> tensor<64x128xf32>
        %w_fc_0_w_0 = pd.get @fc_0.w_0 : tensor<64x128xf32>
        %v_fc_0_w_0 = pd.get @fc_0.w_0_velocity_0 : tensor<64x128xf32>
        %new_fc_0_w_0:2 = pd.momentum Grad(%mean_fc_0_w_0) LearningRate(%rate) Param(%w_fc_0_w_0) Velocity(%v_fc_0_w_0) -> ParamOut("fc_0.w_0") VelocityOut("fc_0.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<64x128xf32>, tensor<1xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
        pd.set @fc_0.w_0, %new_fc_0_w_0#0 : tensor<64x128xf32>
        pd.set @fc_0.w_0_velocity_0, %new_fc_0_w_0#1 : tensor<64x128xf32>
        %empty_fc_0_w_0 = pd.fill_constant -> Out("fc_0.w_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 64, 128>, value = 0.000000e+00 : f32} : () -> tensor<64x128xf32>
        pd.set @fc_0.w_0.merged, %empty_fc_0_w_0 : tensor<64x128xf32>
        %all_fc_1_b_0 = pd.get @fc_1.b_0.merged : tensor<128xf32>
        %mean_fc_1_b_0 = pd.scale X(%all_fc_1_b_0) -> Out("fc_1.b_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} : (tensor<128xf32>) -> tensor<128xf32>
        %w_fc_1_b_0 = pd.get @fc_1.b_0 : tensor<128xf32>
        %v_fc_1_b_0 = pd.get @fc_1.b_0_velocity_0 : tensor<128xf32>
        %new_fc_1_b_0:2 = pd.momentum Grad(%mean_fc_1_b_0) LearningRate(%rate) Param(%w_fc_1_b_0) Velocity(%v_fc_1_b_0) -> ParamOut("fc_1.b_0") VelocityOut("fc_1.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
        pd.set @fc_1.b_0, %new_fc_1_b_0#0 : tensor<128xf32>
        pd.set @fc_1.b_0_velocity_0, %new_fc_1_b_0#1 : tensor<128xf32>
        %empty_fc_1_b_0 = pd.fill_constant -> Out("fc_1.b_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 128>, value = 0.000000e+00 : f32} : () -> tensor<128xf32>
        pd.set @fc_1.b_0.merged, %empty_fc_1_b_0 : tensor<128xf32>
        %all_fc_1_w_0 = pd.get @fc_1.w_0.merged : tensor<128x128xf32>
        %mean_fc_1_w_0 = pd.scale X(%all_fc_1_w_0) -> Out("fc_1.w_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} : (tensor<128x128xf32>) -> tensor<128x128xf32>
        %w_fc_1_w_0 = pd.get @fc_1.w_0 : tensor<128x128xf32>
        %v_fc_1_w_0 = pd.get @fc_1.w_0_velocity_0 : tensor<128x128xf32>
        %new_fc_1_w_0:2 = pd.momentum Grad(%mean_fc_1_w_0) LearningRate(%rate) Param(%w_fc_1_w_0) Velocity(%v_fc_1_w_0) -> ParamOut("fc_1.w_0") VelocityOut("fc_1.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<128x128xf32>, tensor<1xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>)
        pd.set @fc_1.w_0, %new_fc_1_w_0#0 : tensor<128x128xf32>
        pd.set @fc_1.w_0_velocity_0, %new_fc_1_w_0#1 : tensor<128x128xf32>
        %empty_fc_1_w_0 = pd.fill_constant -> Out("fc_1.w_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 128, 128>, value = 0.000000e+00 : f32} : () -> tensor<128x128xf32>
        pd.set @fc_1.w_0.merged, %empty_fc_1_w_0 : tensor<128x128xf32>
        %all_fc_2_b_0 = pd.get @fc_2.b_0.merged : tensor<10xf32>
        %mean_fc_2_b_0 = pd.scale X(%all_fc_2_b_0) -> Out("fc_2.b_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} : (tensor<10xf32>) -> tensor<10xf32>
        %w_fc_2_b_0 = pd.get @fc_2.b_0 : tensor<10xf32>
        %v_fc_2_b_0 = pd.get @fc_2.b_0_velocity_0 : tensor<10xf32>
        %new_fc_2_b_0:2 = pd.momentum Grad(%mean_fc_2_b_0) LearningRate(%rate) Param(%w_fc_2_b_0) Velocity(%v_fc_2_b_0) -> ParamOut("fc_2.b_0") VelocityOut("fc_2.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<10xf32>, tensor<1xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>)
        pd.set @fc_2.b_0, %new_fc_2_b_0#0 : tensor<10xf32>
        pd.set @fc_2.b_0_velocity_0, %new_fc_2_b_0#1 : tensor<10xf32>
        %empty_fc_2_b_0 = pd.fill_constant -> Out("fc_2.b_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 10>, value = 0.000000e+00 : f32} : () -> tensor<10xf32>
        pd.set @fc_2.b_0.merged, %empty_fc_2_b_0 : tensor<10xf32>
        %all_fc_2_w_0 = pd.get @fc_2.w_0.merged : tensor<128x10xf32>
        %mean_fc_2_w_0 = pd.scale X(%all_fc_2_w_0) -> Out("fc_2.w_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} : (tensor<128x10xf32>) -> tensor<128x10xf32>
        %w_fc_2_w_0 = pd.get @fc_2.w_0 : tensor<128x10xf32>
        %v_fc_2_w_0 = pd.get @fc_2.w_0_velocity_0 : tensor<128x10xf32>
        %new_fc_2_w_0:2 = pd.momentum Grad(%mean_fc_2_w_0) LearningRate(%rate) Param(%w_fc_2_w_0) Velocity(%v_fc_2_w_0) -> ParamOut("fc_2.w_0") VelocityOut("fc_2.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<128x10xf32>, tensor<1xf32>, tensor<128x10xf32>, tensor<128x10xf32>) -> (tensor<128x10xf32>, tensor<128x10xf32>)
        pd.set @fc_2.w_0, %new_fc_2_w_0#0 : tensor<128x10xf32>
        pd.set @fc_2.w_0_velocity_0, %new_fc_2_w_0#1 : tensor<128x10xf32>
        %empty_fc_2_w_0 = pd.fill_constant -> Out("fc_2.w_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 128, 10>, value = 0.000000e+00 : f32} : () -> tensor<128x10xf32>
        pd.set @fc_2.w_0.merged, %empty_fc_2_w_0 : tensor<128x10xf32>
        pd.yield
      } : (tensor<1xi1>) -> !pd.tape
    }
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_2.b_0_velocity_0" tensor of float32 [10] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.w_0" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_1.w_0_velocity_0" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.w_0_velocity_0" tensor of float32 [128, 10] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.b_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.b_0_velocity_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_2.w_0" tensor of float32 [128, 10] {persistable = true}
      pd.decl "fc_2.b_0" tensor of float32 [10] {persistable = true}
      pd.decl "fc_0.w_0_velocity_0" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_0.b_0_velocity_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.b_0.merged" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.w_0.merged" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.b_0.merged" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.w_0.merged" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.b_0.merged" tensor of float32 [10] {persistable = true}
      pd.decl "fc_2.w_0.merged" tensor of float32 [128, 10] {persistable = true}
      pd.decl "merge_step" tensor of int64 [1] {persistable = true}
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 5.000000e-02 : f32} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<1xf32>
      %fc_2.w_0_velocity_0 = pd.fill_constant -> Out("fc_2.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128, 10>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0_velocity_0, %fc_2.w_0_velocity_0 : tensor<128x10xf32>
      %fc_2.b_0_velocity_0 = pd.fill_constant -> Out("fc_2.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<10xf32>
      pd.set @fc_2.b_0_velocity_0, %fc_2.b_0_velocity_0 : tensor<10xf32>
      %fc_1.w_0_velocity_0 = pd.fill_constant -> Out("fc_1.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128, 128>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<128x128xf32>
      pd.set @fc_1.w_0_velocity_0, %fc_1.w_0_velocity_0 : tensor<128x128xf32>
      %fc_1.b_0_velocity_0 = pd.fill_constant -> Out("fc_1.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<128xf32>
      pd.set @fc_1.b_0_velocity_0, %fc_1.b_0_velocity_0 : tensor<128xf32>
      %fc_0.w_0_velocity_0 = pd.fill_constant -> Out("fc_0.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 64, 128>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0_velocity_0, %fc_0.w_0_velocity_0 : tensor<64x128xf32>
      %fc_0.b_0_velocity_0 = pd.fill_constant -> Out("fc_0.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<128xf32>
      pd.set @fc_0.b_0_velocity_0, %fc_0.b_0_velocity_0 : tensor<128xf32>
      %fc_2.b_0 = pd.fill_constant -> Out("fc_2.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<10xf32>
      pd.set @fc_2.b_0, %fc_2.b_0 : tensor<10xf32>
      %fc_2.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_2.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.208514407 : f32, min = -0.208514407 : f32, seed = 20 : i32, shape = array<i64: 128, 10>} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0, %fc_2.w_0 : tensor<128x10xf32>
      %fc_1.b_0 = pd.fill_constant -> Out("fc_1.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<128xf32>
      pd.set @fc_1.b_0, %fc_1.b_0 : tensor<128xf32>
      %fc_1.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_1.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.153093114 : f32, min = -0.153093114 : f32, seed = 20 : i32, shape = array<i64: 128, 128>} : () -> tensor<128x128xf32>
      pd.set @fc_1.w_0, %fc_1.w_0 : tensor<128x128xf32>
      %fc_0.b_0 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<128xf32>
      pd.set @fc_0.b_0, %fc_0.b_0 : tensor<128xf32>
      %fc_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.176776692 : f32, min = -0.176776692 : f32, seed = 20 : i32, shape = array<i64: 64, 128>} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0, %fc_0.w_0 : tensor<64x128xf32>
      %empty_fc_0_b_0 = pd.fill_constant -> Out("fc_0.b_0.merged") {dtype = 5 : i32, shape = array<i64: 128>, value = 0.000000e+00 : f32} : () -> tensor<128xf32>
      pd.set @fc_0.b_0.merged, %empty_fc_0_b_0 : tensor<128xf32>
      %empty_fc_0_w_0 = pd.fill_constant -> Out("fc_0.w_0.merged") {dtype = 5 : i32, shape = array<i64: 64, 128>, value = 0.000000e+00 : f32} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0.merged, %empty_fc_0_w_0 : tensor<64x128xf32>
      %empty_fc_1_b_0 = pd.fill_constant -> Out("fc_1.b_0.merged") {dtype = 5 : i32, shape = array<i64: 128>, value = 0.000000e+00 : f32} : () -> tensor<128xf32>
      pd.set @fc_1.b_0.merged, %empty_fc_1_b_0 : tensor<128xf32>
      %empty_fc_1_w_0 = pd.fill_constant -> Out("fc_1.w_0.merged") {dtype = 5 : i32, shape = array<i64: 128, 128>, value = 0.000000e+00 : f32} : () -> tensor<128x128xf32>
      pd.set @fc_1.w_0.merged, %empty_fc_1_w_0 : tensor<128x128xf32>
      %empty_fc_2_b_0 = pd.fill_constant -> Out("fc_2.b_0.merged") {dtype = 5 : i32, shape = array<i64: 10>, value = 0.000000e+00 : f32} : () -> tensor<10xf32>
      pd.set @fc_2.b_0.merged, %empty_fc_2_b_0 : tensor<10xf32>
      %empty_fc_2_w_0 = pd.fill_constant -> Out("fc_2.w_0.merged") {dtype = 5 : i32, shape = array<i64: 128, 10>, value = 0.000000e+00 : f32} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0.merged, %empty_fc_2_w_0 : tensor<128x10xf32>
      %merge_step = pd.fill_constant -> Out("merge_step") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} : () -> tensor<1xi64>
      pd.set @merge_step, %merge_step : tensor<1xi64>
    }
  }

  dist.role @trainer on @world {
    pd.var @learning_rate_0 : tensor<1xf32> {dist.rel = #dist.rel<"learning_rate_0">}
    pd.var @fc_2.b_0_velocity_0 : tensor<10xf32> {dist.rel = #dist.rel<"fc_2.b_0_velocity_0">}
    pd.var @fc_1.w_0_velocity_0 : tensor<128x128xf32> {dist.rel = #dist.rel<"fc_1.w_0_velocity_0">}
    pd.var @fc_2.w_0_velocity_0 : tensor<128x10xf32> {dist.rel = #dist.rel<"fc_2.w_0_velocity_0">}
    pd.var @fc_2.b_0 : tensor<10xf32> {dist.rel = #dist.rel<"fc_2.b_0">, parameter}
    pd.var @fc_2.w_0 : tensor<128x10xf32> {dist.rel = #dist.rel<"fc_2.w_0">, parameter}
    pd.var @fc_0.w_0_velocity_0 : tensor<64x128xf32> {dist.rel = #dist.rel<"fc_0.w_0_velocity_0">}
    pd.var @fc_1.b_0 : tensor<128xf32> {dist.rel = #dist.rel<"fc_1.b_0">, parameter}
    pd.var @fc_0.b_0 : tensor<128xf32> {dist.rel = #dist.rel<"fc_0.b_0">, parameter}
    pd.var @fc_0.w_0 : tensor<64x128xf32> {dist.rel = #dist.rel<"fc_0.w_0">, parameter}
    pd.var @fc_1.w_0 : tensor<128x128xf32> {dist.rel = #dist.rel<"fc_1.w_0">, parameter}
    pd.var @fc_0.b_0_velocity_0 : tensor<128xf32> {dist.rel = #dist.rel<"fc_0.b_0_velocity_0">}
    pd.var @fc_1.b_0_velocity_0 : tensor<128xf32> {dist.rel = #dist.rel<"fc_1.b_0_velocity_0">}
    pd.var @fc_0.b_0.merged : tensor<128xf32> {dist.rel = #dist.rel<"fc_0.b_0.merged", dp: P(sum)>}
    pd.var @fc_0.w_0.merged : tensor<64x128xf32> {dist.rel = #dist.rel<"fc_0.w_0.merged", dp: P(sum)>}
    pd.var @fc_1.b_0.merged : tensor<128xf32> {dist.rel = #dist.rel<"fc_1.b_0.merged", dp: P(sum)>}
    pd.var @fc_1.w_0.merged : tensor<128x128xf32> {dist.rel = #dist.rel<"fc_1.w_0.merged", dp: P(sum)>}
    pd.var @fc_2.b_0.merged : tensor<10xf32> {dist.rel = #dist.rel<"fc_2.b_0.merged", dp: P(sum)>}
    pd.var @fc_2.w_0.merged : tensor<128x10xf32> {dist.rel = #dist.rel<"fc_2.w_0.merged", dp: P(sum)>}
    pd.var @merge_step : tensor<1xi64> {dist.rel = #dist.rel<"merge_step">}
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_2.b_0_velocity_0" tensor of float32 [10] {persistable = true}
      pd.decl "fc_1.w_0_velocity_0" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.w_0_velocity_0" tensor of float32 [128, 10] {persistable = true}
      pd.decl "cross_entropy2_0.tmp_2" tensor of float32 [-1, 1] {persistable = false}
      pd.decl "fc_2.tmp_2" tensor of float32 [-1, 10] lod 0 {persistable = false}
      pd.decl "cross_entropy2_0.tmp_1" tensor of float32 [-1, 10, 0] lod 0 {persistable = false}
      pd.decl "top_k_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_2.tmp_1" tensor of float32 [-1, 10] lod 0 {persistable = false}
      pd.decl "mean_0.tmp_0" tensor of float32 [1] {persistable = false}
      pd.decl "fc_0.tmp_0@GRAD" tensor of float32 [-1, 128] lod 0
      pd.decl "cross_entropy2_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_2.b_0" tensor of float32 [10] {persistable = true}
      pd.decl "fc_2.w_0" tensor of float32 [128, 10] {persistable = true}
      pd.decl "label" tensor of int64 [-1, 1] lod 0 {persistable = false}
      pd.decl "top_k_0.tmp_1" tensor of int64 [-1, 1] lod 0 {persistable = false}
      pd.decl "img" tensor of float32 [-1, 64] lod 0 {persistable = false}
      pd.decl "accuracy_0.tmp_0" tensor of float32 [1] lod 0 {persistable = false}
      pd.decl "fc_0.tmp_2@GRAD" tensor of float32 [-1, 128]
      pd.decl "fc_0.tmp_0" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "fc_0.w_0_velocity_0" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.b_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.tmp_1" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "fc_1.w_0" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.tmp_0@GRAD" tensor of float32 [-1, 10] lod 0
      pd.decl "fc_0.tmp_1@GRAD" tensor of float32 [-1, 128] lod 0
      pd.decl "fc_0.tmp_1" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [64, 128]
      pd.decl "fc_0.tmp_2" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "cross_entropy2_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "accuracy_0.tmp_1" tensor of int32 [1] {persistable = false}
      pd.decl "fc_1.tmp_0" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "accuracy_0.tmp_2" tensor of int32 [1] {persistable = false}
      pd.decl "mean_0.tmp_0@GRAD" tensor of float32 [1]
      pd.decl "fc_2.tmp_0" tensor of float32 [-1, 10] lod 0 {persistable = false}
      pd.decl "fc_2.tmp_2@GRAD" tensor of float32 [-1, 10] lod 0
      pd.decl "fc_2.tmp_1@GRAD" tensor of float32 [-1, 10]
      pd.decl "fc_2.b_0@GRAD" tensor of float32 [10] lod 0
      pd.decl "fc_1.tmp_2@GRAD" tensor of float32 [-1, 128]
      pd.decl "fc_2.w_0@GRAD" tensor of float32 [128, 10]
      pd.decl "fc_1.tmp_1@GRAD" tensor of float32 [-1, 128] lod 0
      pd.decl "fc_1.tmp_0@GRAD" tensor of float32 [-1, 128] lod 0
      pd.decl "fc_1.b_0@GRAD" tensor of float32 [128] lod 0
      pd.decl "fc_1.tmp_2" tensor of float32 [-1, 128] lod 0 {persistable = false}
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [128] lod 0
      pd.decl "fc_1.w_0@GRAD" tensor of float32 [128, 128]
      pd.decl "fc_0.b_0_velocity_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.b_0_velocity_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.b_0.merged" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.w_0.merged" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.b_0.merged" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.w_0.merged" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.b_0.merged" tensor of float32 [10] {persistable = true}
      pd.decl "fc_2.w_0.merged" tensor of float32 [128, 10] {persistable = true}
      pd.decl "merge_step" tensor of int64 [1] {persistable = true}
      pd.decl "merge_k" tensor of int64 [1] {persistable = false}
      pd.decl "merge_rest" tensor of int64 [1] {persistable = false}
      pd.decl "merge_none" tensor of int64 [1] {persistable = false}
      pd.decl "merge_due" tensor of bool [1] {persistable = false}
      pd.decl "merge_scope" tape
      %img = pd.input "img" {dist.batch = #dist.batch<0: dp>} : tensor<?x64xf32>
      %label = pd.input "label" {dist.batch = #dist.batch<0: dp>} : tensor<?x1xi64>
      %fc_0.w_0 = pd.get @fc_0.w_0 : tensor<64x128xf32>
      %fc_0.tmp_0 = pd.mul X(%img) Y(%fc_0.w_0) -> Out("fc_0.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 0 : i64} : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
      %fc_0.b_0 = pd.get @fc_0.b_0 : tensor<128xf32>
      %fc_0.tmp_1 = pd.elementwise_add X(%fc_0.tmp_0) Y(%fc_0.b_0) -> Out("fc_0.tmp_1") {axis = 1 : i32} with {dist.src = 1 : i64} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %fc_0.tmp_2 = pd.relu X(%fc_0.tmp_1) -> Out("fc_0.tmp_2") with {dist.src = 2 : i64} : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %fc_1.w_0 = pd.get @fc_1.w_0 : tensor<128x128xf32>
      %fc_1.tmp_0 = pd.mul X(%fc_0.tmp_2) Y(%fc_1.w_0) -> Out("fc_1.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 3 : i64} : (tensor<?x128xf32>, tensor<128x128xf32>) -> tensor<?x128xf32>
      %fc_1.b_0 = pd.get @fc_1.b_0 : tensor<128xf32>
      %fc_1.tmp_1 = pd.elementwise_add X(%fc_1.tmp_0) Y(%fc_1.b_0) -> Out("fc_1.tmp_1") {axis = 1 : i32} with {dist.src = 4 : i64} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %fc_1.tmp_2 = pd.relu X(%fc_1.tmp_1) -> Out("fc_1.tmp_2") with {dist.src = 5 : i64} : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %fc_2.w_0 = pd.get @fc_2.w_0 : tensor<128x10xf32>
      %fc_2.tmp_0 = pd.mul X(%fc_1.tmp_2) Y(%fc_2.w_0) -> Out("fc_2.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 6 : i64} : (tensor<?x128xf32>, tensor<128x10xf32>) -> tensor<?x10xf32>
      %fc_2.b_0 = pd.get @fc_2.b_0 : tensor<10xf32>
      %fc_2.tmp_1 = pd.elementwise_add X(%fc_2.tmp_0) Y(%fc_2.b_0) -> Out("fc_2.tmp_1") {axis = 1 : i32} with {dist.src = 7 : i64} : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
      %fc_2.tmp_2 = pd.softmax X(%fc_2.tmp_1) -> Out("fc_2.tmp_2") {axis = -1 : i32, data_format = "AnyLayout", is_test = false} with {dist.src = 8 : i64} : (tensor<?x10xf32>) -> tensor<?x10xf32>
      %cross_entropy2:3 = pd.cross_entropy2 Label(%label) X(%fc_2.tmp_2) -> MatchX("cross_entropy2_0.tmp_2") XShape("cross_entropy2_0.tmp_1") Y("cross_entropy2_0.tmp_0") {ignore_index = -100 : i32} with {dist.src = 9 : i64} : (tensor<?x1xi64>, tensor<?x10xf32>) -> (tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>)
      %mean_0.tmp_0 = pd.mean X(%cross_entropy2#2) -> Out("mean_0.tmp_0") {op_role = 256 : i32} with {dist.src = 10 : i64} : (tensor<?x1xf32>) -> tensor<1xf32>
      %top_k:2 = pd.top_k K() X(%fc_2.tmp_2) -> Indices("top_k_0.tmp_1") Out("top_k_0.tmp_0") {k = 1 : i32} with {dist.src = 11 : i64} : (tensor<?x10xf32>) -> (tensor<?x1xi64>, tensor<?x1xf32>)
      %accuracy:3 = pd.accuracy Indices(%top_k#0) Label(%label) Out(%top_k#1) -> Accuracy("accuracy_0.tmp_0") Correct("accuracy_0.tmp_1") Total("accuracy_0.tmp_2") with {dist.src = 12 : i64} : (tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
      %mean_0.tmp_0.grad = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} with {dist.src = 13 : i64} : () -> tensor<1xf32>
      %mean_0.tmp_0.grad.2 = pd.scale X(%mean_0.tmp_0.grad) -> Out("mean_0.tmp_0@GRAD") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 1 : i32, scale = 5.000000e-01 : f32} : (tensor<1xf32>) -> tensor<1xf32>
      %cross_entropy2_0.tmp_0.grad = pd.mean_grad "Out@GRAD"(%mean_0.tmp_0.grad.2) X(%cross_entropy2#2) -> "X@GRAD"("cross_entropy2_0.tmp_0@GRAD") {op_role = 1 : i32} with {dist.src = 14 : i64} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %fc_2.tmp_2.grad = pd.cross_entropy_grad2 Label(%label) MatchX(%cross_entropy2#0) XShape(%cross_entropy2#1) "Y@GRAD"(%cross_entropy2_0.tmp_0.grad) -> "X@GRAD"("fc_2.tmp_2@GRAD") {ignore_index = -100 : i32, op_role = 1 : i32} with {dist.src = 15 : i64} : (tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>) -> tensor<?x10xf32>
      %fc_2.tmp_1.grad = pd.softmax_grad Out(%fc_2.tmp_2) "Out@GRAD"(%fc_2.tmp_2.grad) -> "X@GRAD"("fc_2.tmp_1@GRAD") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_role = 1 : i32} with {dist.src = 16 : i64} : (tensor<?x10xf32>, tensor<?x10xf32>) -> tensor<?x10xf32>
      %elementwise_add_grad:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_2.tmp_1.grad) X(%fc_2.tmp_0) Y(%fc_2.b_0) -> "X@GRAD"("fc_2.tmp_0@GRAD") "Y@GRAD"("fc_2.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} with {dist.src = 17 : i64} : (tensor<?x10xf32>, tensor<?x10xf32>, tensor<10xf32>) -> (tensor<?x10xf32>, tensor<10xf32>)
      %mul_grad:2 = pd.mul_grad "Out@GRAD"(%elementwise_add_grad#0) X(%fc_1.tmp_2) Y(%fc_2.w_0) -> "X@GRAD"("fc_1.tmp_2@GRAD") "Y@GRAD"("fc_2.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 18 : i64} : (tensor<?x10xf32>, tensor<?x128xf32>, tensor<128x10xf32>) -> (tensor<?x128xf32>, tensor<128x10xf32>)
      %fc_1.tmp_1.grad = pd.relu_grad Out(%fc_1.tmp_2) "Out@GRAD"(%mul_grad#0) -> "X@GRAD"("fc_1.tmp_1@GRAD") {op_role = 1 : i32} with {dist.src = 19 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %elementwise_add_grad.2:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_1.tmp_1.grad) X(%fc_1.tmp_0) Y(%fc_1.b_0) -> "X@GRAD"("fc_1.tmp_0@GRAD") "Y@GRAD"("fc_1.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} with {dist.src = 20 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %mul_grad.2:2 = pd.mul_grad "Out@GRAD"(%elementwise_add_grad.2#0) X(%fc_0.tmp_2) Y(%fc_1.w_0) -> "X@GRAD"("fc_0.tmp_2@GRAD") "Y@GRAD"("fc_1.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 21 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128x128xf32>) -> (tensor<?x128xf32>, tensor<128x128xf32>)
      %fc_0.tmp_1.grad = pd.relu_grad Out(%fc_0.tmp_2) "Out@GRAD"(%mul_grad.2#0) -> "X@GRAD"("fc_0.tmp_1@GRAD") {op_role = 1 : i32} with {dist.src = 22 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %elementwise_add_grad.3:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_0.tmp_1.grad) X(%fc_0.tmp_0) Y(%fc_0.b_0) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} with {dist.src = 23 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %fc_0.w_0.grad = pd.mul_grad "Out@GRAD"(%elementwise_add_grad.3#0) X(%img) Y(%fc_0.w_0) -> "X@GRAD"() "Y@GRAD"("fc_0.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 24 : i64} : (tensor<?x128xf32>, tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
      // The gradients of this run are added to what the earlier ones of the round have given.
      %old_fc_0_b_0 = pd.get @fc_0.b_0.merged : tensor<128xf32>
      %sum_fc_0_b_0 = pd.sum X(%old_fc_0_b_0, %elementwise_add_grad.3#1) -> Out("fc_0.b_0.merged") {op_role = 1 : i32} with {dist.src = 25 : i64} : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
      pd.set @fc_0.b_0.merged, %sum_fc_0_b_0 : tensor<128xf32>
      %old_fc_0_w_0 = pd.get @fc_0.w_0.merged : tensor<64x128xf32>
      %sum_fc_0_w_0 = pd.sum X(%old_fc_0_w_0, %fc_0.w_0.grad) -> Out("fc_0.w_0.merged") {op_role = 1 : i32} with {dist.src = 26 : i64} : (tensor<64x128xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
      pd.set @fc_0.w_0.merged, %sum_fc_0_w_0 : tensor<64x128xf32>
      %old_fc_1_b_0 = pd.get @fc_1.b_0.merged : tensor<128xf32>
      %sum_fc_1_b_0 = pd.sum X(%old_fc_1_b_0, %elementwise_add_grad.2#1) -> Out("fc_1.b_0.merged") {op_role = 1 : i32} with {dist.src = 27 : i64} : (tensor<128xf32>, tensor<128xf32>) -> tensor<128xf32>
      pd.set @fc_1.b_0.merged, %sum_fc_1_b_0 : tensor<128xf32>
      %old_fc_1_w_0 = pd.get @fc_1.w_0.merged : tensor<128x128xf32>
      %sum_fc_1_w_0 = pd.sum X(%old_fc_1_w_0, %mul_grad.2#1) -> Out("fc_1.w_0.merged") {op_role = 1 : i32} with {dist.src = 28 : i64} : (tensor<128x128xf32>, tensor<128x128xf32>) -> tensor<128x128xf32>
      pd.set @fc_1.w_0.merged, %sum_fc_1_w_0 : tensor<128x128xf32>
      %old_fc_2_b_0 = pd.get @fc_2.b_0.merged : tensor<10xf32>
      %sum_fc_2_b_0 = pd.sum X(%old_fc_2_b_0, %elementwise_add_grad#1) -> Out("fc_2.b_0.merged") {op_role = 1 : i32} with {dist.src = 29 : i64} : (tensor<10xf32>, tensor<10xf32>) -> tensor<10xf32>
      pd.set @fc_2.b_0.merged, %sum_fc_2_b_0 : tensor<10xf32>
      %old_fc_2_w_0 = pd.get @fc_2.w_0.merged : tensor<128x10xf32>
      %sum_fc_2_w_0 = pd.sum X(%old_fc_2_w_0, %mul_grad#1) -> Out("fc_2.w_0.merged") {op_role = 1 : i32} with {dist.src = 30 : i64} : (tensor<128x10xf32>, tensor<128x10xf32>) -> tensor<128x10xf32>
      pd.set @fc_2.w_0.merged, %sum_fc_2_w_0 : tensor<128x10xf32>
      // Every 4th run ends a round.
      %step = pd.get @merge_step : tensor<1xi64>
      %next = pd.increment X(%step) -> Out("merge_step") {op_role = 2 : i32, step = 1.000000e+00 : f32} with {dist.src = 31 : i64} : (tensor<1xi64>) -> tensor<1xi64>
      pd.set @merge_step, %next : tensor<1xi64>
      %k = pd.fill_constant -> Out("merge_k") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 4.000000e+00 : f32} with {dist.src = 32 : i64} : () -> tensor<1xi64>
      %rest = pd.elementwise_mod X(%next) Y(%k) -> Out("merge_rest") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 33 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
      %none = pd.fill_constant -> Out("merge_none") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} with {dist.src = 34 : i64} : () -> tensor<1xi64>
      %due = pd.equal X(%rest) Y(%none) -> Out("merge_due") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 35 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
      // All ranks count alike, so that all of them come here or none: communication is legal in
      // this branch, and the ranks exchange a 4th of the bytes.
      %scope = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("merge_scope") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
        pd.decl "fc_0.b_0.mean" tensor of float32 [128] {persistable = false}
        pd.decl "fc_0.w_0.mean" tensor of float32 [64, 128] {persistable = false}
        pd.decl "fc_1.b_0.mean" tensor of float32 [128] {persistable = false}
        pd.decl "fc_1.w_0.mean" tensor of float32 [128, 128] {persistable = false}
        pd.decl "fc_2.b_0.mean" tensor of float32 [10] {persistable = false}
        pd.decl "fc_2.w_0.mean" tensor of float32 [128, 10] {persistable = false}
        %own_fc_0_b_0 = pd.get @fc_0.b_0.merged : tensor<128xf32>
        %own_fc_0_w_0 = pd.get @fc_0.w_0.merged : tensor<64x128xf32>
        %own_fc_1_b_0 = pd.get @fc_1.b_0.merged : tensor<128xf32>
        %own_fc_1_w_0 = pd.get @fc_1.w_0.merged : tensor<128x128xf32>
        %own_fc_2_b_0 = pd.get @fc_2.b_0.merged : tensor<10xf32>
        %own_fc_2_w_0 = pd.get @fc_2.w_0.merged : tensor<128x10xf32>
        %all:6 = dist.all_reduce sum (%own_fc_0_b_0, %own_fc_0_w_0, %own_fc_1_b_0, %own_fc_1_w_0, %own_fc_2_b_0, %own_fc_2_w_0) on @gradients : (tensor<128xf32>, tensor<64x128xf32>, tensor<128xf32>, tensor<128x128xf32>, tensor<10xf32>, tensor<128x10xf32>) -> (tensor<128xf32>, tensor<64x128xf32>, tensor<128xf32>, tensor<128x128xf32>, tensor<10xf32>, tensor<128x10xf32>)
        %rate = pd.get @learning_rate_0 : tensor<1xf32>
        %mean_fc_0_b_0 = pd.scale X(%all#0) -> Out("fc_0.b_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} with {dist.src = 37 : i64} : (tensor<128xf32>) -> tensor<128xf32>
        %w_fc_0_b_0 = pd.get @fc_0.b_0 : tensor<128xf32>
        %v_fc_0_b_0 = pd.get @fc_0.b_0_velocity_0 : tensor<128xf32>
        %new_fc_0_b_0:2 = pd.momentum Grad(%mean_fc_0_b_0) LearningRate(%rate) Param(%w_fc_0_b_0) Velocity(%v_fc_0_b_0) -> ParamOut("fc_0.b_0") VelocityOut("fc_0.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 38 : i64} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
        pd.set @fc_0.b_0, %new_fc_0_b_0#0 : tensor<128xf32>
        pd.set @fc_0.b_0_velocity_0, %new_fc_0_b_0#1 : tensor<128xf32>
        %empty_fc_0_b_0 = pd.fill_constant -> Out("fc_0.b_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 128>, value = 0.000000e+00 : f32} with {dist.src = 39 : i64} : () -> tensor<128xf32>
        pd.set @fc_0.b_0.merged, %empty_fc_0_b_0 : tensor<128xf32>
        %mean_fc_0_w_0 = pd.scale X(%all#1) -> Out("fc_0.w_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} with {dist.src = 40 : i64} : (tensor<64x128xf32>) -> tensor<64x128xf32>
        %w_fc_0_w_0 = pd.get @fc_0.w_0 : tensor<64x128xf32>
        %v_fc_0_w_0 = pd.get @fc_0.w_0_velocity_0 : tensor<64x128xf32>
        %new_fc_0_w_0:2 = pd.momentum Grad(%mean_fc_0_w_0) LearningRate(%rate) Param(%w_fc_0_w_0) Velocity(%v_fc_0_w_0) -> ParamOut("fc_0.w_0") VelocityOut("fc_0.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 41 : i64} : (tensor<64x128xf32>, tensor<1xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
        pd.set @fc_0.w_0, %new_fc_0_w_0#0 : tensor<64x128xf32>
        pd.set @fc_0.w_0_velocity_0, %new_fc_0_w_0#1 : tensor<64x128xf32>
        %empty_fc_0_w_0 = pd.fill_constant -> Out("fc_0.w_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 64, 128>, value = 0.000000e+00 : f32} with {dist.src = 42 : i64} : () -> tensor<64x128xf32>
        pd.set @fc_0.w_0.merged, %empty_fc_0_w_0 : tensor<64x128xf32>
        %mean_fc_1_b_0 = pd.scale X(%all#2) -> Out("fc_1.b_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} with {dist.src = 43 : i64} : (tensor<128xf32>) -> tensor<128xf32>
        %w_fc_1_b_0 = pd.get @fc_1.b_0 : tensor<128xf32>
        %v_fc_1_b_0 = pd.get @fc_1.b_0_velocity_0 : tensor<128xf32>
        %new_fc_1_b_0:2 = pd.momentum Grad(%mean_fc_1_b_0) LearningRate(%rate) Param(%w_fc_1_b_0) Velocity(%v_fc_1_b_0) -> ParamOut("fc_1.b_0") VelocityOut("fc_1.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 44 : i64} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
        pd.set @fc_1.b_0, %new_fc_1_b_0#0 : tensor<128xf32>
        pd.set @fc_1.b_0_velocity_0, %new_fc_1_b_0#1 : tensor<128xf32>
        %empty_fc_1_b_0 = pd.fill_constant -> Out("fc_1.b_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 128>, value = 0.000000e+00 : f32} with {dist.src = 45 : i64} : () -> tensor<128xf32>
        pd.set @fc_1.b_0.merged, %empty_fc_1_b_0 : tensor<128xf32>
        %mean_fc_1_w_0 = pd.scale X(%all#3) -> Out("fc_1.w_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} with {dist.src = 46 : i64} : (tensor<128x128xf32>) -> tensor<128x128xf32>
        %w_fc_1_w_0 = pd.get @fc_1.w_0 : tensor<128x128xf32>
        %v_fc_1_w_0 = pd.get @fc_1.w_0_velocity_0 : tensor<128x128xf32>
        %new_fc_1_w_0:2 = pd.momentum Grad(%mean_fc_1_w_0) LearningRate(%rate) Param(%w_fc_1_w_0) Velocity(%v_fc_1_w_0) -> ParamOut("fc_1.w_0") VelocityOut("fc_1.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 47 : i64} : (tensor<128x128xf32>, tensor<1xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>)
        pd.set @fc_1.w_0, %new_fc_1_w_0#0 : tensor<128x128xf32>
        pd.set @fc_1.w_0_velocity_0, %new_fc_1_w_0#1 : tensor<128x128xf32>
        %empty_fc_1_w_0 = pd.fill_constant -> Out("fc_1.w_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 128, 128>, value = 0.000000e+00 : f32} with {dist.src = 48 : i64} : () -> tensor<128x128xf32>
        pd.set @fc_1.w_0.merged, %empty_fc_1_w_0 : tensor<128x128xf32>
        %mean_fc_2_b_0 = pd.scale X(%all#4) -> Out("fc_2.b_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} with {dist.src = 49 : i64} : (tensor<10xf32>) -> tensor<10xf32>
        %w_fc_2_b_0 = pd.get @fc_2.b_0 : tensor<10xf32>
        %v_fc_2_b_0 = pd.get @fc_2.b_0_velocity_0 : tensor<10xf32>
        %new_fc_2_b_0:2 = pd.momentum Grad(%mean_fc_2_b_0) LearningRate(%rate) Param(%w_fc_2_b_0) Velocity(%v_fc_2_b_0) -> ParamOut("fc_2.b_0") VelocityOut("fc_2.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 50 : i64} : (tensor<10xf32>, tensor<1xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>)
        pd.set @fc_2.b_0, %new_fc_2_b_0#0 : tensor<10xf32>
        pd.set @fc_2.b_0_velocity_0, %new_fc_2_b_0#1 : tensor<10xf32>
        %empty_fc_2_b_0 = pd.fill_constant -> Out("fc_2.b_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 10>, value = 0.000000e+00 : f32} with {dist.src = 51 : i64} : () -> tensor<10xf32>
        pd.set @fc_2.b_0.merged, %empty_fc_2_b_0 : tensor<10xf32>
        %mean_fc_2_w_0 = pd.scale X(%all#5) -> Out("fc_2.w_0.mean") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 2.500000e-01 : f32} with {dist.src = 52 : i64} : (tensor<128x10xf32>) -> tensor<128x10xf32>
        %w_fc_2_w_0 = pd.get @fc_2.w_0 : tensor<128x10xf32>
        %v_fc_2_w_0 = pd.get @fc_2.w_0_velocity_0 : tensor<128x10xf32>
        %new_fc_2_w_0:2 = pd.momentum Grad(%mean_fc_2_w_0) LearningRate(%rate) Param(%w_fc_2_w_0) Velocity(%v_fc_2_w_0) -> ParamOut("fc_2.w_0") VelocityOut("fc_2.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 53 : i64} : (tensor<128x10xf32>, tensor<1xf32>, tensor<128x10xf32>, tensor<128x10xf32>) -> (tensor<128x10xf32>, tensor<128x10xf32>)
        pd.set @fc_2.w_0, %new_fc_2_w_0#0 : tensor<128x10xf32>
        pd.set @fc_2.w_0_velocity_0, %new_fc_2_w_0#1 : tensor<128x10xf32>
        %empty_fc_2_w_0 = pd.fill_constant -> Out("fc_2.w_0.merged") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 128, 10>, value = 0.000000e+00 : f32} with {dist.src = 54 : i64} : () -> tensor<128x10xf32>
        pd.set @fc_2.w_0.merged, %empty_fc_2_w_0 : tensor<128x10xf32>
        pd.yield
      } with {dist.src = 36 : i64} : (tensor<1xi1>) -> !pd.tape
    }
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_2.b_0_velocity_0" tensor of float32 [10] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.w_0" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_1.w_0_velocity_0" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.w_0_velocity_0" tensor of float32 [128, 10] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.b_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.b_0_velocity_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_2.w_0" tensor of float32 [128, 10] {persistable = true}
      pd.decl "fc_2.b_0" tensor of float32 [10] {persistable = true}
      pd.decl "fc_0.w_0_velocity_0" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_0.b_0_velocity_0" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.b_0.merged" tensor of float32 [128] {persistable = true}
      pd.decl "fc_0.w_0.merged" tensor of float32 [64, 128] {persistable = true}
      pd.decl "fc_1.b_0.merged" tensor of float32 [128] {persistable = true}
      pd.decl "fc_1.w_0.merged" tensor of float32 [128, 128] {persistable = true}
      pd.decl "fc_2.b_0.merged" tensor of float32 [10] {persistable = true}
      pd.decl "fc_2.w_0.merged" tensor of float32 [128, 10] {persistable = true}
      pd.decl "merge_step" tensor of int64 [1] {persistable = true}
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 5.000000e-02 : f32} with {dist.src = 0 : i64} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<1xf32>
      %fc_2.w_0_velocity_0 = pd.fill_constant -> Out("fc_2.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128, 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 1 : i64} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0_velocity_0, %fc_2.w_0_velocity_0 : tensor<128x10xf32>
      %fc_2.b_0_velocity_0 = pd.fill_constant -> Out("fc_2.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 2 : i64} : () -> tensor<10xf32>
      pd.set @fc_2.b_0_velocity_0, %fc_2.b_0_velocity_0 : tensor<10xf32>
      %fc_1.w_0_velocity_0 = pd.fill_constant -> Out("fc_1.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128, 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 3 : i64} : () -> tensor<128x128xf32>
      pd.set @fc_1.w_0_velocity_0, %fc_1.w_0_velocity_0 : tensor<128x128xf32>
      %fc_1.b_0_velocity_0 = pd.fill_constant -> Out("fc_1.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 4 : i64} : () -> tensor<128xf32>
      pd.set @fc_1.b_0_velocity_0, %fc_1.b_0_velocity_0 : tensor<128xf32>
      %fc_0.w_0_velocity_0 = pd.fill_constant -> Out("fc_0.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 64, 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 5 : i64} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0_velocity_0, %fc_0.w_0_velocity_0 : tensor<64x128xf32>
      %fc_0.b_0_velocity_0 = pd.fill_constant -> Out("fc_0.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 6 : i64} : () -> tensor<128xf32>
      pd.set @fc_0.b_0_velocity_0, %fc_0.b_0_velocity_0 : tensor<128xf32>
      %fc_2.b_0 = pd.fill_constant -> Out("fc_2.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 7 : i64} : () -> tensor<10xf32>
      pd.set @fc_2.b_0, %fc_2.b_0 : tensor<10xf32>
      %fc_2.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_2.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.208514407 : f32, min = -0.208514407 : f32, seed = 20 : i32, shape = array<i64: 128, 10>} with {dist.src = 8 : i64} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0, %fc_2.w_0 : tensor<128x10xf32>
      %fc_1.b_0 = pd.fill_constant -> Out("fc_1.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 9 : i64} : () -> tensor<128xf32>
      pd.set @fc_1.b_0, %fc_1.b_0 : tensor<128xf32>
      %fc_1.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_1.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.153093114 : f32, min = -0.153093114 : f32, seed = 20 : i32, shape = array<i64: 128, 128>} with {dist.src = 10 : i64} : () -> tensor<128x128xf32>
      pd.set @fc_1.w_0, %fc_1.w_0 : tensor<128x128xf32>
      %fc_0.b_0 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 11 : i64} : () -> tensor<128xf32>
      pd.set @fc_0.b_0, %fc_0.b_0 : tensor<128xf32>
      %fc_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.176776692 : f32, min = -0.176776692 : f32, seed = 20 : i32, shape = array<i64: 64, 128>} with {dist.src = 12 : i64} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0, %fc_0.w_0 : tensor<64x128xf32>
      %empty_fc_0_b_0 = pd.fill_constant -> Out("fc_0.b_0.merged") {dtype = 5 : i32, shape = array<i64: 128>, value = 0.000000e+00 : f32} with {dist.src = 13 : i64} : () -> tensor<128xf32>
      pd.set @fc_0.b_0.merged, %empty_fc_0_b_0 : tensor<128xf32>
      %empty_fc_0_w_0 = pd.fill_constant -> Out("fc_0.w_0.merged") {dtype = 5 : i32, shape = array<i64: 64, 128>, value = 0.000000e+00 : f32} with {dist.src = 14 : i64} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0.merged, %empty_fc_0_w_0 : tensor<64x128xf32>
      %empty_fc_1_b_0 = pd.fill_constant -> Out("fc_1.b_0.merged") {dtype = 5 : i32, shape = array<i64: 128>, value = 0.000000e+00 : f32} with {dist.src = 15 : i64} : () -> tensor<128xf32>
      pd.set @fc_1.b_0.merged, %empty_fc_1_b_0 : tensor<128xf32>
      %empty_fc_1_w_0 = pd.fill_constant -> Out("fc_1.w_0.merged") {dtype = 5 : i32, shape = array<i64: 128, 128>, value = 0.000000e+00 : f32} with {dist.src = 16 : i64} : () -> tensor<128x128xf32>
      pd.set @fc_1.w_0.merged, %empty_fc_1_w_0 : tensor<128x128xf32>
      %empty_fc_2_b_0 = pd.fill_constant -> Out("fc_2.b_0.merged") {dtype = 5 : i32, shape = array<i64: 10>, value = 0.000000e+00 : f32} with {dist.src = 17 : i64} : () -> tensor<10xf32>
      pd.set @fc_2.b_0.merged, %empty_fc_2_b_0 : tensor<10xf32>
      %empty_fc_2_w_0 = pd.fill_constant -> Out("fc_2.w_0.merged") {dtype = 5 : i32, shape = array<i64: 128, 10>, value = 0.000000e+00 : f32} with {dist.src = 18 : i64} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0.merged, %empty_fc_2_w_0 : tensor<128x10xf32>
      %merge_step = pd.fill_constant -> Out("merge_step") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} with {dist.src = 19 : i64} : () -> tensor<1xi64>
      pd.set @merge_step, %merge_step : tensor<1xi64>
      %fc_2.w_0.2 = pd.get @fc_2.w_0 : tensor<128x10xf32>
      %fc_0.w_0.2 = pd.get @fc_0.w_0 : tensor<64x128xf32>
      %fc_1.w_0.2 = pd.get @fc_1.w_0 : tensor<128x128xf32>
      %broadcast..13.:3 = dist.broadcast(%fc_2.w_0.2, %fc_0.w_0.2, %fc_1.w_0.2) on @gradients from <dp = 0> : (tensor<128x10xf32>, tensor<64x128xf32>, tensor<128x128xf32>) -> (tensor<128x10xf32>, tensor<64x128xf32>, tensor<128x128xf32>)
      pd.set @fc_2.w_0, %broadcast..13.#0 : tensor<128x10xf32>
      pd.set @fc_0.w_0, %broadcast..13.#1 : tensor<64x128xf32>
      pd.set @fc_1.w_0, %broadcast..13.#2 : tensor<128x128xf32>
    }
  }
}
