// Geo-SGD: two trainers train on their halves of the batch by themselves; every fourth step a trainer
// pushes its share of how far it has come since the last exchange, which the server adds to what it
// has, and goes on from there with what the others have added:
//
//     m = (x - y) / N;  y += m;  push m;  z = pull;  x += z - y;  y = z
//
// x the trainer's parameter, y the server's as the trainer knows it, z the server's now. With one
// trainer z = y, and x is that of the single-device program. The contract `geo` says what differs
// from it with more.
module attributes {dist.contracts = [{tag = "geo", statement = "every trainer takes the steps of one device on its own share of each batch; every 4 steps it adds its share of how far it has come to what the servers have, and takes over what others have added", sites = ["fc_0.b_0", "fc_0.w_0"]}]} {
  dist.mesh @workers [dp = 2]
  dist.mesh @servers [ps = 1]
  dist.comm @ps on @workers over [dp] rpc @server

  // The single-device program.
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
      %learning_rate_0 = pd.get @learning_rate_0 : tensor<1xf32>
      %fc_0.b_0.2 = pd.sgd Grad(%elementwise_add_grad#1) LearningRate(%learning_rate_0) Param(%fc_0.b_0) -> ParamOut("fc_0.b_0") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      pd.set @fc_0.b_0, %fc_0.b_0.2 : tensor<1xf32>
      %fc_0.w_0.2 = pd.sgd Grad(%fc_0.w_0.grad) LearningRate(%learning_rate_0) Param(%fc_0.w_0) -> ParamOut("fc_0.w_0") {op_role = 2 : i32} : (tensor<10x1xf32>, tensor<1xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
      pd.set @fc_0.w_0, %fc_0.w_0.2 : tensor<10x1xf32>
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

  dist.role @trainer on @workers {
    // Each trainer's own, and what the server has as far as it knows.
    pd.var @fc_0.w_0 : tensor<10x1xf32> {parameter, dist.rel = #dist.rel<"fc_0.w_0">}
    pd.var @fc_0.b_0 : tensor<1xf32> {parameter, dist.rel = #dist.rel<"fc_0.b_0">}
    pd.var @learning_rate_0 : tensor<1xf32> {dist.rel = #dist.rel<"learning_rate_0">}
    pd.var @fc_0.w_0.server : tensor<10x1xf32> {dist.rel = #dist.rel<"fc_0.w_0">}
    pd.var @fc_0.b_0.server : tensor<1xf32> {dist.rel = #dist.rel<"fc_0.b_0">}
    pd.var @geo_step : tensor<1xi64>
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
      pd.decl "fc_0.w_0.server" tensor of float32 [10, 1] {persistable = true}
      pd.decl "fc_0.b_0.server" tensor of float32 [1] {persistable = true}
      pd.decl "geo_step" tensor of int64 [1] {persistable = true}
      pd.decl "geo_k" tensor of int64 [1] {persistable = false}
      pd.decl "geo_rest" tensor of int64 [1] {persistable = false}
      pd.decl "geo_none" tensor of int64 [1] {persistable = false}
      pd.decl "geo_due" tensor of bool [1] {persistable = false}
      pd.decl "geo_scope" tape
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
      %square_error_cost_0.tmp_1.grad = pd.mean_grad "Out@GRAD"(%mean_0.tmp_0.grad) X(%square_error_cost_0.tmp_1) -> "X@GRAD"("square_error_cost_0.tmp_1@GRAD") {op_role = 1 : i32} with {dist.src = 6 : i64} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %square_error_cost_0.tmp_0.grad = pd.square_grad "Out@GRAD"(%square_error_cost_0.tmp_1.grad) X(%square_error_cost_0.tmp_0) -> "X@GRAD"("square_error_cost_0.tmp_0@GRAD") {op_role = 1 : i32, use_cudnn = false, use_mkldnn = false} with {dist.src = 7 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %fc_0.tmp_1.grad = pd.elementwise_sub_grad "Out@GRAD"(%square_error_cost_0.tmp_0.grad) X(%fc_0.tmp_1) Y(%y) -> "X@GRAD"("fc_0.tmp_1@GRAD") "Y@GRAD"() {axis = -1 : i32, op_role = 1 : i32, use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 8 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %elementwise_add_grad:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_0.tmp_1.grad) X(%fc_0.tmp_0) Y(%fc_0.b_0) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 9 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>)
      %fc_0.w_0.grad = pd.mul_grad "Out@GRAD"(%elementwise_add_grad#0) X(%x) Y(%fc_0.w_0) -> "X@GRAD"() "Y@GRAD"("fc_0.w_0@GRAD") {force_fp32_output = false, op_role = 1 : i32, scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 10 : i64} : (tensor<?x1xf32>, tensor<?x10xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
      // The trainer's own step.
      %rate = pd.get @learning_rate_0 : tensor<1xf32>
      %own_b = pd.sgd Grad(%elementwise_add_grad#1) LearningRate(%rate) Param(%fc_0.b_0) -> ParamOut("fc_0.b_0") {op_role = 2 : i32} with {dist.src = 11 : i64} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      pd.set @fc_0.b_0, %own_b : tensor<1xf32>
      %own_w = pd.sgd Grad(%fc_0.w_0.grad) LearningRate(%rate) Param(%fc_0.w_0) -> ParamOut("fc_0.w_0") {op_role = 2 : i32} with {dist.src = 12 : i64} : (tensor<10x1xf32>, tensor<1xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
      pd.set @fc_0.w_0, %own_w : tensor<10x1xf32>
      // Every fourth step ends with an exchange.
      %step = pd.get @geo_step : tensor<1xi64>
      %next = pd.increment X(%step) -> Out("geo_step") {step = 1.000000e+00 : f32} : (tensor<1xi64>) -> tensor<1xi64>
      pd.set @geo_step, %next : tensor<1xi64>
      %k = pd.fill_constant -> Out("geo_k") {dtype = 3 : i32, shape = array<i64: 1>, value = 4.000000e+00 : f32} : () -> tensor<1xi64>
      %rest = pd.elementwise_mod X(%next) Y(%k) -> Out("geo_rest") {axis = -1 : i32} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
      %none = pd.fill_constant -> Out("geo_none") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} : () -> tensor<1xi64>
      %due = pd.equal X(%rest) Y(%none) -> Out("geo_due") {axis = -1 : i32} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi1>
      %scope = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("geo_scope") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
        pd.decl "fc_0.b_0.way" tensor of float32 [1] {persistable = false}
        pd.decl "fc_0.b_0.share" tensor of float32 [1] {persistable = false}
        pd.decl "fc_0.b_0.known" tensor of float32 [1] {persistable = false}
        pd.decl "fc_0.b_0.others" tensor of float32 [1] {persistable = false}
        pd.decl "fc_0.w_0.way" tensor of float32 [10, 1] {persistable = false}
        pd.decl "fc_0.w_0.share" tensor of float32 [10, 1] {persistable = false}
        pd.decl "fc_0.w_0.known" tensor of float32 [10, 1] {persistable = false}
        pd.decl "fc_0.w_0.others" tensor of float32 [10, 1] {persistable = false}
        %x_b = pd.get @fc_0.b_0 : tensor<1xf32>
        %y_b = pd.get @fc_0.b_0.server : tensor<1xf32>
        %way_b = pd.elementwise_sub X(%x_b) Y(%y_b) -> Out("fc_0.b_0.way") {axis = -1 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        %share_b = pd.scale X(%way_b) -> Out("fc_0.b_0.share") {bias = 0.000000e+00 : f32, bias_after_scale = true, scale = 5.000000e-01 : f32} : (tensor<1xf32>) -> tensor<1xf32>
        %known_b = pd.elementwise_add X(%y_b) Y(%share_b) -> Out("fc_0.b_0.known") {axis = -1 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        dist.push %share_b to @server::@fc_0.b_0 merge each on @ps : tensor<1xf32>
        %z_b = dist.pull @server::@fc_0.b_0 on @ps : tensor<1xf32>
        %others_b = pd.elementwise_sub X(%z_b) Y(%known_b) -> Out("fc_0.b_0.others") {axis = -1 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        %new_b = pd.elementwise_add X(%x_b) Y(%others_b) -> Out("fc_0.b_0") {axis = -1 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        pd.set @fc_0.b_0, %new_b : tensor<1xf32>
        pd.set @fc_0.b_0.server, %z_b : tensor<1xf32>
        %x_w = pd.get @fc_0.w_0 : tensor<10x1xf32>
        %y_w = pd.get @fc_0.w_0.server : tensor<10x1xf32>
        %way_w = pd.elementwise_sub X(%x_w) Y(%y_w) -> Out("fc_0.w_0.way") {axis = -1 : i32} : (tensor<10x1xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
        %share_w = pd.scale X(%way_w) -> Out("fc_0.w_0.share") {bias = 0.000000e+00 : f32, bias_after_scale = true, scale = 5.000000e-01 : f32} : (tensor<10x1xf32>) -> tensor<10x1xf32>
        %known_w = pd.elementwise_add X(%y_w) Y(%share_w) -> Out("fc_0.w_0.known") {axis = -1 : i32} : (tensor<10x1xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
        dist.push %share_w to @server::@fc_0.w_0 merge each on @ps : tensor<10x1xf32>
        %z_w = dist.pull @server::@fc_0.w_0 on @ps : tensor<10x1xf32>
        %others_w = pd.elementwise_sub X(%z_w) Y(%known_w) -> Out("fc_0.w_0.others") {axis = -1 : i32} : (tensor<10x1xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
        %new_w = pd.elementwise_add X(%x_w) Y(%others_w) -> Out("fc_0.w_0") {axis = -1 : i32} : (tensor<10x1xf32>, tensor<10x1xf32>) -> tensor<10x1xf32>
        pd.set @fc_0.w_0, %new_w : tensor<10x1xf32>
        pd.set @fc_0.w_0.server, %z_w : tensor<10x1xf32>
        pd.yield
      } : (tensor<1xi1>) -> !pd.tape
    }
    // Trainers start from what the server has drawn.
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      pd.decl "geo_step" tensor of int64 [1] {persistable = true}
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 2.000000e-02 : f32} with {dist.src = 0 : i64} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<1xf32>
      %begin = pd.fill_constant -> Out("geo_step") {dtype = 3 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} : () -> tensor<1xi64>
      pd.set @geo_step, %begin : tensor<1xi64>
      %b = dist.pull @server::@fc_0.b_0 on @ps : tensor<1xf32>
      pd.set @fc_0.b_0, %b : tensor<1xf32>
      pd.set @fc_0.b_0.server, %b : tensor<1xf32>
      %w = dist.pull @server::@fc_0.w_0 on @ps : tensor<10x1xf32>
      pd.set @fc_0.w_0, %w : tensor<10x1xf32>
      pd.set @fc_0.w_0.server, %w : tensor<10x1xf32>
    }
  }

  dist.role @server on @servers {
    pd.var @fc_0.w_0 : tensor<?x1xf32> {parameter, dist.rel = #dist.rel<"fc_0.w_0", ps: S(0, blocks(10, per 10, first 0))>}
    pd.var @fc_0.b_0 : tensor<?xf32> {parameter, dist.rel = #dist.rel<"fc_0.b_0", ps: S(0, blocks(1, per 1, first 0))>}
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [1] lod 0
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [10, 1]
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      dist.serve on @ps mode geo {
        // Adds what a trainer has come.
        dist.handle push @fc_0.b_0 (%from: tensor<1xi64>) {
          dist.foreach_block @fc_0.b_0 (%block) {
            %share = dist.merged @fc_0.b_0 : tensor<?xf32>
            %p = pd.get @fc_0.b_0 : tensor<?xf32>
            %new = pd.elementwise_add X(%p) Y(%share) -> Out("fc_0.b_0") {axis = -1 : i32} : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
            pd.set @fc_0.b_0, %new : tensor<?xf32>
            dist.yield
          }
          dist.yield
        }
        dist.handle push @fc_0.w_0 (%from: tensor<1xi64>) {
          dist.foreach_block @fc_0.w_0 (%block) {
            %share = dist.merged @fc_0.w_0 : tensor<?x1xf32>
            %p = pd.get @fc_0.w_0 : tensor<?x1xf32>
            %new = pd.elementwise_add X(%p) Y(%share) -> Out("fc_0.w_0") {axis = -1 : i32} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
            pd.set @fc_0.w_0, %new : tensor<?x1xf32>
            dist.yield
          }
          dist.yield
        }
      }
    }
    // The original initial values, of which every server keeps its blocks: any number of servers
    // starts from the parameters of the single-device program.
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      %fc_0.b_0 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 1 : i64} : () -> tensor<1xf32>
      %own_b = dist.slice %fc_0.b_0 dim 0 layout <blocks(1, per 1, first 0)> over [ps] : tensor<1xf32> -> tensor<?xf32>
      pd.set @fc_0.b_0, %own_b : tensor<?xf32>
      %fc_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.738548934 : f32, min = -0.738548934 : f32, seed = 20 : i32, shape = array<i64: 10, 1>} with {dist.src = 2 : i64} : () -> tensor<10x1xf32>
      %own_w = dist.slice %fc_0.w_0 dim 0 layout <blocks(10, per 10, first 0)> over [ps] : tensor<10x1xf32> -> tensor<?x1xf32>
      pd.set @fc_0.w_0, %own_w : tensor<?x1xf32>
    }
  }
}
