// A parameter that is cut along two dims: on a mesh of two by two ranks each holds a quarter of
// @fc_1.w_0 and of its velocity, rows by its coordinate `row`, columns by `col`. It is put together
// where it is read, and updated in parts; everything else is as in data parallelism over all four.
// Which quarter a rank has is data of the rank (docs/jobs.md): there is one class, and a mesh of
// other sizes changes digits only.
module {
  dist.mesh @world [row = 2, col = 2]
  dist.comm @all on @world over [row, col] group {carries = "gradients"}
  dist.comm @rows on @world over [row] group {carries = "parts of dim 0"}
  dist.comm @cols on @world over [col] group {carries = "parts of dim 1"}
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
      pd.decl "label" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "top_k_0.tmp_1" tensor of int64 [-1, 1] lod 0 {persistable = false}
      pd.decl "img" tensor of float32 [-1, 64] lod 0 {need_check_feed = true, persistable = false}
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
      %0 = pd.input "img" : tensor<?x64xf32>
      %1 = pd.input "label" : tensor<?x1xi64>
      %2 = pd.get @fc_0.w_0 : tensor<64x128xf32>
      %3 = pd.mul X(%0) Y(%2) -> Out("fc_0.tmp_0") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
      %4 = pd.get @fc_0.b_0 : tensor<128xf32>
      %5 = pd.elementwise_add X(%3) Y(%4) -> Out("fc_0.tmp_1") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %6 = pd.relu X(%5) -> Out("fc_0.tmp_2") {op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {order = array<i32: 1, 5, 6, 4, 0, 2, 3>} : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %7 = pd.get @fc_1.w_0 : tensor<128x128xf32>
      %8 = pd.mul X(%6) Y(%7) -> Out("fc_1.tmp_0") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x128xf32>, tensor<128x128xf32>) -> tensor<?x128xf32>
      %9 = pd.get @fc_1.b_0 : tensor<128xf32>
      %10 = pd.elementwise_add X(%8) Y(%9) -> Out("fc_1.tmp_1") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %11 = pd.relu X(%10) -> Out("fc_1.tmp_2") {op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {order = array<i32: 1, 5, 6, 4, 0, 2, 3>} : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %12 = pd.get @fc_2.w_0 : tensor<128x10xf32>
      %13 = pd.mul X(%11) Y(%12) -> Out("fc_2.tmp_0") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x128xf32>, tensor<128x10xf32>) -> tensor<?x10xf32>
      %14 = pd.get @fc_2.b_0 : tensor<10xf32>
      %15 = pd.elementwise_add X(%13) Y(%14) -> Out("fc_2.tmp_1") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
      %16 = pd.softmax X(%15) -> Out("fc_2.tmp_2") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {order = array<i32: 4, 2, 9, 1, 8, 0, 7, 3, 5, 6>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
      %17:3 = pd.cross_entropy2 Label(%1) X(%16) -> MatchX("cross_entropy2_0.tmp_2") XShape("cross_entropy2_0.tmp_1") Y("cross_entropy2_0.tmp_0") {ignore_index = -100 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = []} with {order = array<i32: 2, 5, 1, 3, 4, 0>} : (tensor<?x1xi64>, tensor<?x10xf32>) -> (tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>)
      %18 = pd.mean X(%17#2) -> Out("mean_0.tmp_0") {op_device = "", op_namescope = "/", op_role = 256 : i32, op_role_var = []} with {order = array<i32: 1, 4, 0, 2, 3>} : (tensor<?x1xf32>) -> tensor<1xf32>
      %19:2 = pd.top_k K() X(%16) -> Indices("top_k_0.tmp_1") Out("top_k_0.tmp_0") {k = 1 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = []} with {order = array<i32: 2, 5, 1, 3, 4, 0>} : (tensor<?x10xf32>) -> (tensor<?x1xi64>, tensor<?x1xf32>)
      %20:3 = pd.accuracy Indices(%19#0) Label(%1) Out(%19#1) -> Accuracy("accuracy_0.tmp_0") Correct("accuracy_0.tmp_1") Total("accuracy_0.tmp_2") {op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = []} with {order = array<i32: 1, 4, 0, 2, 3>} : (tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
      %21 = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_device = "", op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} with {order = array<i32: 2, 3, 1, 0, 5, 4>} : () -> tensor<1xf32>
      %22 = pd.mean_grad "Out@GRAD"(%21) X(%17#2) -> "X@GRAD"("cross_entropy2_0.tmp_0@GRAD") {op_device = "", op_role = 1 : i32} with {order = array<i32: 1, 0>} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %23 = pd.cross_entropy_grad2 Label(%1) MatchX(%17#0) XShape(%17#1) "Y@GRAD"(%22) -> "X@GRAD"("fc_2.tmp_2@GRAD") {ignore_index = -100 : i32, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = []} with {order = array<i32: 2, 5, 1, 3, 4, 0>} : (tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>) -> tensor<?x10xf32>
      %24 = pd.softmax_grad Out(%16) "Out@GRAD"(%23) -> "X@GRAD"("fc_2.tmp_1@GRAD") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {order = array<i32: 4, 2, 9, 1, 8, 0, 7, 3, 5, 6>} : (tensor<?x10xf32>, tensor<?x10xf32>) -> tensor<?x10xf32>
      %25:2 = pd.elementwise_add_grad "Out@GRAD"(%24) X(%13) Y(%14) -> "X@GRAD"("fc_2.tmp_0@GRAD") "Y@GRAD"("fc_2.b_0@GRAD") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_2.b_0", "fc_2.b_0@GRAD"], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x10xf32>, tensor<?x10xf32>, tensor<10xf32>) -> (tensor<?x10xf32>, tensor<10xf32>)
      %26:2 = pd.mul_grad "Out@GRAD"(%25#0) X(%11) Y(%12) -> "X@GRAD"("fc_1.tmp_2@GRAD") "Y@GRAD"("fc_2.w_0@GRAD") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_2.w_0", "fc_2.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x10xf32>, tensor<?x128xf32>, tensor<128x10xf32>) -> (tensor<?x128xf32>, tensor<128x10xf32>)
      %27 = pd.relu_grad Out(%11) "Out@GRAD"(%26#0) -> "X@GRAD"("fc_1.tmp_1@GRAD") {op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {order = array<i32: 1, 5, 6, 4, 0, 2, 3>} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %28:2 = pd.elementwise_add_grad "Out@GRAD"(%27) X(%8) Y(%9) -> "X@GRAD"("fc_1.tmp_0@GRAD") "Y@GRAD"("fc_1.b_0@GRAD") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_1.b_0", "fc_1.b_0@GRAD"], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %29:2 = pd.mul_grad "Out@GRAD"(%28#0) X(%6) Y(%7) -> "X@GRAD"("fc_0.tmp_2@GRAD") "Y@GRAD"("fc_1.w_0@GRAD") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_1.w_0", "fc_1.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128x128xf32>) -> (tensor<?x128xf32>, tensor<128x128xf32>)
      %30 = pd.relu_grad Out(%6) "Out@GRAD"(%29#0) -> "X@GRAD"("fc_0.tmp_1@GRAD") {op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {order = array<i32: 1, 5, 6, 4, 0, 2, 3>} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %31:2 = pd.elementwise_add_grad "Out@GRAD"(%30) X(%3) Y(%4) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_0.b_0", "fc_0.b_0@GRAD"], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %32 = pd.mul_grad "Out@GRAD"(%31#0) X(%0) Y(%2) -> "X@GRAD"() "Y@GRAD"("fc_0.w_0@GRAD") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_0.w_0", "fc_0.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x128xf32>, tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
      %33 = pd.get @learning_rate_0 : tensor<1xf32>
      %34 = pd.get @fc_0.b_0_velocity_0 : tensor<128xf32>
      %35:2 = pd.momentum Grad(%31#1) LearningRate(%33) Param(%4) Velocity(%34) -> ParamOut("fc_0.b_0") VelocityOut("fc_0.b_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_2/", op_role = 2 : i32, op_role_var = ["fc_0.b_0", "fc_0.b_0@GRAD"], use_nesterov = false} with {order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
      pd.set @fc_0.b_0, %35#0 : tensor<128xf32>
      pd.set @fc_0.b_0_velocity_0, %35#1 : tensor<128xf32>
      %36 = pd.get @fc_0.w_0_velocity_0 : tensor<64x128xf32>
      %37:2 = pd.momentum Grad(%32) LearningRate(%33) Param(%2) Velocity(%36) -> ParamOut("fc_0.w_0") VelocityOut("fc_0.w_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_3/", op_role = 2 : i32, op_role_var = ["fc_0.w_0", "fc_0.w_0@GRAD"], use_nesterov = false} with {order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<64x128xf32>, tensor<1xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
      pd.set @fc_0.w_0, %37#0 : tensor<64x128xf32>
      pd.set @fc_0.w_0_velocity_0, %37#1 : tensor<64x128xf32>
      %38 = pd.get @fc_1.b_0_velocity_0 : tensor<128xf32>
      %39:2 = pd.momentum Grad(%28#1) LearningRate(%33) Param(%9) Velocity(%38) -> ParamOut("fc_1.b_0") VelocityOut("fc_1.b_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_4/", op_role = 2 : i32, op_role_var = ["fc_1.b_0", "fc_1.b_0@GRAD"], use_nesterov = false} with {order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
      pd.set @fc_1.b_0, %39#0 : tensor<128xf32>
      pd.set @fc_1.b_0_velocity_0, %39#1 : tensor<128xf32>
      %40 = pd.get @fc_1.w_0_velocity_0 : tensor<128x128xf32>
      %41:2 = pd.momentum Grad(%29#1) LearningRate(%33) Param(%7) Velocity(%40) -> ParamOut("fc_1.w_0") VelocityOut("fc_1.w_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_5/", op_role = 2 : i32, op_role_var = ["fc_1.w_0", "fc_1.w_0@GRAD"], use_nesterov = false} with {order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<128x128xf32>, tensor<1xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>)
      pd.set @fc_1.w_0, %41#0 : tensor<128x128xf32>
      pd.set @fc_1.w_0_velocity_0, %41#1 : tensor<128x128xf32>
      %42 = pd.get @fc_2.b_0_velocity_0 : tensor<10xf32>
      %43:2 = pd.momentum Grad(%25#1) LearningRate(%33) Param(%14) Velocity(%42) -> ParamOut("fc_2.b_0") VelocityOut("fc_2.b_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_6/", op_role = 2 : i32, op_role_var = ["fc_2.b_0", "fc_2.b_0@GRAD"], use_nesterov = false} with {order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<10xf32>, tensor<1xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>)
      pd.set @fc_2.b_0, %43#0 : tensor<10xf32>
      pd.set @fc_2.b_0_velocity_0, %43#1 : tensor<10xf32>
      %44 = pd.get @fc_2.w_0_velocity_0 : tensor<128x10xf32>
      %45:2 = pd.momentum Grad(%26#1) LearningRate(%33) Param(%12) Velocity(%44) -> ParamOut("fc_2.w_0") VelocityOut("fc_2.w_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_7/", op_role = 2 : i32, op_role_var = ["fc_2.w_0", "fc_2.w_0@GRAD"], use_nesterov = false} with {order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<128x10xf32>, tensor<1xf32>, tensor<128x10xf32>, tensor<128x10xf32>) -> (tensor<128x10xf32>, tensor<128x10xf32>)
      pd.set @fc_2.w_0, %45#0 : tensor<128x10xf32>
      pd.set @fc_2.w_0_velocity_0, %45#1 : tensor<128x10xf32>
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
      %0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 1>, str_value = "", value = 5.000000e-02 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %0 : tensor<1xf32>
      %1 = pd.fill_constant -> Out("fc_2.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128, 10>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0_velocity_0, %1 : tensor<128x10xf32>
      %2 = pd.fill_constant -> Out("fc_2.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<10xf32>
      pd.set @fc_2.b_0_velocity_0, %2 : tensor<10xf32>
      %3 = pd.fill_constant -> Out("fc_1.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128, 128>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128x128xf32>
      pd.set @fc_1.w_0_velocity_0, %3 : tensor<128x128xf32>
      %4 = pd.fill_constant -> Out("fc_1.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128xf32>
      pd.set @fc_1.b_0_velocity_0, %4 : tensor<128xf32>
      %5 = pd.fill_constant -> Out("fc_0.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 64, 128>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0_velocity_0, %5 : tensor<64x128xf32>
      %6 = pd.fill_constant -> Out("fc_0.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128xf32>
      pd.set @fc_0.b_0_velocity_0, %6 : tensor<128xf32>
      %7 = pd.fill_constant -> Out("fc_2.b_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<10xf32>
      pd.set @fc_2.b_0, %7 : tensor<10xf32>
      %8 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_2.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.208514407 : f32, min = -0.208514407 : f32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], seed = 20 : i32, shape = array<i64: 128, 10>} with {order = array<i32: 7, 10, 2, 12, 4, 11, 3, 9, 5, 8, 6, 0, 1>} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0, %8 : tensor<128x10xf32>
      %9 = pd.fill_constant -> Out("fc_1.b_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128xf32>
      pd.set @fc_1.b_0, %9 : tensor<128xf32>
      %10 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_1.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.153093114 : f32, min = -0.153093114 : f32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], seed = 20 : i32, shape = array<i64: 128, 128>} with {order = array<i32: 7, 10, 2, 12, 4, 11, 3, 9, 5, 8, 6, 0, 1>} : () -> tensor<128x128xf32>
      pd.set @fc_1.w_0, %10 : tensor<128x128xf32>
      %11 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128xf32>
      pd.set @fc_0.b_0, %11 : tensor<128xf32>
      %12 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.176776692 : f32, min = -0.176776692 : f32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], seed = 20 : i32, shape = array<i64: 64, 128>} with {order = array<i32: 7, 10, 2, 12, 4, 11, 3, 9, 5, 8, 6, 0, 1>} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0, %12 : tensor<64x128xf32>
    }
  }
  dist.role @trainer on @world {
    pd.var @learning_rate_0 : tensor<1xf32> {dist.rel = #dist.rel<"learning_rate_0">}
    pd.var @fc_2.b_0_velocity_0 : tensor<10xf32> {dist.rel = #dist.rel<"fc_2.b_0_velocity_0">}
    pd.var @fc_1.w_0_velocity_0 : tensor<64x64xf32> {dist.rel = #dist.rel<"fc_1.w_0_velocity_0", col: S(1), row: S(0)>}
    pd.var @fc_2.w_0_velocity_0 : tensor<128x10xf32> {dist.rel = #dist.rel<"fc_2.w_0_velocity_0">}
    pd.var @fc_2.b_0 : tensor<10xf32> {dist.rel = #dist.rel<"fc_2.b_0">, parameter}
    pd.var @fc_2.w_0 : tensor<128x10xf32> {dist.rel = #dist.rel<"fc_2.w_0">, parameter}
    pd.var @fc_0.w_0_velocity_0 : tensor<64x128xf32> {dist.rel = #dist.rel<"fc_0.w_0_velocity_0">}
    pd.var @fc_1.b_0 : tensor<128xf32> {dist.rel = #dist.rel<"fc_1.b_0">, parameter}
    pd.var @fc_0.b_0 : tensor<128xf32> {dist.rel = #dist.rel<"fc_0.b_0">, parameter}
    pd.var @fc_0.w_0 : tensor<64x128xf32> {dist.rel = #dist.rel<"fc_0.w_0">, parameter}
    pd.var @fc_1.w_0 : tensor<64x64xf32> {dist.rel = #dist.rel<"fc_1.w_0", col: S(1), row: S(0)>, parameter}
    pd.var @fc_0.b_0_velocity_0 : tensor<128xf32> {dist.rel = #dist.rel<"fc_0.b_0_velocity_0">}
    pd.var @fc_1.b_0_velocity_0 : tensor<128xf32> {dist.rel = #dist.rel<"fc_1.b_0_velocity_0">}
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
      pd.decl "label" tensor of int64 [-1, 1] lod 0 {need_check_feed = true, persistable = false}
      pd.decl "top_k_0.tmp_1" tensor of int64 [-1, 1] lod 0 {persistable = false}
      pd.decl "img" tensor of float32 [-1, 64] lod 0 {need_check_feed = true, persistable = false}
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
      %0 = pd.input "img" {dist.batch = #dist.batch<0: row, col>} : tensor<?x64xf32>
      %1 = pd.input "label" {dist.batch = #dist.batch<0: row, col>} : tensor<?x1xi64>
      %2 = pd.get @fc_0.w_0 : tensor<64x128xf32>
      %3 = pd.mul X(%0) Y(%2) -> Out("fc_0.tmp_0") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 0 : i64, order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
      %4 = pd.get @fc_0.b_0 : tensor<128xf32>
      %5 = pd.elementwise_add X(%3) Y(%4) -> Out("fc_0.tmp_1") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 1 : i64, order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %6 = pd.relu X(%5) -> Out("fc_0.tmp_2") {op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {dist.src = 2 : i64, order = array<i32: 1, 5, 6, 4, 0, 2, 3>} : (tensor<?x128xf32>) -> tensor<?x128xf32>
      // The whole of it, of two parts of rows of two parts of columns.
      %part = pd.get @fc_1.w_0 : tensor<64x64xf32>
      %half = dist.all_gather(%part) on @rows dim 0 : (tensor<64x64xf32>) -> tensor<128x64xf32>
      %7 = dist.all_gather(%half) on @cols dim 1 : (tensor<128x64xf32>) -> tensor<128x128xf32>
      %8 = pd.mul X(%6) Y(%7) -> Out("fc_1.tmp_0") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 3 : i64, order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x128xf32>, tensor<128x128xf32>) -> tensor<?x128xf32>
      %9 = pd.get @fc_1.b_0 : tensor<128xf32>
      %10 = pd.elementwise_add X(%8) Y(%9) -> Out("fc_1.tmp_1") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 4 : i64, order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %11 = pd.relu X(%10) -> Out("fc_1.tmp_2") {op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {dist.src = 5 : i64, order = array<i32: 1, 5, 6, 4, 0, 2, 3>} : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %12 = pd.get @fc_2.w_0 : tensor<128x10xf32>
      %13 = pd.mul X(%11) Y(%12) -> Out("fc_2.tmp_0") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 6 : i64, order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x128xf32>, tensor<128x10xf32>) -> tensor<?x10xf32>
      %14 = pd.get @fc_2.b_0 : tensor<10xf32>
      %15 = pd.elementwise_add X(%13) Y(%14) -> Out("fc_2.tmp_1") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 7 : i64, order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
      %16 = pd.softmax X(%15) -> Out("fc_2.tmp_2") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {dist.src = 8 : i64, order = array<i32: 4, 2, 9, 1, 8, 0, 7, 3, 5, 6>} : (tensor<?x10xf32>) -> tensor<?x10xf32>
      %17:3 = pd.cross_entropy2 Label(%1) X(%16) -> MatchX("cross_entropy2_0.tmp_2") XShape("cross_entropy2_0.tmp_1") Y("cross_entropy2_0.tmp_0") {ignore_index = -100 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = []} with {dist.src = 9 : i64, order = array<i32: 2, 5, 1, 3, 4, 0>} : (tensor<?x1xi64>, tensor<?x10xf32>) -> (tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>)
      %18 = pd.mean X(%17#2) -> Out("mean_0.tmp_0") {op_device = "", op_namescope = "/", op_role = 256 : i32, op_role_var = []} with {dist.src = 10 : i64, order = array<i32: 1, 4, 0, 2, 3>} : (tensor<?x1xf32>) -> tensor<1xf32>
      %19:2 = pd.top_k K() X(%16) -> Indices("top_k_0.tmp_1") Out("top_k_0.tmp_0") {k = 1 : i32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = []} with {dist.src = 11 : i64, order = array<i32: 2, 5, 1, 3, 4, 0>} : (tensor<?x10xf32>) -> (tensor<?x1xi64>, tensor<?x1xf32>)
      %20:3 = pd.accuracy Indices(%19#0) Label(%1) Out(%19#1) -> Accuracy("accuracy_0.tmp_0") Correct("accuracy_0.tmp_1") Total("accuracy_0.tmp_2") {op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = []} with {dist.src = 12 : i64, order = array<i32: 1, 4, 0, 2, 3>} : (tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
      %21 = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_device = "", op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} with {dist.src = 13 : i64, order = array<i32: 2, 3, 1, 0, 5, 4>} : () -> tensor<1xf32>
      %22 = pd.scale X(%21) -> Out("mean_0.tmp_0@GRAD") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 1 : i32, scale = 2.500000e-01 : f32} : (tensor<1xf32>) -> tensor<1xf32>
      %23 = pd.mean_grad "Out@GRAD"(%22) X(%17#2) -> "X@GRAD"("cross_entropy2_0.tmp_0@GRAD") {op_device = "", op_role = 1 : i32} with {dist.src = 14 : i64, order = array<i32: 1, 0>} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %24 = pd.cross_entropy_grad2 Label(%1) MatchX(%17#0) XShape(%17#1) "Y@GRAD"(%23) -> "X@GRAD"("fc_2.tmp_2@GRAD") {ignore_index = -100 : i32, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = []} with {dist.src = 15 : i64, order = array<i32: 2, 5, 1, 3, 4, 0>} : (tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>) -> tensor<?x10xf32>
      %25 = pd.softmax_grad Out(%16) "Out@GRAD"(%24) -> "X@GRAD"("fc_2.tmp_1@GRAD") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {dist.src = 16 : i64, order = array<i32: 4, 2, 9, 1, 8, 0, 7, 3, 5, 6>} : (tensor<?x10xf32>, tensor<?x10xf32>) -> tensor<?x10xf32>
      %26:2 = pd.elementwise_add_grad "Out@GRAD"(%25) X(%13) Y(%14) -> "X@GRAD"("fc_2.tmp_0@GRAD") "Y@GRAD"("fc_2.b_0@GRAD") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_2.b_0", "fc_2.b_0@GRAD"], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 17 : i64, order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x10xf32>, tensor<?x10xf32>, tensor<10xf32>) -> (tensor<?x10xf32>, tensor<10xf32>)
      %27 = dist.all_reduce sum(%26#1) on @all : (tensor<10xf32>) -> tensor<10xf32>
      %28:2 = pd.mul_grad "Out@GRAD"(%26#0) X(%11) Y(%12) -> "X@GRAD"("fc_1.tmp_2@GRAD") "Y@GRAD"("fc_2.w_0@GRAD") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_2.w_0", "fc_2.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 18 : i64, order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x10xf32>, tensor<?x128xf32>, tensor<128x10xf32>) -> (tensor<?x128xf32>, tensor<128x10xf32>)
      %29 = dist.all_reduce sum(%28#1) on @all : (tensor<128x10xf32>) -> tensor<128x10xf32>
      %30 = pd.relu_grad Out(%11) "Out@GRAD"(%28#0) -> "X@GRAD"("fc_1.tmp_1@GRAD") {op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {dist.src = 19 : i64, order = array<i32: 1, 5, 6, 4, 0, 2, 3>} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %31:2 = pd.elementwise_add_grad "Out@GRAD"(%30) X(%8) Y(%9) -> "X@GRAD"("fc_1.tmp_0@GRAD") "Y@GRAD"("fc_1.b_0@GRAD") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_1.b_0", "fc_1.b_0@GRAD"], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 20 : i64, order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %32 = dist.all_reduce sum(%31#1) on @all : (tensor<128xf32>) -> tensor<128xf32>
      %33:2 = pd.mul_grad "Out@GRAD"(%31#0) X(%6) Y(%7) -> "X@GRAD"("fc_0.tmp_2@GRAD") "Y@GRAD"("fc_1.w_0@GRAD") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_1.w_0", "fc_1.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 21 : i64, order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128x128xf32>) -> (tensor<?x128xf32>, tensor<128x128xf32>)
      // Each rank sums what is its own of the gradient: first the rows, then of these the columns.
      %sum = dist.reduce_scatter sum(%33#1) on @rows dim 0 : (tensor<128x128xf32>) -> tensor<64x128xf32>
      %34 = dist.reduce_scatter sum(%sum) on @cols dim 1 : (tensor<64x128xf32>) -> tensor<64x64xf32>
      %35 = pd.relu_grad Out(%6) "Out@GRAD"(%33#0) -> "X@GRAD"("fc_0.tmp_1@GRAD") {op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = [], use_cudnn = false, use_mkldnn = false} with {dist.src = 22 : i64, order = array<i32: 1, 5, 6, 4, 0, 2, 3>} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %36:2 = pd.elementwise_add_grad "Out@GRAD"(%35) X(%3) Y(%4) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_0.b_0", "fc_0.b_0@GRAD"], use_mkldnn = false, x_data_format = "", y_data_format = ""} with {dist.src = 23 : i64, order = array<i32: 2, 8, 7, 6, 5, 1, 3, 4, 0>} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %37 = dist.all_reduce sum(%36#1) on @all : (tensor<128xf32>) -> tensor<128xf32>
      %38 = pd.mul_grad "Out@GRAD"(%36#0) X(%0) Y(%2) -> "X@GRAD"() "Y@GRAD"("fc_0.w_0@GRAD") {force_fp32_output = false, op_device = "", op_namescope = "/", op_role = 1 : i32, op_role_var = ["fc_0.w_0", "fc_0.w_0@GRAD"], scale_out = 1.000000e+00 : f32, scale_x = 1.000000e+00 : f32, scale_y = array<f32: 1.000000e+00>, use_mkldnn = false, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 24 : i64, order = array<i32: 5, 2, 10, 0, 11, 4, 3, 1, 9, 6, 7, 8>} : (tensor<?x128xf32>, tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
      %39 = dist.all_reduce sum(%38) on @all : (tensor<64x128xf32>) -> tensor<64x128xf32>
      %40 = pd.get @learning_rate_0 : tensor<1xf32>
      %41 = pd.get @fc_0.b_0_velocity_0 : tensor<128xf32>
      %42:2 = pd.momentum Grad(%37) LearningRate(%40) Param(%4) Velocity(%41) -> ParamOut("fc_0.b_0") VelocityOut("fc_0.b_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_2/", op_role = 2 : i32, op_role_var = ["fc_0.b_0", "fc_0.b_0@GRAD"], use_nesterov = false} with {dist.src = 25 : i64, order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
      pd.set @fc_0.b_0, %42#0 : tensor<128xf32>
      pd.set @fc_0.b_0_velocity_0, %42#1 : tensor<128xf32>
      %43 = pd.get @fc_0.w_0_velocity_0 : tensor<64x128xf32>
      %44:2 = pd.momentum Grad(%39) LearningRate(%40) Param(%2) Velocity(%43) -> ParamOut("fc_0.w_0") VelocityOut("fc_0.w_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_3/", op_role = 2 : i32, op_role_var = ["fc_0.w_0", "fc_0.w_0@GRAD"], use_nesterov = false} with {dist.src = 26 : i64, order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<64x128xf32>, tensor<1xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
      pd.set @fc_0.w_0, %44#0 : tensor<64x128xf32>
      pd.set @fc_0.w_0_velocity_0, %44#1 : tensor<64x128xf32>
      %45 = pd.get @fc_1.b_0_velocity_0 : tensor<128xf32>
      %46:2 = pd.momentum Grad(%32) LearningRate(%40) Param(%9) Velocity(%45) -> ParamOut("fc_1.b_0") VelocityOut("fc_1.b_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_4/", op_role = 2 : i32, op_role_var = ["fc_1.b_0", "fc_1.b_0@GRAD"], use_nesterov = false} with {dist.src = 27 : i64, order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
      pd.set @fc_1.b_0, %46#0 : tensor<128xf32>
      pd.set @fc_1.b_0_velocity_0, %46#1 : tensor<128xf32>
      %47 = pd.get @fc_1.w_0_velocity_0 : tensor<64x64xf32>
      %48:2 = pd.momentum Grad(%34) LearningRate(%40) Param(%part) Velocity(%47) -> ParamOut("fc_1.w_0") VelocityOut("fc_1.w_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_5/", op_role = 2 : i32, op_role_var = ["fc_1.w_0", "fc_1.w_0@GRAD"], use_nesterov = false} with {dist.src = 28 : i64, order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<64x64xf32>, tensor<1xf32>, tensor<64x64xf32>, tensor<64x64xf32>) -> (tensor<64x64xf32>, tensor<64x64xf32>)
      pd.set @fc_1.w_0, %48#0 : tensor<64x64xf32>
      pd.set @fc_1.w_0_velocity_0, %48#1 : tensor<64x64xf32>
      %49 = pd.get @fc_2.b_0_velocity_0 : tensor<10xf32>
      %50:2 = pd.momentum Grad(%27) LearningRate(%40) Param(%14) Velocity(%49) -> ParamOut("fc_2.b_0") VelocityOut("fc_2.b_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_6/", op_role = 2 : i32, op_role_var = ["fc_2.b_0", "fc_2.b_0@GRAD"], use_nesterov = false} with {dist.src = 29 : i64, order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<10xf32>, tensor<1xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>)
      pd.set @fc_2.b_0, %50#0 : tensor<10xf32>
      pd.set @fc_2.b_0_velocity_0, %50#1 : tensor<10xf32>
      %51 = pd.get @fc_2.w_0_velocity_0 : tensor<128x10xf32>
      %52:2 = pd.momentum Grad(%29) LearningRate(%40) Param(%12) Velocity(%51) -> ParamOut("fc_2.w_0") VelocityOut("fc_2.w_0_velocity_0") {mu = 0.899999976 : f32, op_device = "", op_namescope = "/optimizer_7/", op_role = 2 : i32, op_role_var = ["fc_2.w_0", "fc_2.w_0@GRAD"], use_nesterov = false} with {dist.src = 30 : i64, order = array<i32: 2, 1, 3, 5, 4, 6, 0>} : (tensor<128x10xf32>, tensor<1xf32>, tensor<128x10xf32>, tensor<128x10xf32>) -> (tensor<128x10xf32>, tensor<128x10xf32>)
      pd.set @fc_2.w_0, %52#0 : tensor<128x10xf32>
      pd.set @fc_2.w_0_velocity_0, %52#1 : tensor<128x10xf32>
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
      %0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 1>, str_value = "", value = 5.000000e-02 : f32} with {dist.src = 0 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %0 : tensor<1xf32>
      %1 = pd.fill_constant -> Out("fc_2.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128, 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 1 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0_velocity_0, %1 : tensor<128x10xf32>
      %2 = pd.fill_constant -> Out("fc_2.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 2 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<10xf32>
      pd.set @fc_2.b_0_velocity_0, %2 : tensor<10xf32>
      %3 = pd.fill_constant -> Out("fc_1.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128, 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 3 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128x128xf32>
      %v0 = dist.slice %3 dim 0 layout <even(128)> over [row] : tensor<128x128xf32> -> tensor<64x128xf32>
      %v1 = dist.slice %v0 dim 1 layout <even(128)> over [col] : tensor<64x128xf32> -> tensor<64x64xf32>
      pd.set @fc_1.w_0_velocity_0, %v1 : tensor<64x64xf32>
      %4 = pd.fill_constant -> Out("fc_1.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 4 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128xf32>
      pd.set @fc_1.b_0_velocity_0, %4 : tensor<128xf32>
      %5 = pd.fill_constant -> Out("fc_0.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 64, 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 5 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0_velocity_0, %5 : tensor<64x128xf32>
      %6 = pd.fill_constant -> Out("fc_0.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 6 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128xf32>
      pd.set @fc_0.b_0_velocity_0, %6 : tensor<128xf32>
      %7 = pd.fill_constant -> Out("fc_2.b_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 7 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<10xf32>
      pd.set @fc_2.b_0, %7 : tensor<10xf32>
      %8 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_2.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.208514407 : f32, min = -0.208514407 : f32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], seed = 20 : i32, shape = array<i64: 128, 10>} with {dist.src = 8 : i64, order = array<i32: 7, 10, 2, 12, 4, 11, 3, 9, 5, 8, 6, 0, 1>} : () -> tensor<128x10xf32>
      pd.set @fc_2.w_0, %8 : tensor<128x10xf32>
      %9 = pd.fill_constant -> Out("fc_1.b_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 9 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128xf32>
      pd.set @fc_1.b_0, %9 : tensor<128xf32>
      %10 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_1.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.153093114 : f32, min = -0.153093114 : f32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], seed = 20 : i32, shape = array<i64: 128, 128>} with {dist.src = 10 : i64, order = array<i32: 7, 10, 2, 12, 4, 11, 3, 9, 5, 8, 6, 0, 1>} : () -> tensor<128x128xf32>
      %11 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 11 : i64, order = array<i32: 3, 6, 2, 4, 5, 1, 8, 9, 7, 0>} : () -> tensor<128xf32>
      pd.set @fc_0.b_0, %11 : tensor<128xf32>
      %12 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.176776692 : f32, min = -0.176776692 : f32, op_device = "", op_namescope = "/", op_role = 0 : i32, op_role_var = [], seed = 20 : i32, shape = array<i64: 64, 128>} with {dist.src = 12 : i64, order = array<i32: 7, 10, 2, 12, 4, 11, 3, 9, 5, 8, 6, 0, 1>} : () -> tensor<64x128xf32>
      pd.set @fc_0.w_0, %12 : tensor<64x128xf32>
      %13 = pd.get @fc_2.w_0 : tensor<128x10xf32>
      %14 = pd.get @fc_0.w_0 : tensor<64x128xf32>
      %16:3 = dist.broadcast(%13, %14, %10) on @all from <row = 0 and col = 0> : (tensor<128x10xf32>, tensor<64x128xf32>, tensor<128x128xf32>) -> (tensor<128x10xf32>, tensor<64x128xf32>, tensor<128x128xf32>)
      pd.set @fc_2.w_0, %16#0 : tensor<128x10xf32>
      pd.set @fc_0.w_0, %16#1 : tensor<64x128xf32>
      // One draw for all ranks, of which each keeps its part.
      %w0 = dist.slice %16#2 dim 0 layout <even(128)> over [row] : tensor<128x128xf32> -> tensor<64x128xf32>
      %w1 = dist.slice %w0 dim 1 layout <even(128)> over [col] : tensor<64x128xf32> -> tensor<64x64xf32>
      pd.set @fc_1.w_0, %w1 : tensor<64x64xf32>
    }
  }
}

