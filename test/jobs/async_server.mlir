// An asynchronous parameter server: two trainers compute gradients on their halves of the batch and
// push them; the server applies every push by itself, as soon as it is there, and a pull gives what
// it has then, after the trainer's own pushes. Nobody waits for another trainer: a trainer's
// gradient may be of parameters that the other one has changed since (`staleness`, the contract of
// this job). With one trainer a step is one step of the single-device program.
//
// For one trainer change `dp`, for more servers `ps`, for blocks `per`.
module attributes {dist.contracts = [{tag = "staleness", statement = "every push is applied by itself, to what the servers have then", sites = ["fc_0.b_0", "fc_0.w_0"]}]} {
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
    // Copies of what the server holds, new after every pull.
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
      // Every push is one update, of the mean over this trainer's half.
      dist.push %elementwise_add_grad#1 to @server::@fc_0.b_0 merge each on @ps : tensor<1xf32>
      dist.push %fc_0.w_0.grad to @server::@fc_0.w_0 merge each on @ps : tensor<10x1xf32>
      %new_b = dist.pull @server::@fc_0.b_0 on @ps : tensor<1xf32>
      pd.set @fc_0.b_0, %new_b : tensor<1xf32>
      %new_w = dist.pull @server::@fc_0.w_0 on @ps : tensor<10x1xf32>
      pd.set @fc_0.w_0, %new_w : tensor<10x1xf32>
    }
    // Trainers start from what the server has drawn.
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      %b = dist.pull @server::@fc_0.b_0 on @ps : tensor<1xf32>
      pd.set @fc_0.b_0, %b : tensor<1xf32>
      %w = dist.pull @server::@fc_0.w_0 on @ps : tensor<10x1xf32>
      pd.set @fc_0.w_0, %w : tensor<10x1xf32>
    }
  }

  dist.role @server on @servers {
    pd.var @fc_0.w_0 : tensor<?x1xf32> {parameter, dist.rel = #dist.rel<"fc_0.w_0", ps: S(0, blocks(10, per 10, first 0))>}
    pd.var @fc_0.b_0 : tensor<?xf32> {parameter, dist.rel = #dist.rel<"fc_0.b_0", ps: S(0, blocks(1, per 1, first 0))>}
    pd.var @learning_rate_0 : tensor<1xf32> {dist.rel = #dist.rel<"learning_rate_0">}
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [1] lod 0
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [10, 1]
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      dist.serve on @ps mode async {
        // Runs once per push, on what that trainer has pushed for this server's blocks.
        dist.handle push @fc_0.b_0 (%from: tensor<1xi64>) {
          %rate = pd.get @learning_rate_0 : tensor<1xf32>
          dist.foreach_block @fc_0.b_0 (%block) {
            %g = dist.merged @fc_0.b_0 : tensor<?xf32>
            %p = pd.get @fc_0.b_0 : tensor<?xf32>
            %new = pd.sgd Grad(%g) LearningRate(%rate) Param(%p) -> ParamOut("fc_0.b_0") {op_role = 2 : i32} with {dist.src = 11 : i64} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
            pd.set @fc_0.b_0, %new : tensor<?xf32>
            dist.yield
          }
          dist.yield
        }
        dist.handle push @fc_0.w_0 (%from: tensor<1xi64>) {
          %rate = pd.get @learning_rate_0 : tensor<1xf32>
          dist.foreach_block @fc_0.w_0 (%block) {
            %g = dist.merged @fc_0.w_0 : tensor<?x1xf32>
            %p = pd.get @fc_0.w_0 : tensor<?x1xf32>
            %new = pd.sgd Grad(%g) LearningRate(%rate) Param(%p) -> ParamOut("fc_0.w_0") {op_role = 2 : i32} with {dist.src = 12 : i64} : (tensor<?x1xf32>, tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
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
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [10, 1] {persistable = true}
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 2.000000e-02 : f32} with {dist.src = 0 : i64} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<1xf32>
      %fc_0.b_0 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 1 : i64} : () -> tensor<1xf32>
      %own_b = dist.slice %fc_0.b_0 dim 0 layout <blocks(1, per 1, first 0)> over [ps] : tensor<1xf32> -> tensor<?xf32>
      pd.set @fc_0.b_0, %own_b : tensor<?xf32>
      %fc_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.738548934 : f32, min = -0.738548934 : f32, seed = 20 : i32, shape = array<i64: 10, 1>} with {dist.src = 2 : i64} : () -> tensor<10x1xf32>
      %own_w = dist.slice %fc_0.w_0 dim 0 layout <blocks(10, per 10, first 0)> over [ps] : tensor<10x1xf32> -> tensor<?x1xf32>
      pd.set @fc_0.w_0, %own_w : tensor<?x1xf32>
    }
  }
}
