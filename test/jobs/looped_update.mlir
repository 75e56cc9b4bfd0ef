// An update in a loop: two turns, each of which adds the ranks' gradients together and takes half a
// step, so that one step of the job is one of the program without the loop. All ranks take as many
// turns, since they count alike; that is what makes the all_reduce in the loop legal (D26).
module {
  dist.mesh @world [dp = 2]
  dist.comm @gradients on @world over [dp] group {carries = "gradients"}

  // The single-device program, with the loop in it.
  module @source {
    pd.var @fc_0.w_0 : tensor<10x1xf32> {parameter}
    pd.var @fc_0.b_0 : tensor<1xf32> {parameter}
    pd.var @learning_rate_0 : tensor<1xf32>
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [1] lod 0
      pd.decl "square_error_cost_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "square_error_cost_0.tmp_1@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "x" tensor of float32 [-1, 10] lod 0 {persistable = false}
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      pd.decl "mean_0.tmp_0" tensor of float32 [1] {persistable = false}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [10, 1]
      pd.decl "y" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.tmp_1" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "square_error_cost_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "fc_0.tmp_1@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "square_error_cost_0.tmp_1" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "mean_0.tmp_0@GRAD" tensor of float32 [1]
      pd.decl "turn" tensor of int64 [1] {persistable = false}
      pd.decl "turns" tensor of int64 [1] {persistable = false}
      pd.decl "more" tensor of bool [1] {persistable = false}
      pd.decl "update_scopes" tape
      %x = pd.input "x" : tensor<?x10xf32>
      %y = pd.input "y" : tensor<?x1xf32>
      %fc_0.w_0 = pd.get @fc_0.w_0 : tensor<10x1xf32>
      %fc_0.tmp_0 = pd.mul X(%x) Y(%fc_0.w_0) -> Out("fc_0.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x10xf32>, tensor<10x1xf32>) -> tensor<?x1xf32>
      %fc_0.b_0 = pd.get @fc_0.b_0 : tensor<1xf32>
      %fc_0.tmp_1 = pd.elementwise_add X(%fc_0.tmp_0) Y(%fc_0.b_0) -> Out("fc_0.tmp_1") {axis = 1 : i32} : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
      %square_error_cost_0.tmp_0 = pd.elementwise_sub X(%fc_0.tmp_1) Y(%y) -> Out("square_error_cost_0.tmp_0") {axis = -1 : i32} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %square_error_cost_0.tmp_1 = pd.square X(%square_error_cost_0.tmp_0) -> Out("square_error_cost_0.tmp_1") : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %mean_0.tmp_0 = pd.mean X(%square_error_cost_0.tmp_1) -> Out("mean_0.tmp_0") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
      %mean_0.tmp_0.grad = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
      %square_error_cost_0.tmp_1.grad = pd.mean_grad "Out@GRAD"(%mean_0.tmp_0.grad) X(%square_error_cost_0.tmp_1) -> "X@GRAD"("square_error_cost_0.tmp_1@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %square_error_cost_0.tmp_0.grad = pd.square_grad "Out@GRAD"(%square_error_cost_0.tmp_1.grad) X(%square_error_cost_0.tmp_0) -> "X@GRAD"("square_error_cost_0.tmp_0@GRAD") {op_role = 1 : i32, use_cudnn = false, use_mkldnn = false} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %fc_0.tmp_1.grad = pd.elementwise_sub_grad "Out@GRAD"(%square_error_cost_0.tmp_0.grad) X(%fc_0.tmp_1) Y(%y) -> "X@GRAD"("fc_0.tmp_1@GRAD") "Y@GRAD"() {axis = -1 : i32, op_role = 1 : i32, use_mkldnn = false, x_data_format = "", y_data_format = ""} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %elementwise_add_grad:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_0.tmp_1.grad) X(%fc_0.tmp_0) Y(%fc_0.b_0) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, use_mkldnn = false, x_data_format = "", y_data_format = ""} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>)
      %fc_0.w_0.grad = pd.mul_grad "Out@GRAD"(%elementwise_add_grad#0) X(%x) Y(%fc_0.w_0) -> "X@GRAD"() "Y@GRAD"("fc_0.w_0@GRAD") {force_fp32_output = false, op_role = 1 : i32, scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x1xf32>, tensor<?x10xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
      %turn = pd.fill_constant -> Out("turn") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} : () -> tensor<1xi64>
      %turns = pd.fill_constant -> Out("turns") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 2.000000e+00 : f32} : () -> tensor<1xi64>
      %more = pd.less_than X(%turn) Y(%turns) -> Out("more") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
      %loop:3 = pd.while "$capture"(%elementwise_add_grad#1, %fc_0.w_0.grad, %turn, %turns, %more) Condition(%more) X(%elementwise_add_grad#1, %fc_0.w_0.grad, %turn, %turns) -> Out("turn", "more") StepScopes("update_scopes") {is_test = false, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = ["fc_0.b_0@GRAD", "fc_0.w_0@GRAD", "turn", "turns", "more"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = ["turn", "more"]}] {
      ^bb0(%grad_b: tensor<1xf32>, %grad_w: tensor<10x1xf32>, %now: tensor<1xi64>, %all_turns: tensor<1xi64>, %again: tensor<1xi1>):
        pd.decl "fc_0.b_0.share" tensor of float32 [1] {persistable = false}
        pd.decl "fc_0.w_0.share" tensor of float32 [10, 1] {persistable = false}
        %share_b = pd.scale X(%grad_b) -> Out("fc_0.b_0.share") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 5.000000e-01 : f32} : (tensor<1xf32>) -> tensor<1xf32>
        %rate = pd.get @learning_rate_0 : tensor<1xf32>
        %b = pd.get @fc_0.b_0 : tensor<1xf32>
        %new_b = pd.sgd Grad(%share_b) LearningRate(%rate) Param(%b) -> ParamOut("fc_0.b_0") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        pd.set @fc_0.b_0, %new_b : tensor<1xf32>
        %share_w = pd.scale X(%grad_w) -> Out("fc_0.w_0.share") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 5.000000e-01 : f32} : (tensor<10x1xf32>) -> tensor<10x1xf32>
        %w = pd.get @fc_0.w_0 : tensor<10x1xf32>
        %new_w = pd.sgd Grad(%share_w) LearningRate(%rate) Param(%w) -> ParamOut("fc_0.w_0") {op_role = 2 : i32} : (tensor<10x1xf32>, tensor<1xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
        pd.set @fc_0.w_0, %new_w : tensor<10x1xf32>
        %next = pd.scale X(%now) -> Out("turn") {bias = 1.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 1.000000e+00 : f32} : (tensor<1xi64>) -> tensor<1xi64>
        %left = pd.less_than X(%next) Y(%all_turns) -> Out("more") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
        pd.yield %next, %left : tensor<1xi64>, tensor<1xi1>
      } : (tensor<1xf32>, tensor<10x1xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi1>, tensor<1xi1>, tensor<1xf32>, tensor<10x1xf32>, tensor<1xi64>, tensor<1xi64>) -> (tensor<1xi64>, tensor<1xi1>, !pd.tape)
    }
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 2.000000e-02 : f32} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<1xf32>
      %fc_0.b_0 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<1xf32>
      pd.set @fc_0.b_0, %fc_0.b_0 : tensor<1xf32>
      %fc_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.738548934 : f32, min = -0.738548934 : f32, seed = 20 : i32, shape = array<i64: 10, 1>} : () -> tensor<10x1xf32>
      pd.set @fc_0.w_0, %fc_0.w_0 : tensor<10x1xf32>
    }
  }

  dist.role @trainer on @world {
    pd.var @learning_rate_0 : tensor<1xf32> {dist.rel = #dist.rel<"learning_rate_0">}
    pd.var @fc_0.w_0 : tensor<10x1xf32> {parameter, dist.rel = #dist.rel<"fc_0.w_0">}
    pd.var @fc_0.b_0 : tensor<1xf32> {parameter, dist.rel = #dist.rel<"fc_0.b_0">}
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [1] lod 0
      pd.decl "square_error_cost_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "square_error_cost_0.tmp_1@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "x" tensor of float32 [-1, 10] lod 0 {persistable = false}
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      pd.decl "mean_0.tmp_0" tensor of float32 [1] {persistable = false}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [10, 1]
      pd.decl "y" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.tmp_1" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "square_error_cost_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "fc_0.tmp_1@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "square_error_cost_0.tmp_1" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "mean_0.tmp_0@GRAD" tensor of float32 [1]
      pd.decl "turn" tensor of int64 [1] {persistable = false}
      pd.decl "turns" tensor of int64 [1] {persistable = false}
      pd.decl "more" tensor of bool [1] {persistable = false}
      pd.decl "update_scopes" tape
      %x = pd.input "x" {dist.batch = #dist.batch<0: dp>} : tensor<?x10xf32>
      %y = pd.input "y" {dist.batch = #dist.batch<0: dp>} : tensor<?x1xf32>
      %fc_0.w_0 = pd.get @fc_0.w_0 : tensor<10x1xf32>
      %fc_0.tmp_0 = pd.mul X(%x) Y(%fc_0.w_0) -> Out("fc_0.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 0 : i64} : (tensor<?x10xf32>, tensor<10x1xf32>) -> tensor<?x1xf32>
      %fc_0.b_0 = pd.get @fc_0.b_0 : tensor<1xf32>
      %fc_0.tmp_1 = pd.elementwise_add X(%fc_0.tmp_0) Y(%fc_0.b_0) -> Out("fc_0.tmp_1") {axis = 1 : i32} with {dist.src = 1 : i64} : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
      %square_error_cost_0.tmp_0 = pd.elementwise_sub X(%fc_0.tmp_1) Y(%y) -> Out("square_error_cost_0.tmp_0") {axis = -1 : i32} with {dist.src = 2 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %square_error_cost_0.tmp_1 = pd.square X(%square_error_cost_0.tmp_0) -> Out("square_error_cost_0.tmp_1") with {dist.src = 3 : i64} : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %mean_0.tmp_0 = pd.mean X(%square_error_cost_0.tmp_1) -> Out("mean_0.tmp_0") {op_role = 256 : i32} with {dist.src = 4 : i64} : (tensor<?x1xf32>) -> tensor<1xf32>
      %mean_0.tmp_0.grad = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} with {dist.src = 5 : i64} : () -> tensor<1xf32>
      // Each rank's loss is the mean over its half of the batch.
      %mean_0.tmp_0.grad.2 = pd.scale X(%mean_0.tmp_0.grad) -> Out("mean_0.tmp_0@GRAD") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 1 : i32, scale = 5.000000e-01 : f32} : (tensor<1xf32>) -> tensor<1xf32>
      %square_error_cost_0.tmp_1.grad = pd.mean_grad "Out@GRAD"(%mean_0.tmp_0.grad.2) X(%square_error_cost_0.tmp_1) -> "X@GRAD"("square_error_cost_0.tmp_1@GRAD") {op_role = 1 : i32} with {dist.src = 6 : i64} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %square_error_cost_0.tmp_0.grad = pd.square_grad "Out@GRAD"(%square_error_cost_0.tmp_1.grad) X(%square_error_cost_0.tmp_0) -> "X@GRAD"("square_error_cost_0.tmp_0@GRAD") {op_role = 1 : i32, use_cudnn = false, use_mkldnn = false} with {dist.src = 7 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %fc_0.tmp_1.grad = pd.elementwise_sub_grad "Out@GRAD"(%square_error_cost_0.tmp_0.grad) X(%fc_0.tmp_1) Y(%y) -> "X@GRAD"("fc_0.tmp_1@GRAD") "Y@GRAD"() {axis = -1 : i32, op_role = 1 : i32, use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 8 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %elementwise_add_grad:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_0.tmp_1.grad) X(%fc_0.tmp_0) Y(%fc_0.b_0) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 9 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>)
      %fc_0.w_0.grad = pd.mul_grad "Out@GRAD"(%elementwise_add_grad#0) X(%x) Y(%fc_0.w_0) -> "X@GRAD"() "Y@GRAD"("fc_0.w_0@GRAD") {force_fp32_output = false, op_role = 1 : i32, scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 10 : i64} : (tensor<?x1xf32>, tensor<?x10xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
      %turn = pd.fill_constant -> Out("turn") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} with {dist.src = 11 : i64} : () -> tensor<1xi64>
      %turns = pd.fill_constant -> Out("turns") {dtype = 3 : i32, op_role = 2 : i32, shape = array<i64: 1>, value = 2.000000e+00 : f32} with {dist.src = 12 : i64} : () -> tensor<1xi64>
      %more = pd.less_than X(%turn) Y(%turns) -> Out("more") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 13 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
      %loop:3 = pd.while "$capture"(%elementwise_add_grad#1, %fc_0.w_0.grad, %turn, %turns, %more) Condition(%more) X(%elementwise_add_grad#1, %fc_0.w_0.grad, %turn, %turns) -> Out("turn", "more") StepScopes("update_scopes") {is_test = false, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = ["fc_0.b_0@GRAD", "fc_0.w_0@GRAD", "turn", "turns", "more"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = ["turn", "more"]}] {
      ^bb0(%grad_b: tensor<1xf32>, %grad_w: tensor<10x1xf32>, %now: tensor<1xi64>, %all_turns: tensor<1xi64>, %again: tensor<1xi1>):
        pd.decl "fc_0.b_0.share" tensor of float32 [1] {persistable = false}
        pd.decl "fc_0.w_0.share" tensor of float32 [10, 1] {persistable = false}
        %all:2 = dist.all_reduce sum (%grad_b, %grad_w) on @gradients : (tensor<1xf32>, tensor<10x1xf32>) -> (tensor<1xf32>, tensor<10x1xf32>)
        %share_b = pd.scale X(%all#0) -> Out("fc_0.b_0.share") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 5.000000e-01 : f32} with {dist.src = 15 : i64} : (tensor<1xf32>) -> tensor<1xf32>
        %rate = pd.get @learning_rate_0 : tensor<1xf32>
        %b = pd.get @fc_0.b_0 : tensor<1xf32>
        %new_b = pd.sgd Grad(%share_b) LearningRate(%rate) Param(%b) -> ParamOut("fc_0.b_0") {op_role = 2 : i32} with {dist.src = 16 : i64} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        pd.set @fc_0.b_0, %new_b : tensor<1xf32>
        %share_w = pd.scale X(%all#1) -> Out("fc_0.w_0.share") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 5.000000e-01 : f32} with {dist.src = 17 : i64} : (tensor<10x1xf32>) -> tensor<10x1xf32>
        %w = pd.get @fc_0.w_0 : tensor<10x1xf32>
        %new_w = pd.sgd Grad(%share_w) LearningRate(%rate) Param(%w) -> ParamOut("fc_0.w_0") {op_role = 2 : i32} with {dist.src = 18 : i64} : (tensor<10x1xf32>, tensor<1xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
        pd.set @fc_0.w_0, %new_w : tensor<10x1xf32>
        %next = pd.scale X(%now) -> Out("turn") {bias = 1.000000e+00 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 1.000000e+00 : f32} with {dist.src = 19 : i64} : (tensor<1xi64>) -> tensor<1xi64>
        %left = pd.less_than X(%next) Y(%all_turns) -> Out("more") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 20 : i64} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
        pd.yield %next, %left : tensor<1xi64>, tensor<1xi1>
      } with {dist.src = 14 : i64} : (tensor<1xf32>, tensor<10x1xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi1>, tensor<1xi1>, tensor<1xf32>, tensor<10x1xf32>, tensor<1xi64>, tensor<1xi64>) -> (tensor<1xi64>, tensor<1xi1>, !pd.tape)
    }
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 2.000000e-02 : f32} with {dist.src = 0 : i64} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<1xf32>
      %fc_0.b_0 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 1 : i64} : () -> tensor<1xf32>
      pd.set @fc_0.b_0, %fc_0.b_0 : tensor<1xf32>
      %fc_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.738548934 : f32, min = -0.738548934 : f32, seed = 20 : i32, shape = array<i64: 10, 1>} with {dist.src = 2 : i64} : () -> tensor<10x1xf32>
      pd.set @fc_0.w_0, %fc_0.w_0 : tensor<10x1xf32>
      %drawn = pd.get @fc_0.w_0 : tensor<10x1xf32>
      %same = dist.broadcast (%drawn) on @gradients from <dp = 0> : (tensor<10x1xf32>) -> tensor<10x1xf32>
      pd.set @fc_0.w_0, %same : tensor<10x1xf32>
    }
  }
}
