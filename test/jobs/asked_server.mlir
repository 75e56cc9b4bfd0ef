// Programs that run when a server is asked (dist.handle pull, lookup). A round updates the table and
// the parameters as in sparse_table.mlir. What trainers are told of @fc_1.w_0 is another variable,
// @fc_1.w_0.told, which the handler of its pulls makes anew before every answer; the handler of
// lookups counts the requests that a server has had. A handler runs by itself, between the messages
// of other trainers: it sets its own variable, and such that nobody else asks for (D37).
//
// Two trainers pull in every step, so that the handler runs twice: what it sets has to be the same
// the second time. Which servers are asked for rows depends on the words: a handler of lookups
// leaves everything that stands for something of the reference as it is.
module {
  dist.mesh @world [dp = 2]
  dist.mesh @servers [ps = 2]
  dist.comm @rounds on @world over [dp] rpc @server {carries = "rounds"}
  dist.comm @servers_sum on @servers over [ps] group {carries = "sums of servers"}

  // The single-device program.
  module @source {
    pd.var @learning_rate_0 : tensor<1xf32>
    pd.var @fc_1.b_0 : tensor<600xf32> {parameter}
    pd.var @fc_0.b_0 : tensor<64xf32> {parameter}
    pd.var @fc_1.w_0 : tensor<64x600xf32> {parameter}
    pd.var @fc_0.w_0 : tensor<96x64xf32> {parameter}
    pd.var @shared_embedding : tensor<600x32xf32> {parameter}
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "shared_embedding@GRAD" rows of float32 [600, 32]
      pd.decl "cross_entropy2_0.tmp_2" tensor of float32 [-1, 1] {persistable = false}
      pd.decl "cross_entropy2_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_1.b_0" tensor of float32 [600] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [64] {persistable = true}
      pd.decl "top_k_0.tmp_1" tensor of int64 [-1, 1] lod 0 {persistable = false}
      pd.decl "embedding_2.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false}
      pd.decl "fc_0.tmp_1@GRAD" tensor of float32 [-1, 64] lod 0
      pd.decl "fc_0.tmp_1" tensor of float32 [-1, 64] lod 0 {persistable = false}
      pd.decl "embedding_1.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false}
      pd.decl "fc_1.w_0" tensor of float32 [64, 600] {persistable = true}
      pd.decl "fc_1.tmp_1" tensor of float32 [-1, 600] lod 0 {persistable = false}
      pd.decl "shared_embedding@GRAD@RENAME@block0@1" rows of float32 [600, 32]
      pd.decl "fc_0.tmp_0" tensor of float32 [-1, 64] lod 0 {persistable = false}
      pd.decl "embedding_0.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0
      pd.decl "embedding_0.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false}
      pd.decl "word_0" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "word_3" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "cross_entropy2_0.tmp_1" tensor of float32 [-1, 600, 0] lod 0 {persistable = false}
      pd.decl "word_1" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [96, 64]
      pd.decl "fc_0.tmp_2" tensor of float32 [-1, 64] lod 0 {persistable = false}
      pd.decl "cross_entropy2_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "concat_0.tmp_0" tensor of float32 [-1, 96] lod 0 {persistable = false}
      pd.decl "word_2" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "fc_0.w_0" tensor of float32 [96, 64] {persistable = true}
      pd.decl "mean_0.tmp_0" tensor of float32 [1] {persistable = false}
      pd.decl "fc_0.tmp_0@GRAD" tensor of float32 [-1, 64] lod 0
      pd.decl "top_k_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "accuracy_0.tmp_0" tensor of float32 [1] lod 0 {persistable = false}
      pd.decl "fc_0.tmp_2@GRAD" tensor of float32 [-1, 64]
      pd.decl "accuracy_0.tmp_1" tensor of int32 [1] {persistable = false}
      pd.decl "fc_1.tmp_2@GRAD" tensor of float32 [-1, 600] lod 0
      pd.decl "fc_1.tmp_0" tensor of float32 [-1, 600] lod 0 {persistable = false}
      pd.decl "accuracy_0.tmp_2" tensor of int32 [1] {persistable = false}
      pd.decl "shared_embedding" tensor of float32 [600, 32] {persistable = true}
      pd.decl "concat_0.tmp_0@GRAD" tensor of float32 [-1, 96]
      pd.decl "mean_0.tmp_0@GRAD" tensor of float32 [1]
      pd.decl "fc_1.tmp_1@GRAD" tensor of float32 [-1, 600]
      pd.decl "shared_embedding@GRAD@RENAME@block0@2" rows of float32 [600, 32]
      pd.decl "fc_1.tmp_0@GRAD" tensor of float32 [-1, 600] lod 0
      pd.decl "fc_1.b_0@GRAD" tensor of float32 [600] lod 0
      pd.decl "fc_1.tmp_2" tensor of float32 [-1, 600] lod 0 {persistable = false}
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [64] lod 0
      pd.decl "fc_1.w_0@GRAD" tensor of float32 [64, 600]
      pd.decl "embedding_1.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0
      pd.decl "embedding_2.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0
      pd.decl "shared_embedding@GRAD@RENAME@block0@0" rows of float32 [600, 32]
      %0 = pd.input "word_0" : tensor<?x1xi64>
      %1 = pd.input "word_1" : tensor<?x1xi64>
      %2 = pd.input "word_2" : tensor<?x1xi64>
      %3 = pd.input "word_3" : tensor<?x1xi64>
      %4 = pd.get @shared_embedding : tensor<600x32xf32>
      %5 = pd.lookup_table Ids(%0) W(%4) -> Out("embedding_0.tmp_0") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 0 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} : (tensor<?x1xi64>, tensor<600x32xf32>) -> tensor<?x32xf32>
      %6 = pd.lookup_table Ids(%1) W(%4) -> Out("embedding_1.tmp_0") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 0 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} : (tensor<?x1xi64>, tensor<600x32xf32>) -> tensor<?x32xf32>
      %7 = pd.lookup_table Ids(%2) W(%4) -> Out("embedding_2.tmp_0") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 0 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} : (tensor<?x1xi64>, tensor<600x32xf32>) -> tensor<?x32xf32>
      %8 = pd.concat AxisTensor() X(%5, %6, %7) -> Out("concat_0.tmp_0") {axis = 1 : i32, op_role = 0 : i32, use_quantizer = false} : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x96xf32>
      %9 = pd.get @fc_0.w_0 : tensor<96x64xf32>
      %10 = pd.mul X(%8) Y(%9) -> Out("fc_0.tmp_0") {force_fp32_output = false, op_role = 0 : i32, scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x96xf32>, tensor<96x64xf32>) -> tensor<?x64xf32>
      %11 = pd.get @fc_0.b_0 : tensor<64xf32>
      %12 = pd.elementwise_add X(%10) Y(%11) -> Out("fc_0.tmp_1") {axis = 1 : i32, op_role = 0 : i32, x_data_format = "", y_data_format = ""} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
      %13 = pd.sigmoid X(%12) -> Out("fc_0.tmp_2") {op_role = 0 : i32, use_cudnn = false} : (tensor<?x64xf32>) -> tensor<?x64xf32>
      %14 = pd.get @fc_1.w_0 : tensor<64x600xf32>
      %15 = pd.mul X(%13) Y(%14) -> Out("fc_1.tmp_0") {force_fp32_output = false, op_role = 0 : i32, scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x64xf32>, tensor<64x600xf32>) -> tensor<?x600xf32>
      %16 = pd.get @fc_1.b_0 : tensor<600xf32>
      %17 = pd.elementwise_add X(%15) Y(%16) -> Out("fc_1.tmp_1") {axis = 1 : i32, op_role = 0 : i32, x_data_format = "", y_data_format = ""} : (tensor<?x600xf32>, tensor<600xf32>) -> tensor<?x600xf32>
      %18 = pd.softmax X(%17) -> Out("fc_1.tmp_2") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_role = 0 : i32, use_cudnn = false} : (tensor<?x600xf32>) -> tensor<?x600xf32>
      %19:3 = pd.cross_entropy2 Label(%3) X(%18) -> MatchX("cross_entropy2_0.tmp_2") XShape("cross_entropy2_0.tmp_1") Y("cross_entropy2_0.tmp_0") {ignore_index = -100 : i32, op_role = 0 : i32} : (tensor<?x1xi64>, tensor<?x600xf32>) -> (tensor<?x1xf32>, tensor<?x600x0xf32>, tensor<?x1xf32>)
      %20 = pd.mean X(%19#2) -> Out("mean_0.tmp_0") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
      %21:2 = pd.top_k K() X(%18) -> Indices("top_k_0.tmp_1") Out("top_k_0.tmp_0") {k = 1 : i32, op_role = 0 : i32} : (tensor<?x600xf32>) -> (tensor<?x1xi64>, tensor<?x1xf32>)
      %22:3 = pd.accuracy Indices(%21#0) Label(%3) Out(%21#1) -> Accuracy("accuracy_0.tmp_0") Correct("accuracy_0.tmp_1") Total("accuracy_0.tmp_2") {op_role = 0 : i32} : (tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
      %23 = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
      %24 = pd.mean_grad "Out@GRAD"(%23) X(%19#2) -> "X@GRAD"("cross_entropy2_0.tmp_0@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %25 = pd.cross_entropy_grad2 Label(%3) MatchX(%19#0) XShape(%19#1) "Y@GRAD"(%24) -> "X@GRAD"("fc_1.tmp_2@GRAD") {ignore_index = -100 : i32, op_role = 1 : i32} : (tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x600x0xf32>, tensor<?x1xf32>) -> tensor<?x600xf32>
      %26 = pd.softmax_grad Out(%18) "Out@GRAD"(%25) -> "X@GRAD"("fc_1.tmp_1@GRAD") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_role = 1 : i32, use_cudnn = false} : (tensor<?x600xf32>, tensor<?x600xf32>) -> tensor<?x600xf32>
      %27:2 = pd.elementwise_add_grad "Out@GRAD"(%26) X(%15) Y(%16) -> "X@GRAD"("fc_1.tmp_0@GRAD") "Y@GRAD"("fc_1.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["fc_1.b_0", "fc_1.b_0@GRAD"], x_data_format = "", y_data_format = ""} : (tensor<?x600xf32>, tensor<?x600xf32>, tensor<600xf32>) -> (tensor<?x600xf32>, tensor<600xf32>)
      %28:2 = pd.mul_grad "Out@GRAD"(%27#0) X(%13) Y(%14) -> "X@GRAD"("fc_0.tmp_2@GRAD") "Y@GRAD"("fc_1.w_0@GRAD") {force_fp32_output = false, op_role = 1 : i32, op_role_var = ["fc_1.w_0", "fc_1.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x600xf32>, tensor<?x64xf32>, tensor<64x600xf32>) -> (tensor<?x64xf32>, tensor<64x600xf32>)
      %29 = pd.sigmoid_grad Out(%13) "Out@GRAD"(%28#0) -> "X@GRAD"("fc_0.tmp_1@GRAD") {op_role = 1 : i32, use_cudnn = false} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
      %30:2 = pd.elementwise_add_grad "Out@GRAD"(%29) X(%10) Y(%11) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["fc_0.b_0", "fc_0.b_0@GRAD"], x_data_format = "", y_data_format = ""} : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>)
      %31:2 = pd.mul_grad "Out@GRAD"(%30#0) X(%8) Y(%9) -> "X@GRAD"("concat_0.tmp_0@GRAD") "Y@GRAD"("fc_0.w_0@GRAD") {force_fp32_output = false, op_role = 1 : i32, op_role_var = ["fc_0.w_0", "fc_0.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} : (tensor<?x64xf32>, tensor<?x96xf32>, tensor<96x64xf32>) -> (tensor<?x96xf32>, tensor<96x64xf32>)
      %32:3 = pd.concat_grad AxisTensor() "Out@GRAD"(%31#0) X(%5, %6, %7) -> "X@GRAD"("embedding_0.tmp_0@GRAD", "embedding_1.tmp_0@GRAD", "embedding_2.tmp_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, use_quantizer = false} : (tensor<?x96xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
      %33 = pd.lookup_table_grad Ids(%2) "Out@GRAD"(%32#2) W(%4) -> "W@GRAD"("shared_embedding@GRAD@RENAME@block0@0") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 1 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} : (tensor<?x1xi64>, tensor<?x32xf32>, tensor<600x32xf32>) -> !pd.rows<tensor<600x32xf32>>
      %34 = pd.lookup_table_grad Ids(%1) "Out@GRAD"(%32#1) W(%4) -> "W@GRAD"("shared_embedding@GRAD@RENAME@block0@1") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 1 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} : (tensor<?x1xi64>, tensor<?x32xf32>, tensor<600x32xf32>) -> !pd.rows<tensor<600x32xf32>>
      %35 = pd.lookup_table_grad Ids(%0) "Out@GRAD"(%32#0) W(%4) -> "W@GRAD"("shared_embedding@GRAD@RENAME@block0@2") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 1 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} : (tensor<?x1xi64>, tensor<?x32xf32>, tensor<600x32xf32>) -> !pd.rows<tensor<600x32xf32>>
      %36 = pd.sum X(%33, %34, %35) -> Out("shared_embedding@GRAD") {op_role = 1 : i32, op_role_var = ["shared_embedding", "shared_embedding@GRAD"]} : (!pd.rows<tensor<600x32xf32>>, !pd.rows<tensor<600x32xf32>>, !pd.rows<tensor<600x32xf32>>) -> !pd.rows<tensor<600x32xf32>>
      %37 = pd.get @learning_rate_0 : tensor<1xf32>
      %38 = pd.sgd Grad(%30#1) LearningRate(%37) Param(%11) -> ParamOut("fc_0.b_0") {op_role = 2 : i32, op_role_var = ["fc_0.b_0", "fc_0.b_0@GRAD"]} : (tensor<64xf32>, tensor<1xf32>, tensor<64xf32>) -> tensor<64xf32>
      pd.set @fc_0.b_0, %38 : tensor<64xf32>
      %39 = pd.sgd Grad(%31#1) LearningRate(%37) Param(%9) -> ParamOut("fc_0.w_0") {op_role = 2 : i32, op_role_var = ["fc_0.w_0", "fc_0.w_0@GRAD"]} : (tensor<96x64xf32>, tensor<1xf32>, tensor<96x64xf32>) -> tensor<96x64xf32>
      pd.set @fc_0.w_0, %39 : tensor<96x64xf32>
      %40 = pd.sgd Grad(%27#1) LearningRate(%37) Param(%16) -> ParamOut("fc_1.b_0") {op_role = 2 : i32, op_role_var = ["fc_1.b_0", "fc_1.b_0@GRAD"]} : (tensor<600xf32>, tensor<1xf32>, tensor<600xf32>) -> tensor<600xf32>
      pd.set @fc_1.b_0, %40 : tensor<600xf32>
      %41 = pd.sgd Grad(%28#1) LearningRate(%37) Param(%14) -> ParamOut("fc_1.w_0") {op_role = 2 : i32, op_role_var = ["fc_1.w_0", "fc_1.w_0@GRAD"]} : (tensor<64x600xf32>, tensor<1xf32>, tensor<64x600xf32>) -> tensor<64x600xf32>
      pd.set @fc_1.w_0, %41 : tensor<64x600xf32>
      %42 = pd.sgd Grad(%36) LearningRate(%37) Param(%4) -> ParamOut("shared_embedding") {op_role = 2 : i32, op_role_var = ["shared_embedding", "shared_embedding@GRAD"]} : (!pd.rows<tensor<600x32xf32>>, tensor<1xf32>, tensor<600x32xf32>) -> tensor<600x32xf32>
      pd.set @shared_embedding, %42 : tensor<600x32xf32>
    }
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_1.b_0" tensor of float32 [600] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [64] {persistable = true}
      pd.decl "fc_1.w_0" tensor of float32 [64, 600] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [96, 64] {persistable = true}
      pd.decl "shared_embedding" tensor of float32 [600, 32] {persistable = true}
      %0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, op_role = 0 : i32, shape = array<i64: 1>, str_value = "", value = 5.000000e-01 : f32} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %0 : tensor<1xf32>
      %1 = pd.fill_constant -> Out("fc_1.b_0") {dtype = 5 : i32, force_cpu = false, op_role = 0 : i32, shape = array<i64: 600>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<600xf32>
      pd.set @fc_1.b_0, %1 : tensor<600xf32>
      %2 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_1.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.0950586349 : f32, min = -0.0950586349 : f32, op_role = 0 : i32, seed = 20 : i32, shape = array<i64: 64, 600>} : () -> tensor<64x600xf32>
      pd.set @fc_1.w_0, %2 : tensor<64x600xf32>
      %3 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, op_role = 0 : i32, shape = array<i64: 64>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<64xf32>
      pd.set @fc_0.b_0, %3 : tensor<64xf32>
      %4 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.193649173 : f32, min = -0.193649173 : f32, op_role = 0 : i32, seed = 20 : i32, shape = array<i64: 96, 64>} : () -> tensor<96x64xf32>
      pd.set @fc_0.w_0, %4 : tensor<96x64xf32>
      %5 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("shared_embedding") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.0974354669 : f32, min = -0.0974354669 : f32, op_role = 0 : i32, seed = 20 : i32, shape = array<i64: 600, 32>} : () -> tensor<600x32xf32>
      pd.set @shared_embedding, %5 : tensor<600x32xf32>
    }
  }

  dist.role @trainer on @world {
    pd.var @fc_1.b_0 : tensor<600xf32> {dist.rel = #dist.rel<"fc_1.b_0">, parameter}
    pd.var @fc_0.b_0 : tensor<64xf32> {dist.rel = #dist.rel<"fc_0.b_0">, parameter}
    pd.var @fc_1.w_0 : tensor<64x600xf32> {dist.rel = #dist.rel<"fc_1.w_0">, parameter}
    pd.var @fc_0.w_0 : tensor<96x64xf32> {dist.rel = #dist.rel<"fc_0.w_0">, parameter}
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "shared_embedding@GRAD" rows of float32 [600, 32]
      pd.decl "cross_entropy2_0.tmp_2" tensor of float32 [-1, 1] {persistable = false}
      pd.decl "cross_entropy2_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "fc_1.b_0" tensor of float32 [600] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [64] {persistable = true}
      pd.decl "top_k_0.tmp_1" tensor of int64 [-1, 1] lod 0 {persistable = false}
      pd.decl "embedding_2.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false}
      pd.decl "fc_0.tmp_1@GRAD" tensor of float32 [-1, 64] lod 0
      pd.decl "fc_0.tmp_1" tensor of float32 [-1, 64] lod 0 {persistable = false}
      pd.decl "embedding_1.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false}
      pd.decl "fc_1.w_0" tensor of float32 [64, 600] {persistable = true}
      pd.decl "fc_1.tmp_1" tensor of float32 [-1, 600] lod 0 {persistable = false}
      pd.decl "shared_embedding@GRAD@RENAME@block0@1" rows of float32 [600, 32]
      pd.decl "fc_0.tmp_0" tensor of float32 [-1, 64] lod 0 {persistable = false}
      pd.decl "embedding_0.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0
      pd.decl "embedding_0.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false}
      pd.decl "word_0" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "word_3" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "cross_entropy2_0.tmp_1" tensor of float32 [-1, 600, 0] lod 0 {persistable = false}
      pd.decl "word_1" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [96, 64]
      pd.decl "fc_0.tmp_2" tensor of float32 [-1, 64] lod 0 {persistable = false}
      pd.decl "cross_entropy2_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0
      pd.decl "concat_0.tmp_0" tensor of float32 [-1, 96] lod 0 {persistable = false}
      pd.decl "word_2" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "fc_0.w_0" tensor of float32 [96, 64] {persistable = true}
      pd.decl "mean_0.tmp_0" tensor of float32 [1] {persistable = false}
      pd.decl "fc_0.tmp_0@GRAD" tensor of float32 [-1, 64] lod 0
      pd.decl "top_k_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false}
      pd.decl "accuracy_0.tmp_0" tensor of float32 [1] lod 0 {persistable = false}
      pd.decl "fc_0.tmp_2@GRAD" tensor of float32 [-1, 64]
      pd.decl "accuracy_0.tmp_1" tensor of int32 [1] {persistable = false}
      pd.decl "fc_1.tmp_2@GRAD" tensor of float32 [-1, 600] lod 0
      pd.decl "fc_1.tmp_0" tensor of float32 [-1, 600] lod 0 {persistable = false}
      pd.decl "accuracy_0.tmp_2" tensor of int32 [1] {persistable = false}
      pd.decl "concat_0.tmp_0@GRAD" tensor of float32 [-1, 96]
      pd.decl "mean_0.tmp_0@GRAD" tensor of float32 [1]
      pd.decl "fc_1.tmp_1@GRAD" tensor of float32 [-1, 600]
      pd.decl "shared_embedding@GRAD@RENAME@block0@2" rows of float32 [600, 32]
      pd.decl "fc_1.tmp_0@GRAD" tensor of float32 [-1, 600] lod 0
      pd.decl "fc_1.b_0@GRAD" tensor of float32 [600] lod 0
      pd.decl "fc_1.tmp_2" tensor of float32 [-1, 600] lod 0 {persistable = false}
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [64] lod 0
      pd.decl "fc_1.w_0@GRAD" tensor of float32 [64, 600]
      pd.decl "embedding_1.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0
      pd.decl "embedding_2.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0
      pd.decl "shared_embedding@GRAD@RENAME@block0@0" rows of float32 [600, 32]
      %0 = pd.input "word_0" {dist.batch = #dist.batch<0: dp>} : tensor<?x1xi64>
      %1 = pd.input "word_1" {dist.batch = #dist.batch<0: dp>} : tensor<?x1xi64>
      %2 = pd.input "word_2" {dist.batch = #dist.batch<0: dp>} : tensor<?x1xi64>
      %3 = pd.input "word_3" {dist.batch = #dist.batch<0: dp>} : tensor<?x1xi64>
      // The table: no memory, and of its elements only what is looked up.
      %4 = dist.remote @server::@shared_embedding : tensor<600x32xf32>
      // The op of the program, by its name and attributes, with the request that takes its place.
      %5 = dist.composite "lookup_table" (Ids = %0 : tensor<?x1xi64>, W = %4 : tensor<600x32xf32>) -> (Out as "embedding_0.tmp_0" : tensor<?x32xf32>) attrs {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 0 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} attributes {dist.src = 0 : i64} {
      ^bb0(%arg0: tensor<?x1xi64>, %arg1: tensor<600x32xf32>):
        %41 = dist.lookup %arg0 in @server::@shared_embedding as "embedding_0.tmp_0" on @rounds : tensor<?x1xi64> -> tensor<?x32xf32>
        dist.yield %41 : tensor<?x32xf32>
      }
      %6 = dist.composite "lookup_table" (Ids = %1 : tensor<?x1xi64>, W = %4 : tensor<600x32xf32>) -> (Out as "embedding_1.tmp_0" : tensor<?x32xf32>) attrs {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 0 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} attributes {dist.src = 1 : i64} {
      ^bb0(%arg0: tensor<?x1xi64>, %arg1: tensor<600x32xf32>):
        %41 = dist.lookup %arg0 in @server::@shared_embedding as "embedding_1.tmp_0" on @rounds : tensor<?x1xi64> -> tensor<?x32xf32>
        dist.yield %41 : tensor<?x32xf32>
      }
      %7 = dist.composite "lookup_table" (Ids = %2 : tensor<?x1xi64>, W = %4 : tensor<600x32xf32>) -> (Out as "embedding_2.tmp_0" : tensor<?x32xf32>) attrs {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 0 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} attributes {dist.src = 2 : i64} {
      ^bb0(%arg0: tensor<?x1xi64>, %arg1: tensor<600x32xf32>):
        %41 = dist.lookup %arg0 in @server::@shared_embedding as "embedding_2.tmp_0" on @rounds : tensor<?x1xi64> -> tensor<?x32xf32>
        dist.yield %41 : tensor<?x32xf32>
      }
      %8 = pd.concat AxisTensor() X(%5, %6, %7) -> Out("concat_0.tmp_0") {axis = 1 : i32, op_role = 0 : i32, use_quantizer = false} with {dist.src = 3 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x96xf32>
      %9 = pd.get @fc_0.w_0 : tensor<96x64xf32>
      %10 = pd.mul X(%8) Y(%9) -> Out("fc_0.tmp_0") {force_fp32_output = false, op_role = 0 : i32, scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 4 : i64} : (tensor<?x96xf32>, tensor<96x64xf32>) -> tensor<?x64xf32>
      %11 = pd.get @fc_0.b_0 : tensor<64xf32>
      %12 = pd.elementwise_add X(%10) Y(%11) -> Out("fc_0.tmp_1") {axis = 1 : i32, op_role = 0 : i32, x_data_format = "", y_data_format = ""} with {dist.src = 5 : i64} : (tensor<?x64xf32>, tensor<64xf32>) -> tensor<?x64xf32>
      %13 = pd.sigmoid X(%12) -> Out("fc_0.tmp_2") {op_role = 0 : i32, use_cudnn = false} with {dist.src = 6 : i64} : (tensor<?x64xf32>) -> tensor<?x64xf32>
      %14 = pd.get @fc_1.w_0 : tensor<64x600xf32>
      %15 = pd.mul X(%13) Y(%14) -> Out("fc_1.tmp_0") {force_fp32_output = false, op_role = 0 : i32, scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 7 : i64} : (tensor<?x64xf32>, tensor<64x600xf32>) -> tensor<?x600xf32>
      %16 = pd.get @fc_1.b_0 : tensor<600xf32>
      %17 = pd.elementwise_add X(%15) Y(%16) -> Out("fc_1.tmp_1") {axis = 1 : i32, op_role = 0 : i32, x_data_format = "", y_data_format = ""} with {dist.src = 8 : i64} : (tensor<?x600xf32>, tensor<600xf32>) -> tensor<?x600xf32>
      %18 = pd.softmax X(%17) -> Out("fc_1.tmp_2") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_role = 0 : i32, use_cudnn = false} with {dist.src = 9 : i64} : (tensor<?x600xf32>) -> tensor<?x600xf32>
      %19:3 = pd.cross_entropy2 Label(%3) X(%18) -> MatchX("cross_entropy2_0.tmp_2") XShape("cross_entropy2_0.tmp_1") Y("cross_entropy2_0.tmp_0") {ignore_index = -100 : i32, op_role = 0 : i32} with {dist.src = 10 : i64} : (tensor<?x1xi64>, tensor<?x600xf32>) -> (tensor<?x1xf32>, tensor<?x600x0xf32>, tensor<?x1xf32>)
      %20 = pd.mean X(%19#2) -> Out("mean_0.tmp_0") {op_role = 256 : i32} with {dist.src = 11 : i64} : (tensor<?x1xf32>) -> tensor<1xf32>
      %21:2 = pd.top_k K() X(%18) -> Indices("top_k_0.tmp_1") Out("top_k_0.tmp_0") {k = 1 : i32, op_role = 0 : i32} with {dist.src = 12 : i64} : (tensor<?x600xf32>) -> (tensor<?x1xi64>, tensor<?x1xf32>)
      %22:3 = pd.accuracy Indices(%21#0) Label(%3) Out(%21#1) -> Accuracy("accuracy_0.tmp_0") Correct("accuracy_0.tmp_1") Total("accuracy_0.tmp_2") {op_role = 0 : i32} with {dist.src = 13 : i64} : (tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
      %23 = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} with {dist.src = 14 : i64} : () -> tensor<1xf32>
      %24 = pd.mean_grad "Out@GRAD"(%23) X(%19#2) -> "X@GRAD"("cross_entropy2_0.tmp_0@GRAD") {op_role = 1 : i32} with {dist.src = 15 : i64} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %25 = pd.cross_entropy_grad2 Label(%3) MatchX(%19#0) XShape(%19#1) "Y@GRAD"(%24) -> "X@GRAD"("fc_1.tmp_2@GRAD") {ignore_index = -100 : i32, op_role = 1 : i32} with {dist.src = 16 : i64} : (tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x600x0xf32>, tensor<?x1xf32>) -> tensor<?x600xf32>
      %26 = pd.softmax_grad Out(%18) "Out@GRAD"(%25) -> "X@GRAD"("fc_1.tmp_1@GRAD") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_role = 1 : i32, use_cudnn = false} with {dist.src = 17 : i64} : (tensor<?x600xf32>, tensor<?x600xf32>) -> tensor<?x600xf32>
      %27:2 = pd.elementwise_add_grad "Out@GRAD"(%26) X(%15) Y(%16) -> "X@GRAD"("fc_1.tmp_0@GRAD") "Y@GRAD"("fc_1.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["fc_1.b_0", "fc_1.b_0@GRAD"], x_data_format = "", y_data_format = ""} with {dist.src = 18 : i64} : (tensor<?x600xf32>, tensor<?x600xf32>, tensor<600xf32>) -> (tensor<?x600xf32>, tensor<600xf32>)
      dist.push %27#1 to @server::@fc_1.b_0 merge mean on @rounds : tensor<600xf32>
      %28:2 = pd.mul_grad "Out@GRAD"(%27#0) X(%13) Y(%14) -> "X@GRAD"("fc_0.tmp_2@GRAD") "Y@GRAD"("fc_1.w_0@GRAD") {force_fp32_output = false, op_role = 1 : i32, op_role_var = ["fc_1.w_0", "fc_1.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 19 : i64} : (tensor<?x600xf32>, tensor<?x64xf32>, tensor<64x600xf32>) -> (tensor<?x64xf32>, tensor<64x600xf32>)
      dist.push %28#1 to @server::@fc_1.w_0 merge mean on @rounds : tensor<64x600xf32>
      %29 = pd.sigmoid_grad Out(%13) "Out@GRAD"(%28#0) -> "X@GRAD"("fc_0.tmp_1@GRAD") {op_role = 1 : i32, use_cudnn = false} with {dist.src = 20 : i64} : (tensor<?x64xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
      %30:2 = pd.elementwise_add_grad "Out@GRAD"(%29) X(%10) Y(%11) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, op_role_var = ["fc_0.b_0", "fc_0.b_0@GRAD"], x_data_format = "", y_data_format = ""} with {dist.src = 21 : i64} : (tensor<?x64xf32>, tensor<?x64xf32>, tensor<64xf32>) -> (tensor<?x64xf32>, tensor<64xf32>)
      dist.push %30#1 to @server::@fc_0.b_0 merge mean on @rounds : tensor<64xf32>
      %31:2 = pd.mul_grad "Out@GRAD"(%30#0) X(%8) Y(%9) -> "X@GRAD"("concat_0.tmp_0@GRAD") "Y@GRAD"("fc_0.w_0@GRAD") {force_fp32_output = false, op_role = 1 : i32, op_role_var = ["fc_0.w_0", "fc_0.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 22 : i64} : (tensor<?x64xf32>, tensor<?x96xf32>, tensor<96x64xf32>) -> (tensor<?x96xf32>, tensor<96x64xf32>)
      dist.push %31#1 to @server::@fc_0.w_0 merge mean on @rounds : tensor<96x64xf32>
      %32:3 = pd.concat_grad AxisTensor() "Out@GRAD"(%31#0) X(%5, %6, %7) -> "X@GRAD"("embedding_0.tmp_0@GRAD", "embedding_1.tmp_0@GRAD", "embedding_2.tmp_0@GRAD") {axis = 1 : i32, op_role = 1 : i32, use_quantizer = false} with {dist.src = 23 : i64} : (tensor<?x96xf32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>) -> (tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x32xf32>)
      // Rows of the gradient, numbered in the whole table: the words of this half, in their order.
      %33 = pd.lookup_table_grad Ids(%2) "Out@GRAD"(%32#2) W(%4) -> "W@GRAD"("shared_embedding@GRAD@RENAME@block0@0") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 1 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} with {dist.src = 24 : i64} : (tensor<?x1xi64>, tensor<?x32xf32>, tensor<600x32xf32>) -> !pd.rows<tensor<600x32xf32>>
      %34 = pd.lookup_table_grad Ids(%1) "Out@GRAD"(%32#1) W(%4) -> "W@GRAD"("shared_embedding@GRAD@RENAME@block0@1") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 1 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} with {dist.src = 25 : i64} : (tensor<?x1xi64>, tensor<?x32xf32>, tensor<600x32xf32>) -> !pd.rows<tensor<600x32xf32>>
      %35 = pd.lookup_table_grad Ids(%0) "Out@GRAD"(%32#0) W(%4) -> "W@GRAD"("shared_embedding@GRAD@RENAME@block0@2") {epmap = [], grad_inplace = false, height_sections = array<i64>, is_distributed = false, is_sparse = true, op_role = 1 : i32, padding_idx = -1 : i64, remote_prefetch = true, table_names = [], trainer_id = 0 : i32} with {dist.src = 26 : i64} : (tensor<?x1xi64>, tensor<?x32xf32>, tensor<600x32xf32>) -> !pd.rows<tensor<600x32xf32>>
      %36 = pd.sum X(%33, %34, %35) -> Out("shared_embedding@GRAD") {op_role = 1 : i32, op_role_var = ["shared_embedding", "shared_embedding@GRAD"]} with {dist.src = 27 : i64} : (!pd.rows<tensor<600x32xf32>>, !pd.rows<tensor<600x32xf32>>, !pd.rows<tensor<600x32xf32>>) -> !pd.rows<tensor<600x32xf32>>
      dist.push %36 to @server::@shared_embedding merge mean on @rounds : !pd.rows<tensor<600x32xf32>>
      dist.phase push on @rounds
      %37 = dist.pull @server::@fc_0.b_0 on @rounds : tensor<64xf32>
      pd.set @fc_0.b_0, %37 : tensor<64xf32>
      %38 = dist.pull @server::@fc_0.w_0 on @rounds : tensor<96x64xf32>
      pd.set @fc_0.w_0, %38 : tensor<96x64xf32>
      %39 = dist.pull @server::@fc_1.b_0 on @rounds : tensor<600xf32>
      pd.set @fc_1.b_0, %39 : tensor<600xf32>
      %40 = dist.pull @server::@fc_1.w_0.told on @rounds : tensor<64x600xf32>
      pd.set @fc_1.w_0, %40 : tensor<64x600xf32>
      dist.phase pull on @rounds
    }
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "fc_1.b_0" tensor of float32 [600] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [64] {persistable = true}
      pd.decl "fc_1.w_0" tensor of float32 [64, 600] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [96, 64] {persistable = true}
      %0 = dist.pull @server::@fc_1.b_0 on @rounds : tensor<600xf32>
      pd.set @fc_1.b_0, %0 : tensor<600xf32>
      %1 = dist.pull @server::@fc_0.b_0 on @rounds : tensor<64xf32>
      pd.set @fc_0.b_0, %1 : tensor<64xf32>
      %2 = dist.pull @server::@fc_1.w_0.told on @rounds : tensor<64x600xf32>
      pd.set @fc_1.w_0, %2 : tensor<64x600xf32>
      %3 = dist.pull @server::@fc_0.w_0 on @rounds : tensor<96x64xf32>
      pd.set @fc_0.w_0, %3 : tensor<96x64xf32>
      dist.phase pull on @rounds
    }
  }

  dist.role @server on @servers {
    pd.var @learning_rate_0 : tensor<1xf32> {dist.rel = #dist.rel<"learning_rate_0">}
    pd.var @fc_1.b_0 : tensor<?xf32> {dist.rel = #dist.rel<"fc_1.b_0", ps: S(0, blocks(600, per 600, first 0))>, parameter}
    pd.var @fc_0.b_0 : tensor<?xf32> {dist.rel = #dist.rel<"fc_0.b_0", ps: S(0, blocks(64, per 64, first 0))>, parameter}
    pd.var @fc_1.w_0 : tensor<?x600xf32> {dist.rel = #dist.rel<"fc_1.w_0", ps: S(0, blocks(64, per 32, first 1))>, parameter}
    // What trainers are told; cut like what it is made of. And a count of requests, by server.
    pd.var @fc_1.w_0.told : tensor<?x600xf32> {dist.rel = #dist.rel<"fc_1.w_0", ps: S(0, blocks(64, per 32, first 1))>}
    pd.var @lookups : tensor<1xf32>
    pd.var @fc_0.w_0 : tensor<?x64xf32> {dist.rel = #dist.rel<"fc_0.w_0", ps: S(0, blocks(96, per 96, first 1))>, parameter}
    pd.var @shared_embedding : tensor<?x32xf32> {dist.rel = #dist.rel<"shared_embedding", ps: S(0, blocks(600, per 300, first 1))>, parameter}
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "shared_embedding@GRAD" rows of float32 [600, 32]
      pd.decl "fc_1.b_0" tensor of float32 [600] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [64] {persistable = true}
      pd.decl "fc_1.w_0" tensor of float32 [64, 600] {persistable = true}
      pd.decl "fc_0.w_0@GRAD" tensor of float32 [96, 64]
      pd.decl "fc_0.w_0" tensor of float32 [96, 64] {persistable = true}
      pd.decl "shared_embedding" tensor of float32 [600, 32] {persistable = true}
      pd.decl "fc_1.b_0@GRAD" tensor of float32 [600] lod 0
      pd.decl "fc_0.b_0@GRAD" tensor of float32 [64] lod 0
      pd.decl "fc_1.w_0@GRAD" tensor of float32 [64, 600]
      pd.decl "fc_1.w_0.told" tensor of float32 [64, 600] {persistable = true}
      pd.decl "lookups" tensor of float32 [1] {persistable = true}
      pd.decl "one" tensor of float32 [1]
      dist.serve on @rounds mode sync {
        dist.handle round {
          %0 = pd.get @learning_rate_0 : tensor<1xf32>
          dist.foreach_block @fc_0.b_0 (%arg0) {
            %1 = dist.merged @fc_0.b_0 : tensor<?xf32>
            %2 = pd.get @fc_0.b_0 : tensor<?xf32>
            %3 = pd.sgd Grad(%1) LearningRate(%0) Param(%2) -> ParamOut("fc_0.b_0") {op_role = 2 : i32, op_role_var = ["fc_0.b_0", "fc_0.b_0@GRAD"]} with {dist.src = 28 : i64} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
            pd.set @fc_0.b_0, %3 : tensor<?xf32>
            dist.yield
          }
          dist.foreach_block @fc_0.w_0 (%arg0) {
            %1 = dist.merged @fc_0.w_0 : tensor<?x64xf32>
            %2 = pd.get @fc_0.w_0 : tensor<?x64xf32>
            %3 = pd.sgd Grad(%1) LearningRate(%0) Param(%2) -> ParamOut("fc_0.w_0") {op_role = 2 : i32, op_role_var = ["fc_0.w_0", "fc_0.w_0@GRAD"]} with {dist.src = 29 : i64} : (tensor<?x64xf32>, tensor<1xf32>, tensor<?x64xf32>) -> tensor<?x64xf32>
            pd.set @fc_0.w_0, %3 : tensor<?x64xf32>
            dist.yield
          }
          dist.foreach_block @fc_1.b_0 (%arg0) {
            %1 = dist.merged @fc_1.b_0 : tensor<?xf32>
            %2 = pd.get @fc_1.b_0 : tensor<?xf32>
            %3 = pd.sgd Grad(%1) LearningRate(%0) Param(%2) -> ParamOut("fc_1.b_0") {op_role = 2 : i32, op_role_var = ["fc_1.b_0", "fc_1.b_0@GRAD"]} with {dist.src = 30 : i64} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
            pd.set @fc_1.b_0, %3 : tensor<?xf32>
            dist.yield
          }
          dist.foreach_block @fc_1.w_0 (%arg0) {
            %1 = dist.merged @fc_1.w_0 : tensor<?x600xf32>
            %2 = pd.get @fc_1.w_0 : tensor<?x600xf32>
            %3 = pd.sgd Grad(%1) LearningRate(%0) Param(%2) -> ParamOut("fc_1.w_0") {op_role = 2 : i32, op_role_var = ["fc_1.w_0", "fc_1.w_0@GRAD"]} with {dist.src = 31 : i64} : (tensor<?x600xf32>, tensor<1xf32>, tensor<?x600xf32>) -> tensor<?x600xf32>
            pd.set @fc_1.w_0, %3 : tensor<?x600xf32>
            dist.yield
          }
          // The rows of all trainers, one after the other, with their numbers in the block.
          dist.foreach_block @shared_embedding (%arg0) {
            %1 = dist.merged @shared_embedding : !pd.rows<tensor<?x32xf32>>
            %2 = pd.get @shared_embedding : tensor<?x32xf32>
            %3 = pd.sgd Grad(%1) LearningRate(%0) Param(%2) -> ParamOut("shared_embedding") {op_role = 2 : i32, op_role_var = ["shared_embedding", "shared_embedding@GRAD"]} with {dist.src = 32 : i64} : (!pd.rows<tensor<?x32xf32>>, tensor<1xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
            pd.set @shared_embedding, %3 : tensor<?x32xf32>
            dist.yield
          }
          dist.yield
        }
        // %from: the number of the trainer that asks, one per pull.
        dist.handle pull @fc_1.w_0.told (%from: tensor<1xi64>) {
          dist.foreach_block @fc_1.w_0.told (%block) {
            %w = pd.get @fc_1.w_0 : tensor<?x600xf32>
            %told = pd.scale X(%w) -> Out("fc_1.w_0.told") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 0 : i32, scale = 1.000000e+00 : f32} : (tensor<?x600xf32>) -> tensor<?x600xf32>
            pd.set @fc_1.w_0.told, %told : tensor<?x600xf32>
            dist.yield
          }
          dist.yield
        }
        // %ids: the numbers in the whole table of the rows that one message asks this server for.
        dist.handle lookup @shared_embedding (%ids: tensor<?x1xi64>) {
          %before = pd.get @lookups : tensor<1xf32>
          %one = pd.fill_constant -> Out("one") {dtype = 5 : i32, force_cpu = false, op_role = 0 : i32, shape = array<i64: 1>, str_value = "", value = 1.000000e+00 : f32} : () -> tensor<1xf32>
          %after = pd.sum X(%before, %one) -> Out("lookups") {op_role = 0 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
          pd.set @lookups, %after : tensor<1xf32>
          dist.yield
        }
      }
    }
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 1008005 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [1] {persistable = true}
      pd.decl "fc_1.b_0" tensor of float32 [600] {persistable = true}
      pd.decl "fc_0.b_0" tensor of float32 [64] {persistable = true}
      pd.decl "fc_1.w_0" tensor of float32 [64, 600] {persistable = true}
      pd.decl "fc_0.w_0" tensor of float32 [96, 64] {persistable = true}
      pd.decl "fc_1.w_0.told" tensor of float32 [64, 600] {persistable = true}
      pd.decl "lookups" tensor of float32 [1] {persistable = true}
      pd.decl "shared_embedding" tensor of float32 [600, 32] {persistable = true}
      %0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, op_role = 0 : i32, shape = array<i64: 1>, str_value = "", value = 5.000000e-01 : f32} with {dist.src = 0 : i64} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %0 : tensor<1xf32>
      %1 = pd.fill_constant -> Out("fc_1.b_0") {dtype = 5 : i32, force_cpu = false, op_role = 0 : i32, shape = array<i64: 600>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 1 : i64} : () -> tensor<600xf32>
      %2 = dist.slice %1 dim 0 layout <blocks(600, per 600, first 0)> over [ps] : tensor<600xf32> -> tensor<?xf32>
      pd.set @fc_1.b_0, %2 : tensor<?xf32>
      %3 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_1.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.0950586349 : f32, min = -0.0950586349 : f32, op_role = 0 : i32, seed = 20 : i32, shape = array<i64: 64, 600>} with {dist.src = 2 : i64} : () -> tensor<64x600xf32>
      %4 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, op_role = 0 : i32, shape = array<i64: 64>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 3 : i64} : () -> tensor<64xf32>
      %5 = dist.slice %4 dim 0 layout <blocks(64, per 64, first 0)> over [ps] : tensor<64xf32> -> tensor<?xf32>
      pd.set @fc_0.b_0, %5 : tensor<?xf32>
      %6 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.193649173 : f32, min = -0.193649173 : f32, op_role = 0 : i32, seed = 20 : i32, shape = array<i64: 96, 64>} with {dist.src = 4 : i64} : () -> tensor<96x64xf32>
      %7 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("shared_embedding") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.0974354669 : f32, min = -0.0974354669 : f32, op_role = 0 : i32, seed = 20 : i32, shape = array<i64: 600, 32>} with {dist.src = 5 : i64} : () -> tensor<600x32xf32>
      // One draw for all servers, of which each keeps its blocks.
      %8:3 = dist.broadcast(%3, %6, %7) on @servers_sum from <ps = 0> : (tensor<64x600xf32>, tensor<96x64xf32>, tensor<600x32xf32>) -> (tensor<64x600xf32>, tensor<96x64xf32>, tensor<600x32xf32>)
      %9 = dist.slice %8#0 dim 0 layout <blocks(64, per 32, first 1)> over [ps] : tensor<64x600xf32> -> tensor<?x600xf32>
      pd.set @fc_1.w_0, %9 : tensor<?x600xf32>
      pd.set @fc_1.w_0.told, %9 : tensor<?x600xf32>
      %none = pd.fill_constant -> Out("lookups") {dtype = 5 : i32, force_cpu = false, op_role = 0 : i32, shape = array<i64: 1>, str_value = "", value = 0.000000e+00 : f32} : () -> tensor<1xf32>
      pd.set @lookups, %none : tensor<1xf32>
      %10 = dist.slice %8#1 dim 0 layout <blocks(96, per 96, first 1)> over [ps] : tensor<96x64xf32> -> tensor<?x64xf32>
      pd.set @fc_0.w_0, %10 : tensor<?x64xf32>
      %11 = dist.slice %8#2 dim 0 layout <blocks(600, per 300, first 1)> over [ps] : tensor<600x32xf32> -> tensor<?x32xf32>
      pd.set @shared_embedding, %11 : tensor<?x32xf32>
    }
  }
}

