// A pipeline of three stages, whose middle one only passes values on: what stage 0 gives goes to
// stage 2 in two hops, and its gradient comes back so. A hop comes in with the first task of its
// stage after the one that has made the value, and leaves at the end of it: in a later task it would
// wait for the stage that waits for it. The rest is pipeline.mlir.
module {
  dist.mesh @world [pp = 3] time [micro = 4]
  dist.comm @forward on @world over [pp] pairs
  dist.comm @backward on @world over [pp] pairs
  dist.comm @stages on @world over [pp] group

  // The single-device program.
  module @source {
    pd.var @learning_rate_0 : tensor<f32>
    pd.var @linear_0.b_0 : tensor<32xf32> {parameter}
    pd.var @linear_0.b_0_velocity_0 : tensor<32xf32>
    pd.var @linear_0.w_0 : tensor<10x32xf32> {parameter}
    pd.var @linear_0.w_0_velocity_0 : tensor<10x32xf32>
    pd.var @linear_2.b_0 : tensor<32xf32> {parameter}
    pd.var @linear_2.b_0_velocity_0 : tensor<32xf32>
    pd.var @linear_2.w_0 : tensor<32x32xf32> {parameter}
    pd.var @linear_2.w_0_velocity_0 : tensor<32x32xf32>
    pd.var @linear_4.b_0 : tensor<1xf32> {parameter}
    pd.var @linear_4.b_0_velocity_0 : tensor<1xf32>
    pd.var @linear_4.w_0 : tensor<32x1xf32> {parameter}
    pd.var @linear_4.w_0_velocity_0 : tensor<32x1xf32>
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 2006002 : i64} {
      pd.decl "add_n_0.tmp_0" tensor of float32 [1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "elementwise_div_0" tensor of float32 [1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "elementwise_max_0" tensor of float32 [1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "elementwise_sub_0" tensor of float32 [-1, 1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "elementwise_sub_0@GRAD" tensor of float32 [-1, 1] lod 0 {stop_gradient = false}
      pd.decl "fill_constant_1.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = true}
      pd.decl "learning_rate_0" tensor of float32 [] {persistable = true, stop_gradient = true}
      pd.decl "linear_0.b_0" tensor of float32 [32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_0.b_0@GRAD" tensor of float32 [32] lod 0 {stop_gradient = false}
      pd.decl "linear_0.b_0_velocity_0" tensor of float32 [32] {persistable = true, stop_gradient = false}
      pd.decl "linear_0.w_0" tensor of float32 [10, 32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_0.w_0@GRAD" tensor of float32 [10, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_0.w_0_velocity_0" tensor of float32 [10, 32] {persistable = true, stop_gradient = false}
      pd.decl "linear_1.tmp_0" tensor of float32 [-1, 32] {persistable = false, stop_gradient = false}
      pd.decl "linear_1.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_1.tmp_1" tensor of float32 [-1, 32] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "linear_1.tmp_1@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_2.b_0" tensor of float32 [32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_2.b_0@GRAD" tensor of float32 [32] lod 0 {stop_gradient = false}
      pd.decl "linear_2.b_0_velocity_0" tensor of float32 [32] {persistable = true, stop_gradient = false}
      pd.decl "linear_2.w_0" tensor of float32 [32, 32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_2.w_0@GRAD" tensor of float32 [32, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_2.w_0_velocity_0" tensor of float32 [32, 32] {persistable = true, stop_gradient = false}
      pd.decl "linear_3.tmp_0" tensor of float32 [-1, 32] {persistable = false, stop_gradient = false}
      pd.decl "linear_3.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_3.tmp_1" tensor of float32 [-1, 32] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "linear_3.tmp_1@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_4.b_0" tensor of float32 [1] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_4.b_0@GRAD" tensor of float32 [1] lod 0 {stop_gradient = false}
      pd.decl "linear_4.b_0_velocity_0" tensor of float32 [1] {persistable = true, stop_gradient = false}
      pd.decl "linear_4.w_0" tensor of float32 [32, 1] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_4.w_0@GRAD" tensor of float32 [32, 1] lod 0 {stop_gradient = false}
      pd.decl "linear_4.w_0_velocity_0" tensor of float32 [32, 1] {persistable = true, stop_gradient = false}
      pd.decl "linear_5.tmp_0" tensor of float32 [-1, 1] {persistable = false, stop_gradient = false}
      pd.decl "linear_5.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0 {stop_gradient = false}
      pd.decl "linear_5.tmp_1" tensor of float32 [-1, 1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "linear_5.tmp_1@GRAD" tensor of float32 [-1, 1] lod 0 {stop_gradient = false}
      pd.decl "mean_0.tmp_0" tensor of float32 [] {persistable = false, stop_gradient = false}
      pd.decl "mean_0.tmp_0@GRAD" tensor of float32 [] {stop_gradient = false}
      pd.decl "sqrt_0.tmp_0" tensor of float32 [1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "square_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "square_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0 {stop_gradient = false}
      pd.decl "squared_l2_norm_0.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_1.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_2.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_3.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_4.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_5.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "tanh_0.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "tanh_0.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "tanh_1.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "tanh_1.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "x" tensor of float32 [-1, 10] lod 0 {persistable = false, stop_gradient = true}
      pd.decl "y" tensor of float32 [-1, 1] lod 0 {persistable = false, stop_gradient = true}
      %x = pd.input "x" : tensor<?x10xf32>
      %y = pd.input "y" : tensor<?x1xf32>
      %linear_0.w_0 = pd.get @linear_0.w_0 : tensor<10x32xf32>
      %linear_1.tmp_0 = pd.matmul_v2 X(%x) Y(%linear_0.w_0) -> Out("linear_1.tmp_0") {trans_x = false, trans_y = false} : (tensor<?x10xf32>, tensor<10x32xf32>) -> tensor<?x32xf32>
      %linear_0.b_0 = pd.get @linear_0.b_0 : tensor<32xf32>
      %linear_1.tmp_1 = pd.elementwise_add X(%linear_1.tmp_0) Y(%linear_0.b_0) -> Out("linear_1.tmp_1") {axis = -1 : i32} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
      %tanh_0.tmp_0 = pd.tanh X(%linear_1.tmp_1) -> Out("tanh_0.tmp_0") : (tensor<?x32xf32>) -> tensor<?x32xf32>
      %linear_2.w_0 = pd.get @linear_2.w_0 : tensor<32x32xf32>
      %linear_3.tmp_0 = pd.matmul_v2 X(%tanh_0.tmp_0) Y(%linear_2.w_0) -> Out("linear_3.tmp_0") {trans_x = false, trans_y = false} : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
      %linear_2.b_0 = pd.get @linear_2.b_0 : tensor<32xf32>
      %linear_3.tmp_1 = pd.elementwise_add X(%linear_3.tmp_0) Y(%linear_2.b_0) -> Out("linear_3.tmp_1") {axis = -1 : i32} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
      %tanh_1.tmp_0 = pd.tanh X(%linear_3.tmp_1) -> Out("tanh_1.tmp_0") : (tensor<?x32xf32>) -> tensor<?x32xf32>
      %linear_4.w_0 = pd.get @linear_4.w_0 : tensor<32x1xf32>
      %linear_5.tmp_0 = pd.matmul_v2 X(%tanh_1.tmp_0) Y(%linear_4.w_0) -> Out("linear_5.tmp_0") {trans_x = false, trans_y = false} : (tensor<?x32xf32>, tensor<32x1xf32>) -> tensor<?x1xf32>
      %linear_4.b_0 = pd.get @linear_4.b_0 : tensor<1xf32>
      %linear_5.tmp_1 = pd.elementwise_add X(%linear_5.tmp_0) Y(%linear_4.b_0) -> Out("linear_5.tmp_1") {axis = -1 : i32} : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
      %elementwise_sub_0 = pd.elementwise_sub X(%linear_5.tmp_1) Y(%y) -> Out("elementwise_sub_0") {axis = -1 : i32} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %square_0.tmp_0 = pd.square X(%elementwise_sub_0) -> Out("square_0.tmp_0") : (tensor<?x1xf32>) -> tensor<?x1xf32>
      %mean_0.tmp_0 = pd.reduce_mean X(%square_0.tmp_0) -> Out("mean_0.tmp_0") {dim = array<i32>, keep_dim = false, op_role = 256 : i32, reduce_all = true} : (tensor<?x1xf32>) -> tensor<f32>
      %mean_0.tmp_0.grad = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64>, value = 1.000000e+00 : f32} : () -> tensor<f32>
      %square_0.tmp_0.grad = pd.reduce_mean_grad "Out@GRAD"(%mean_0.tmp_0.grad) X(%square_0.tmp_0) -> "X@GRAD"("square_0.tmp_0@GRAD") {dim = array<i32>, keep_dim = false, op_role = 1 : i32, reduce_all = true} : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %elementwise_sub_0.grad = pd.square_grad "Out@GRAD"(%square_0.tmp_0.grad) X(%elementwise_sub_0) -> "X@GRAD"("elementwise_sub_0@GRAD") {op_role = 1 : i32} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %linear_5.tmp_1.grad = pd.elementwise_sub_grad "Out@GRAD"(%elementwise_sub_0.grad) X(%linear_5.tmp_1) Y(%y) -> "X@GRAD"("linear_5.tmp_1@GRAD") "Y@GRAD"() {axis = -1 : i32, op_role = 1 : i32} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %elementwise_add_grad:2 = pd.elementwise_add_grad "Out@GRAD"(%linear_5.tmp_1.grad) X(%linear_5.tmp_0) Y(%linear_4.b_0) -> "X@GRAD"("linear_5.tmp_0@GRAD") "Y@GRAD"("linear_4.b_0@GRAD") {axis = -1 : i32, op_role = 1 : i32} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>)
      %matmul_v2_grad:2 = pd.matmul_v2_grad "Out@GRAD"(%elementwise_add_grad#0) X(%tanh_1.tmp_0) Y(%linear_4.w_0) -> "X@GRAD"("tanh_1.tmp_0@GRAD") "Y@GRAD"("linear_4.w_0@GRAD") {op_role = 1 : i32, trans_x = false, trans_y = false} : (tensor<?x1xf32>, tensor<?x32xf32>, tensor<32x1xf32>) -> (tensor<?x32xf32>, tensor<32x1xf32>)
      %linear_3.tmp_1.grad = pd.tanh_grad Out(%tanh_1.tmp_0) "Out@GRAD"(%matmul_v2_grad#0) -> "X@GRAD"("linear_3.tmp_1@GRAD") {op_role = 1 : i32} : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
      %elementwise_add_grad.2:2 = pd.elementwise_add_grad "Out@GRAD"(%linear_3.tmp_1.grad) X(%linear_3.tmp_0) Y(%linear_2.b_0) -> "X@GRAD"("linear_3.tmp_0@GRAD") "Y@GRAD"("linear_2.b_0@GRAD") {axis = -1 : i32, op_role = 1 : i32} : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<32xf32>) -> (tensor<?x32xf32>, tensor<32xf32>)
      %matmul_v2_grad.2:2 = pd.matmul_v2_grad "Out@GRAD"(%elementwise_add_grad.2#0) X(%tanh_0.tmp_0) Y(%linear_2.w_0) -> "X@GRAD"("tanh_0.tmp_0@GRAD") "Y@GRAD"("linear_2.w_0@GRAD") {op_role = 1 : i32, trans_x = false, trans_y = false} : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<32x32xf32>)
      %linear_1.tmp_1.grad = pd.tanh_grad Out(%tanh_0.tmp_0) "Out@GRAD"(%matmul_v2_grad.2#0) -> "X@GRAD"("linear_1.tmp_1@GRAD") {op_role = 1 : i32} : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
      %elementwise_add_grad.3:2 = pd.elementwise_add_grad "Out@GRAD"(%linear_1.tmp_1.grad) X(%linear_1.tmp_0) Y(%linear_0.b_0) -> "X@GRAD"("linear_1.tmp_0@GRAD") "Y@GRAD"("linear_0.b_0@GRAD") {axis = -1 : i32, op_role = 1 : i32} : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<32xf32>) -> (tensor<?x32xf32>, tensor<32xf32>)
      %linear_0.w_0.grad = pd.matmul_v2_grad "Out@GRAD"(%elementwise_add_grad.3#0) X(%x) Y(%linear_0.w_0) -> "X@GRAD"() "Y@GRAD"("linear_0.w_0@GRAD") {op_role = 1 : i32, trans_x = false, trans_y = false} : (tensor<?x32xf32>, tensor<?x10xf32>, tensor<10x32xf32>) -> tensor<10x32xf32>
      %squared_l2_norm_0.tmp_0 = pd.squared_l2_norm X(%elementwise_add_grad.3#1) -> Out("squared_l2_norm_0.tmp_0") {op_role = 2 : i32} : (tensor<32xf32>) -> tensor<1xf32>
      %squared_l2_norm_1.tmp_0 = pd.squared_l2_norm X(%linear_0.w_0.grad) -> Out("squared_l2_norm_1.tmp_0") {op_role = 2 : i32} : (tensor<10x32xf32>) -> tensor<1xf32>
      %squared_l2_norm_2.tmp_0 = pd.squared_l2_norm X(%elementwise_add_grad.2#1) -> Out("squared_l2_norm_2.tmp_0") {op_role = 2 : i32} : (tensor<32xf32>) -> tensor<1xf32>
      %squared_l2_norm_3.tmp_0 = pd.squared_l2_norm X(%matmul_v2_grad.2#1) -> Out("squared_l2_norm_3.tmp_0") {op_role = 2 : i32} : (tensor<32x32xf32>) -> tensor<1xf32>
      %squared_l2_norm_4.tmp_0 = pd.squared_l2_norm X(%elementwise_add_grad#1) -> Out("squared_l2_norm_4.tmp_0") {op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
      %squared_l2_norm_5.tmp_0 = pd.squared_l2_norm X(%matmul_v2_grad#1) -> Out("squared_l2_norm_5.tmp_0") {op_role = 2 : i32} : (tensor<32x1xf32>) -> tensor<1xf32>
      %add_n_0.tmp_0 = pd.sum X(%squared_l2_norm_0.tmp_0, %squared_l2_norm_1.tmp_0, %squared_l2_norm_2.tmp_0, %squared_l2_norm_3.tmp_0, %squared_l2_norm_4.tmp_0, %squared_l2_norm_5.tmp_0) -> Out("add_n_0.tmp_0") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      %sqrt_0.tmp_0 = pd.sqrt X(%add_n_0.tmp_0) -> Out("sqrt_0.tmp_0") {op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
      %fill_constant_1.tmp_0 = pd.fill_constant ShapeTensor() ShapeTensorList() ValueTensor() -> Out("fill_constant_1.tmp_0") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 1>, str_value = "1.0", value = 1.000000e+00 : f32} : () -> tensor<1xf32>
      %elementwise_max_0 = pd.elementwise_max X(%fill_constant_1.tmp_0) Y(%sqrt_0.tmp_0) -> Out("elementwise_max_0") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      %elementwise_div_0 = pd.elementwise_div X(%fill_constant_1.tmp_0) Y(%elementwise_max_0) -> Out("elementwise_div_0") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      %linear_0.b_0.grad = pd.elementwise_mul X(%elementwise_add_grad.3#1) Y(%elementwise_div_0) -> Out("linear_0.b_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} : (tensor<32xf32>, tensor<1xf32>) -> tensor<32xf32>
      %linear_0.w_0.grad.2 = pd.elementwise_mul X(%linear_0.w_0.grad) Y(%elementwise_div_0) -> Out("linear_0.w_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} : (tensor<10x32xf32>, tensor<1xf32>) -> tensor<10x32xf32>
      %linear_2.b_0.grad = pd.elementwise_mul X(%elementwise_add_grad.2#1) Y(%elementwise_div_0) -> Out("linear_2.b_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} : (tensor<32xf32>, tensor<1xf32>) -> tensor<32xf32>
      %linear_2.w_0.grad = pd.elementwise_mul X(%matmul_v2_grad.2#1) Y(%elementwise_div_0) -> Out("linear_2.w_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} : (tensor<32x32xf32>, tensor<1xf32>) -> tensor<32x32xf32>
      %linear_4.b_0.grad = pd.elementwise_mul X(%elementwise_add_grad#1) Y(%elementwise_div_0) -> Out("linear_4.b_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      %linear_4.w_0.grad = pd.elementwise_mul X(%matmul_v2_grad#1) Y(%elementwise_div_0) -> Out("linear_4.w_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} : (tensor<32x1xf32>, tensor<1xf32>) -> tensor<32x1xf32>
      %learning_rate_0 = pd.get @learning_rate_0 : tensor<f32>
      %linear_0.b_0_velocity_0 = pd.get @linear_0.b_0_velocity_0 : tensor<32xf32>
      %momentum:2 = pd.momentum Grad(%linear_0.b_0.grad) LearningRate(%learning_rate_0) MasterParam() Param(%linear_0.b_0) Velocity(%linear_0.b_0_velocity_0) -> ParamOut("linear_0.b_0") VelocityOut("linear_0.b_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} : (tensor<32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
      pd.set @linear_0.b_0, %momentum#0 : tensor<32xf32>
      pd.set @linear_0.b_0_velocity_0, %momentum#1 : tensor<32xf32>
      %linear_0.w_0_velocity_0 = pd.get @linear_0.w_0_velocity_0 : tensor<10x32xf32>
      %momentum.2:2 = pd.momentum Grad(%linear_0.w_0.grad.2) LearningRate(%learning_rate_0) MasterParam() Param(%linear_0.w_0) Velocity(%linear_0.w_0_velocity_0) -> ParamOut("linear_0.w_0") VelocityOut("linear_0.w_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} : (tensor<10x32xf32>, tensor<f32>, tensor<10x32xf32>, tensor<10x32xf32>) -> (tensor<10x32xf32>, tensor<10x32xf32>)
      pd.set @linear_0.w_0, %momentum.2#0 : tensor<10x32xf32>
      pd.set @linear_0.w_0_velocity_0, %momentum.2#1 : tensor<10x32xf32>
      %linear_2.b_0_velocity_0 = pd.get @linear_2.b_0_velocity_0 : tensor<32xf32>
      %momentum.3:2 = pd.momentum Grad(%linear_2.b_0.grad) LearningRate(%learning_rate_0) MasterParam() Param(%linear_2.b_0) Velocity(%linear_2.b_0_velocity_0) -> ParamOut("linear_2.b_0") VelocityOut("linear_2.b_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} : (tensor<32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
      pd.set @linear_2.b_0, %momentum.3#0 : tensor<32xf32>
      pd.set @linear_2.b_0_velocity_0, %momentum.3#1 : tensor<32xf32>
      %linear_2.w_0_velocity_0 = pd.get @linear_2.w_0_velocity_0 : tensor<32x32xf32>
      %momentum.4:2 = pd.momentum Grad(%linear_2.w_0.grad) LearningRate(%learning_rate_0) MasterParam() Param(%linear_2.w_0) Velocity(%linear_2.w_0_velocity_0) -> ParamOut("linear_2.w_0") VelocityOut("linear_2.w_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} : (tensor<32x32xf32>, tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>)
      pd.set @linear_2.w_0, %momentum.4#0 : tensor<32x32xf32>
      pd.set @linear_2.w_0_velocity_0, %momentum.4#1 : tensor<32x32xf32>
      %linear_4.b_0_velocity_0 = pd.get @linear_4.b_0_velocity_0 : tensor<1xf32>
      %momentum.5:2 = pd.momentum Grad(%linear_4.b_0.grad) LearningRate(%learning_rate_0) MasterParam() Param(%linear_4.b_0) Velocity(%linear_4.b_0_velocity_0) -> ParamOut("linear_4.b_0") VelocityOut("linear_4.b_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} : (tensor<1xf32>, tensor<f32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>)
      pd.set @linear_4.b_0, %momentum.5#0 : tensor<1xf32>
      pd.set @linear_4.b_0_velocity_0, %momentum.5#1 : tensor<1xf32>
      %linear_4.w_0_velocity_0 = pd.get @linear_4.w_0_velocity_0 : tensor<32x1xf32>
      %momentum.6:2 = pd.momentum Grad(%linear_4.w_0.grad) LearningRate(%learning_rate_0) MasterParam() Param(%linear_4.w_0) Velocity(%linear_4.w_0_velocity_0) -> ParamOut("linear_4.w_0") VelocityOut("linear_4.w_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} : (tensor<32x1xf32>, tensor<f32>, tensor<32x1xf32>, tensor<32x1xf32>) -> (tensor<32x1xf32>, tensor<32x1xf32>)
      pd.set @linear_4.w_0, %momentum.6#0 : tensor<32x1xf32>
      pd.set @linear_4.w_0_velocity_0, %momentum.6#1 : tensor<32x1xf32>
    }
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 2006002 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [] {persistable = true, stop_gradient = true}
      pd.decl "linear_0.b_0" tensor of float32 [32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_0.b_0_velocity_0" tensor of float32 [32] {persistable = true, stop_gradient = true}
      pd.decl "linear_0.w_0" tensor of float32 [10, 32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_0.w_0_velocity_0" tensor of float32 [10, 32] {persistable = true, stop_gradient = true}
      pd.decl "linear_2.b_0" tensor of float32 [32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_2.b_0_velocity_0" tensor of float32 [32] {persistable = true, stop_gradient = true}
      pd.decl "linear_2.w_0" tensor of float32 [32, 32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_2.w_0_velocity_0" tensor of float32 [32, 32] {persistable = true, stop_gradient = true}
      pd.decl "linear_4.b_0" tensor of float32 [1] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_4.b_0_velocity_0" tensor of float32 [1] {persistable = true, stop_gradient = true}
      pd.decl "linear_4.w_0" tensor of float32 [32, 1] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_4.w_0_velocity_0" tensor of float32 [32, 1] {persistable = true, stop_gradient = true}
      %linear_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("linear_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.377964467 : f32, min = -0.377964467 : f32, seed = 20 : i32, shape = array<i64: 10, 32>} : () -> tensor<10x32xf32>
      pd.set @linear_0.w_0, %linear_0.w_0 : tensor<10x32xf32>
      %linear_0.b_0 = pd.fill_constant -> Out("linear_0.b_0") {dtype = 5 : i32, shape = array<i64: 32>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<32xf32>
      pd.set @linear_0.b_0, %linear_0.b_0 : tensor<32xf32>
      %linear_2.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("linear_2.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.306186229 : f32, min = -0.306186229 : f32, seed = 20 : i32, shape = array<i64: 32, 32>} : () -> tensor<32x32xf32>
      pd.set @linear_2.w_0, %linear_2.w_0 : tensor<32x32xf32>
      %linear_2.b_0 = pd.fill_constant -> Out("linear_2.b_0") {dtype = 5 : i32, shape = array<i64: 32>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<32xf32>
      pd.set @linear_2.b_0, %linear_2.b_0 : tensor<32xf32>
      %linear_4.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("linear_4.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.426401436 : f32, min = -0.426401436 : f32, seed = 20 : i32, shape = array<i64: 32, 1>} : () -> tensor<32x1xf32>
      pd.set @linear_4.w_0, %linear_4.w_0 : tensor<32x1xf32>
      %linear_4.b_0 = pd.fill_constant -> Out("linear_4.b_0") {dtype = 5 : i32, shape = array<i64: 1>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<1xf32>
      pd.set @linear_4.b_0, %linear_4.b_0 : tensor<1xf32>
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, shape = array<i64>, str_value = "0.02", value = 2.000000e-02 : f32} : () -> tensor<f32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<f32>
      %linear_0.b_0_velocity_0 = pd.fill_constant -> Out("linear_0.b_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 32>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<32xf32>
      pd.set @linear_0.b_0_velocity_0, %linear_0.b_0_velocity_0 : tensor<32xf32>
      %linear_0.w_0_velocity_0 = pd.fill_constant -> Out("linear_0.w_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 10, 32>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<10x32xf32>
      pd.set @linear_0.w_0_velocity_0, %linear_0.w_0_velocity_0 : tensor<10x32xf32>
      %linear_2.b_0_velocity_0 = pd.fill_constant -> Out("linear_2.b_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 32>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<32xf32>
      pd.set @linear_2.b_0_velocity_0, %linear_2.b_0_velocity_0 : tensor<32xf32>
      %linear_2.w_0_velocity_0 = pd.fill_constant -> Out("linear_2.w_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 32, 32>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<32x32xf32>
      pd.set @linear_2.w_0_velocity_0, %linear_2.w_0_velocity_0 : tensor<32x32xf32>
      %linear_4.b_0_velocity_0 = pd.fill_constant -> Out("linear_4.b_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 1>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<1xf32>
      pd.set @linear_4.b_0_velocity_0, %linear_4.b_0_velocity_0 : tensor<1xf32>
      %linear_4.w_0_velocity_0 = pd.fill_constant -> Out("linear_4.w_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 32, 1>, str_value = "0.0", value = 0.000000e+00 : f32} : () -> tensor<32x1xf32>
      pd.set @linear_4.w_0_velocity_0, %linear_4.w_0_velocity_0 : tensor<32x1xf32>
    }
  }

  dist.role @trainer on @world {
    // A stage holds its own parameters; everybody knows the rate.
    pd.var @learning_rate_0 : tensor<f32> {dist.rel = #dist.rel<"learning_rate_0">}
    pd.var @linear_0.w_0 : tensor<10x32xf32> {parameter, dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"linear_0.w_0", pp: R at pp = 0>}
    pd.var @linear_0.w_0_velocity_0 : tensor<10x32xf32> {dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"linear_0.w_0_velocity_0", pp: R at pp = 0>}
    pd.var @linear_0.b_0 : tensor<32xf32> {parameter, dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"linear_0.b_0", pp: R at pp = 0>}
    pd.var @linear_0.b_0_velocity_0 : tensor<32xf32> {dist.at = #dist.sel<pp = 0>, dist.rel = #dist.rel<"linear_0.b_0_velocity_0", pp: R at pp = 0>}
    pd.var @linear_2.w_0 : tensor<32x32xf32> {parameter, dist.at = #dist.sel<pp = 2>, dist.rel = #dist.rel<"linear_2.w_0", pp: R at pp = 2>}
    pd.var @linear_2.w_0_velocity_0 : tensor<32x32xf32> {dist.at = #dist.sel<pp = 2>, dist.rel = #dist.rel<"linear_2.w_0_velocity_0", pp: R at pp = 2>}
    pd.var @linear_2.b_0 : tensor<32xf32> {parameter, dist.at = #dist.sel<pp = 2>, dist.rel = #dist.rel<"linear_2.b_0", pp: R at pp = 2>}
    pd.var @linear_2.b_0_velocity_0 : tensor<32xf32> {dist.at = #dist.sel<pp = 2>, dist.rel = #dist.rel<"linear_2.b_0_velocity_0", pp: R at pp = 2>}
    pd.var @linear_4.w_0 : tensor<32x1xf32> {parameter, dist.at = #dist.sel<pp = 2>, dist.rel = #dist.rel<"linear_4.w_0", pp: R at pp = 2>}
    pd.var @linear_4.w_0_velocity_0 : tensor<32x1xf32> {dist.at = #dist.sel<pp = 2>, dist.rel = #dist.rel<"linear_4.w_0_velocity_0", pp: R at pp = 2>}
    pd.var @linear_4.b_0 : tensor<1xf32> {parameter, dist.at = #dist.sel<pp = 2>, dist.rel = #dist.rel<"linear_4.b_0", pp: R at pp = 2>}
    pd.var @linear_4.b_0_velocity_0 : tensor<1xf32> {dist.at = #dist.sel<pp = 2>, dist.rel = #dist.rel<"linear_4.b_0_velocity_0", pp: R at pp = 2>}
    pd.program @main attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 2006002 : i64} {
      pd.decl "add_n_0.tmp_0" tensor of float32 [1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "elementwise_div_0" tensor of float32 [1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "elementwise_max_0" tensor of float32 [1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "elementwise_sub_0" tensor of float32 [-1, 1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "elementwise_sub_0@GRAD" tensor of float32 [-1, 1] lod 0 {stop_gradient = false}
      pd.decl "fill_constant_1.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = true}
      pd.decl "learning_rate_0" tensor of float32 [] {persistable = true, stop_gradient = true}
      pd.decl "linear_0.b_0" tensor of float32 [32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_0.b_0@GRAD" tensor of float32 [32] lod 0 {stop_gradient = false}
      pd.decl "linear_0.b_0_velocity_0" tensor of float32 [32] {persistable = true, stop_gradient = false}
      pd.decl "linear_0.w_0" tensor of float32 [10, 32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_0.w_0@GRAD" tensor of float32 [10, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_0.w_0_velocity_0" tensor of float32 [10, 32] {persistable = true, stop_gradient = false}
      pd.decl "linear_1.tmp_0" tensor of float32 [-1, 32] {persistable = false, stop_gradient = false}
      pd.decl "linear_1.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_1.tmp_1" tensor of float32 [-1, 32] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "linear_1.tmp_1@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_2.b_0" tensor of float32 [32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_2.b_0@GRAD" tensor of float32 [32] lod 0 {stop_gradient = false}
      pd.decl "linear_2.b_0_velocity_0" tensor of float32 [32] {persistable = true, stop_gradient = false}
      pd.decl "linear_2.w_0" tensor of float32 [32, 32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_2.w_0@GRAD" tensor of float32 [32, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_2.w_0_velocity_0" tensor of float32 [32, 32] {persistable = true, stop_gradient = false}
      pd.decl "linear_3.tmp_0" tensor of float32 [-1, 32] {persistable = false, stop_gradient = false}
      pd.decl "linear_3.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_3.tmp_1" tensor of float32 [-1, 32] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "linear_3.tmp_1@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "linear_4.b_0" tensor of float32 [1] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_4.b_0@GRAD" tensor of float32 [1] lod 0 {stop_gradient = false}
      pd.decl "linear_4.b_0_velocity_0" tensor of float32 [1] {persistable = true, stop_gradient = false}
      pd.decl "linear_4.w_0" tensor of float32 [32, 1] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_4.w_0@GRAD" tensor of float32 [32, 1] lod 0 {stop_gradient = false}
      pd.decl "linear_4.w_0_velocity_0" tensor of float32 [32, 1] {persistable = true, stop_gradient = false}
      pd.decl "linear_5.tmp_0" tensor of float32 [-1, 1] {persistable = false, stop_gradient = false}
      pd.decl "linear_5.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0 {stop_gradient = false}
      pd.decl "linear_5.tmp_1" tensor of float32 [-1, 1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "linear_5.tmp_1@GRAD" tensor of float32 [-1, 1] lod 0 {stop_gradient = false}
      pd.decl "mean_0.tmp_0" tensor of float32 [] {persistable = false, stop_gradient = false}
      pd.decl "mean_0.tmp_0@GRAD" tensor of float32 [] {stop_gradient = false}
      pd.decl "sqrt_0.tmp_0" tensor of float32 [1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "square_0.tmp_0" tensor of float32 [-1, 1] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "square_0.tmp_0@GRAD" tensor of float32 [-1, 1] lod 0 {stop_gradient = false}
      pd.decl "squared_l2_norm_0.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_1.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_2.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_3.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_4.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "squared_l2_norm_5.tmp_0" tensor of float32 [1] {persistable = false, stop_gradient = false}
      pd.decl "tanh_0.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "tanh_0.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "tanh_1.tmp_0" tensor of float32 [-1, 32] lod 0 {persistable = false, stop_gradient = false}
      pd.decl "tanh_1.tmp_0@GRAD" tensor of float32 [-1, 32] lod 0 {stop_gradient = false}
      pd.decl "x" tensor of float32 [-1, 10] lod 0 {persistable = false, stop_gradient = true}
      pd.decl "y" tensor of float32 [-1, 1] lod 0 {persistable = false, stop_gradient = true}
      // What is summed over the micro-batches begins with nothing: the gradients of each stage, and
      // the loss on the last one.
      %zero0:2 = dist.on <pp = 0> -> (!dist.at<tensor<10x32xf32>, pp = 0>, !dist.at<tensor<32xf32>, pp = 0>) {
        %z0 = pd.fill_constant -> Out("linear_0.w_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 1 : i32, shape = array<i64: 10, 32>, value = 0.000000e+00 : f32} : () -> tensor<10x32xf32>
        %z1 = pd.fill_constant -> Out("linear_0.b_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 1 : i32, shape = array<i64: 32>, value = 0.000000e+00 : f32} : () -> tensor<32xf32>
        dist.yield %z0, %z1 : tensor<10x32xf32>, tensor<32xf32>
      }
      %zero1:5 = dist.on <pp = 2> -> (!dist.at<tensor<f32>, pp = 2>, !dist.at<tensor<32x32xf32>, pp = 2>, !dist.at<tensor<32xf32>, pp = 2>, !dist.at<tensor<32x1xf32>, pp = 2>, !dist.at<tensor<1xf32>, pp = 2>) {
        %z0 = pd.fill_constant -> Out("mean_0.tmp_0") {dtype = 5 : i32, force_cpu = false, op_role = 1 : i32, shape = array<i64>, value = 0.000000e+00 : f32} : () -> tensor<f32>
        %z1 = pd.fill_constant -> Out("linear_2.w_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 1 : i32, shape = array<i64: 32, 32>, value = 0.000000e+00 : f32} : () -> tensor<32x32xf32>
        %z2 = pd.fill_constant -> Out("linear_2.b_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 1 : i32, shape = array<i64: 32>, value = 0.000000e+00 : f32} : () -> tensor<32xf32>
        %z3 = pd.fill_constant -> Out("linear_4.w_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 1 : i32, shape = array<i64: 32, 1>, value = 0.000000e+00 : f32} : () -> tensor<32x1xf32>
        %z4 = pd.fill_constant -> Out("linear_4.b_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 1 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} : () -> tensor<1xf32>
        dist.yield %z0, %z1, %z2, %z3, %z4 : tensor<f32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x1xf32>, tensor<1xf32>
      }
      %sum:7 = dist.micro over [micro] schedule("1F1B", chunks 1) iter(%s0 = %zero0#0 : !dist.at<tensor<10x32xf32>, pp = 0>, %s1 = %zero0#1 : !dist.at<tensor<32xf32>, pp = 0>, %t0 = %zero1#0 : !dist.at<tensor<f32>, pp = 2>, %t1 = %zero1#1 : !dist.at<tensor<32x32xf32>, pp = 2>, %t2 = %zero1#2 : !dist.at<tensor<32xf32>, pp = 2>, %t3 = %zero1#3 : !dist.at<tensor<32x1xf32>, pp = 2>, %t4 = %zero1#4 : !dist.at<tensor<1xf32>, pp = 2>) -> (!dist.at<tensor<10x32xf32>, pp = 0>, !dist.at<tensor<32xf32>, pp = 0>, !dist.at<tensor<f32>, pp = 2>, !dist.at<tensor<32x32xf32>, pp = 2>, !dist.at<tensor<32xf32>, pp = 2>, !dist.at<tensor<32x1xf32>, pp = 2>, !dist.at<tensor<1xf32>, pp = 2>) {
        %x = pd.input "x" {dist.batch = #dist.batch<0: micro>} : tensor<?x10xf32>
        %y = pd.input "y" {dist.batch = #dist.batch<0: micro>} : tensor<?x1xf32>
        %f0:2 = dist.on <pp = 0> task F -> (!dist.at<tensor<?x32xf32>, pp = 0>, !dist.at<tensor<?x32xf32>, pp = 0>) {
          %linear_0.w_0 = pd.get @linear_0.w_0 : tensor<10x32xf32>
          %linear_1.tmp_0 = pd.matmul_v2 X(%x) Y(%linear_0.w_0) -> Out("linear_1.tmp_0") {trans_x = false, trans_y = false} with {dist.src = 0 : i64} : (tensor<?x10xf32>, tensor<10x32xf32>) -> tensor<?x32xf32>
          %linear_0.b_0 = pd.get @linear_0.b_0 : tensor<32xf32>
          %linear_1.tmp_1 = pd.elementwise_add X(%linear_1.tmp_0) Y(%linear_0.b_0) -> Out("linear_1.tmp_1") {axis = -1 : i32} with {dist.src = 1 : i64} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
          %tanh_0.tmp_0 = pd.tanh X(%linear_1.tmp_1) -> Out("tanh_0.tmp_0") with {dist.src = 2 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
          dist.yield %tanh_0.tmp_0, %linear_1.tmp_0 : tensor<?x32xf32>, tensor<?x32xf32>
        }
        %h_mid = dist.transfer %f0#0 on @forward : !dist.at<tensor<?x32xf32>, pp = 0> -> !dist.at<tensor<?x32xf32>, pp = 1>
        dist.on <pp = 1> task F { dist.yield }
        %h1 = dist.transfer %h_mid on @forward : !dist.at<tensor<?x32xf32>, pp = 1> -> !dist.at<tensor<?x32xf32>, pp = 2>
        %f1:7 = dist.on <pp = 2> with (%h_in = %h1 : !dist.at<tensor<?x32xf32>, pp = 2>, %loss_so_far = %t0 : !dist.at<tensor<f32>, pp = 2>) task F -> (!dist.at<tensor<f32>, pp = 2>, !dist.at<tensor<?x32xf32>, pp = 2>, !dist.at<tensor<?x32xf32>, pp = 2>, !dist.at<tensor<?x1xf32>, pp = 2>, !dist.at<tensor<?x1xf32>, pp = 2>, !dist.at<tensor<?x1xf32>, pp = 2>, !dist.at<tensor<?x1xf32>, pp = 2>) {
          %linear_2.w_0 = pd.get @linear_2.w_0 : tensor<32x32xf32>
          %linear_3.tmp_0 = pd.matmul_v2 X(%h_in) Y(%linear_2.w_0) -> Out("linear_3.tmp_0") {trans_x = false, trans_y = false} with {dist.src = 3 : i64} : (tensor<?x32xf32>, tensor<32x32xf32>) -> tensor<?x32xf32>
          %linear_2.b_0 = pd.get @linear_2.b_0 : tensor<32xf32>
          %linear_3.tmp_1 = pd.elementwise_add X(%linear_3.tmp_0) Y(%linear_2.b_0) -> Out("linear_3.tmp_1") {axis = -1 : i32} with {dist.src = 4 : i64} : (tensor<?x32xf32>, tensor<32xf32>) -> tensor<?x32xf32>
          %tanh_1.tmp_0 = pd.tanh X(%linear_3.tmp_1) -> Out("tanh_1.tmp_0") with {dist.src = 5 : i64} : (tensor<?x32xf32>) -> tensor<?x32xf32>
          %linear_4.w_0 = pd.get @linear_4.w_0 : tensor<32x1xf32>
          %linear_5.tmp_0 = pd.matmul_v2 X(%tanh_1.tmp_0) Y(%linear_4.w_0) -> Out("linear_5.tmp_0") {trans_x = false, trans_y = false} with {dist.src = 6 : i64} : (tensor<?x32xf32>, tensor<32x1xf32>) -> tensor<?x1xf32>
          %linear_4.b_0 = pd.get @linear_4.b_0 : tensor<1xf32>
          %linear_5.tmp_1 = pd.elementwise_add X(%linear_5.tmp_0) Y(%linear_4.b_0) -> Out("linear_5.tmp_1") {axis = -1 : i32} with {dist.src = 7 : i64} : (tensor<?x1xf32>, tensor<1xf32>) -> tensor<?x1xf32>
          %elementwise_sub_0 = pd.elementwise_sub X(%linear_5.tmp_1) Y(%y) -> Out("elementwise_sub_0") {axis = -1 : i32} with {dist.src = 8 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
          %square_0.tmp_0 = pd.square X(%elementwise_sub_0) -> Out("square_0.tmp_0") with {dist.src = 9 : i64} : (tensor<?x1xf32>) -> tensor<?x1xf32>
          %mean_0.tmp_0 = pd.reduce_mean X(%square_0.tmp_0) -> Out("mean_0.tmp_0") {dim = array<i32>, keep_dim = false, op_role = 256 : i32, reduce_all = true} with {dist.src = 10 : i64} : (tensor<?x1xf32>) -> tensor<f32>
          %loss = pd.sum X(%loss_so_far, %mean_0.tmp_0) -> Out("mean_0.tmp_0") {op_role = 0 : i32} : (tensor<f32>, tensor<f32>) -> tensor<f32>
          dist.yield %loss, %linear_3.tmp_0, %tanh_1.tmp_0, %linear_5.tmp_0, %linear_5.tmp_1, %elementwise_sub_0, %square_0.tmp_0 : tensor<f32>, tensor<?x32xf32>, tensor<?x32xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>
        }
        %b1:5 = dist.on <pp = 2> with (%h_in = %h1 : !dist.at<tensor<?x32xf32>, pp = 2>, %linear_3.tmp_0 = %f1#1 : !dist.at<tensor<?x32xf32>, pp = 2>, %tanh_1.tmp_0 = %f1#2 : !dist.at<tensor<?x32xf32>, pp = 2>, %linear_5.tmp_0 = %f1#3 : !dist.at<tensor<?x1xf32>, pp = 2>, %linear_5.tmp_1 = %f1#4 : !dist.at<tensor<?x1xf32>, pp = 2>, %elementwise_sub_0 = %f1#5 : !dist.at<tensor<?x1xf32>, pp = 2>, %square_0.tmp_0 = %f1#6 : !dist.at<tensor<?x1xf32>, pp = 2>, %a1 = %t1 : !dist.at<tensor<32x32xf32>, pp = 2>, %a2 = %t2 : !dist.at<tensor<32xf32>, pp = 2>, %a3 = %t3 : !dist.at<tensor<32x1xf32>, pp = 2>, %a4 = %t4 : !dist.at<tensor<1xf32>, pp = 2>) task B -> (!dist.at<tensor<?x32xf32>, pp = 2>, !dist.at<tensor<32x32xf32>, pp = 2>, !dist.at<tensor<32xf32>, pp = 2>, !dist.at<tensor<32x1xf32>, pp = 2>, !dist.at<tensor<1xf32>, pp = 2>) {
          %mean_0.tmp_0.grad = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64>, value = 1.000000e+00 : f32} with {dist.src = 11 : i64} : () -> tensor<f32>
          %seed = pd.scale X(%mean_0.tmp_0.grad) -> Out("mean_0.tmp_0@GRAD") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 1 : i32, scale = 2.500000e-01 : f32} : (tensor<f32>) -> tensor<f32>
          %square_0.tmp_0.grad = pd.reduce_mean_grad "Out@GRAD"(%seed) X(%square_0.tmp_0) -> "X@GRAD"("square_0.tmp_0@GRAD") {dim = array<i32>, keep_dim = false, op_role = 1 : i32, reduce_all = true} with {dist.src = 12 : i64} : (tensor<f32>, tensor<?x1xf32>) -> tensor<?x1xf32>
          %elementwise_sub_0.grad = pd.square_grad "Out@GRAD"(%square_0.tmp_0.grad) X(%elementwise_sub_0) -> "X@GRAD"("elementwise_sub_0@GRAD") {op_role = 1 : i32} with {dist.src = 13 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
          %linear_5.tmp_1.grad = pd.elementwise_sub_grad "Out@GRAD"(%elementwise_sub_0.grad) X(%linear_5.tmp_1) Y(%y) -> "X@GRAD"("linear_5.tmp_1@GRAD") "Y@GRAD"() {axis = -1 : i32, op_role = 1 : i32} with {dist.src = 14 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
          %linear_4.b_0 = pd.get @linear_4.b_0 : tensor<1xf32>
          %elementwise_add_grad:2 = pd.elementwise_add_grad "Out@GRAD"(%linear_5.tmp_1.grad) X(%linear_5.tmp_0) Y(%linear_4.b_0) -> "X@GRAD"("linear_5.tmp_0@GRAD") "Y@GRAD"("linear_4.b_0@GRAD") {axis = -1 : i32, op_role = 1 : i32} with {dist.src = 15 : i64} : (tensor<?x1xf32>, tensor<?x1xf32>, tensor<1xf32>) -> (tensor<?x1xf32>, tensor<1xf32>)
          %linear_4.w_0 = pd.get @linear_4.w_0 : tensor<32x1xf32>
          %matmul_v2_grad:2 = pd.matmul_v2_grad "Out@GRAD"(%elementwise_add_grad#0) X(%tanh_1.tmp_0) Y(%linear_4.w_0) -> "X@GRAD"("tanh_1.tmp_0@GRAD") "Y@GRAD"("linear_4.w_0@GRAD") {op_role = 1 : i32, trans_x = false, trans_y = false} with {dist.src = 16 : i64} : (tensor<?x1xf32>, tensor<?x32xf32>, tensor<32x1xf32>) -> (tensor<?x32xf32>, tensor<32x1xf32>)
          %linear_3.tmp_1.grad = pd.tanh_grad Out(%tanh_1.tmp_0) "Out@GRAD"(%matmul_v2_grad#0) -> "X@GRAD"("linear_3.tmp_1@GRAD") {op_role = 1 : i32} with {dist.src = 17 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
          %linear_2.b_0 = pd.get @linear_2.b_0 : tensor<32xf32>
          %elementwise_add_grad.2:2 = pd.elementwise_add_grad "Out@GRAD"(%linear_3.tmp_1.grad) X(%linear_3.tmp_0) Y(%linear_2.b_0) -> "X@GRAD"("linear_3.tmp_0@GRAD") "Y@GRAD"("linear_2.b_0@GRAD") {axis = -1 : i32, op_role = 1 : i32} with {dist.src = 18 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<32xf32>) -> (tensor<?x32xf32>, tensor<32xf32>)
          %linear_2.w_0 = pd.get @linear_2.w_0 : tensor<32x32xf32>
          %matmul_v2_grad.2:2 = pd.matmul_v2_grad "Out@GRAD"(%elementwise_add_grad.2#0) X(%h_in) Y(%linear_2.w_0) -> "X@GRAD"("tanh_0.tmp_0@GRAD") "Y@GRAD"("linear_2.w_0@GRAD") {op_role = 1 : i32, trans_x = false, trans_y = false} with {dist.src = 19 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<32x32xf32>) -> (tensor<?x32xf32>, tensor<32x32xf32>)
          %n0 = pd.sum X(%a1, %matmul_v2_grad.2#1) -> Out("linear_2.w_0@GRAD") {op_role = 1 : i32} : (tensor<32x32xf32>, tensor<32x32xf32>) -> tensor<32x32xf32>
          %n1 = pd.sum X(%a2, %elementwise_add_grad.2#1) -> Out("linear_2.b_0@GRAD") {op_role = 1 : i32} : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
          %n2 = pd.sum X(%a3, %matmul_v2_grad#1) -> Out("linear_4.w_0@GRAD") {op_role = 1 : i32} : (tensor<32x1xf32>, tensor<32x1xf32>) -> tensor<32x1xf32>
          %n3 = pd.sum X(%a4, %elementwise_add_grad#1) -> Out("linear_4.b_0@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
          dist.yield %matmul_v2_grad.2#0, %n0, %n1, %n2, %n3 : tensor<?x32xf32>, tensor<32x32xf32>, tensor<32xf32>, tensor<32x1xf32>, tensor<1xf32>
        }
        %g_mid = dist.transfer %b1#0 on @backward : !dist.at<tensor<?x32xf32>, pp = 2> -> !dist.at<tensor<?x32xf32>, pp = 1>
        dist.on <pp = 1> task B { dist.yield }
        %gh = dist.transfer %g_mid on @backward : !dist.at<tensor<?x32xf32>, pp = 1> -> !dist.at<tensor<?x32xf32>, pp = 0>
        %b0:2 = dist.on <pp = 0> with (%g_in = %gh : !dist.at<tensor<?x32xf32>, pp = 0>, %tanh_0.tmp_0 = %f0#0 : !dist.at<tensor<?x32xf32>, pp = 0>, %linear_1.tmp_0 = %f0#1 : !dist.at<tensor<?x32xf32>, pp = 0>, %a0 = %s0 : !dist.at<tensor<10x32xf32>, pp = 0>, %a1 = %s1 : !dist.at<tensor<32xf32>, pp = 0>) task B -> (!dist.at<tensor<10x32xf32>, pp = 0>, !dist.at<tensor<32xf32>, pp = 0>) {
          %linear_1.tmp_1.grad = pd.tanh_grad Out(%tanh_0.tmp_0) "Out@GRAD"(%g_in) -> "X@GRAD"("linear_1.tmp_1@GRAD") {op_role = 1 : i32} with {dist.src = 20 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>) -> tensor<?x32xf32>
          %linear_0.b_0 = pd.get @linear_0.b_0 : tensor<32xf32>
          %elementwise_add_grad.3:2 = pd.elementwise_add_grad "Out@GRAD"(%linear_1.tmp_1.grad) X(%linear_1.tmp_0) Y(%linear_0.b_0) -> "X@GRAD"("linear_1.tmp_0@GRAD") "Y@GRAD"("linear_0.b_0@GRAD") {axis = -1 : i32, op_role = 1 : i32} with {dist.src = 21 : i64} : (tensor<?x32xf32>, tensor<?x32xf32>, tensor<32xf32>) -> (tensor<?x32xf32>, tensor<32xf32>)
          %linear_0.w_0 = pd.get @linear_0.w_0 : tensor<10x32xf32>
          %linear_0.w_0.grad = pd.matmul_v2_grad "Out@GRAD"(%elementwise_add_grad.3#0) X(%x) Y(%linear_0.w_0) -> "X@GRAD"() "Y@GRAD"("linear_0.w_0@GRAD") {op_role = 1 : i32, trans_x = false, trans_y = false} with {dist.src = 22 : i64} : (tensor<?x32xf32>, tensor<?x10xf32>, tensor<10x32xf32>) -> tensor<10x32xf32>
          %n0 = pd.sum X(%a0, %linear_0.w_0.grad) -> Out("linear_0.w_0@GRAD") {op_role = 1 : i32} : (tensor<10x32xf32>, tensor<10x32xf32>) -> tensor<10x32xf32>
          %n1 = pd.sum X(%a1, %elementwise_add_grad.3#1) -> Out("linear_0.b_0@GRAD") {op_role = 1 : i32} : (tensor<32xf32>, tensor<32xf32>) -> tensor<32xf32>
          dist.yield %n0, %n1 : tensor<10x32xf32>, tensor<32xf32>
        }
        dist.yield %b0#0, %b0#1, %f1#0, %b1#1, %b1#2, %b1#3, %b1#4 : !dist.at<tensor<10x32xf32>, pp = 0>, !dist.at<tensor<32xf32>, pp = 0>, !dist.at<tensor<f32>, pp = 2>, !dist.at<tensor<32x32xf32>, pp = 2>, !dist.at<tensor<32xf32>, pp = 2>, !dist.at<tensor<32x1xf32>, pp = 2>, !dist.at<tensor<1xf32>, pp = 2>
      }
      // The mean over the batch: each micro-batch has given the mean over its own samples.
      %loss = dist.on <pp = 2> with (%l = %sum#2 : !dist.at<tensor<f32>, pp = 2>) -> (!dist.at<tensor<f32>, pp = 2>) {
        %mean = pd.scale X(%l) -> Out("mean_0.tmp_0") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 0 : i32, scale = 2.500000e-01 : f32} : (tensor<f32>) -> tensor<f32>
        dist.yield %mean : tensor<f32>
      }
      // Squares of the own gradients; zero for those of the other stage.
      %square0:2 = dist.on <pp = 0> with (%g0 = %sum#1 : !dist.at<tensor<32xf32>, pp = 0>, %g1 = %sum#0 : !dist.at<tensor<10x32xf32>, pp = 0>) -> (tensor<1xf32>, tensor<1xf32>) {
        %n0 = pd.squared_l2_norm X(%g0) -> Out("squared_l2_norm_0.tmp_0") {op_role = 2 : i32} with {dist.src = 23 : i64} : (tensor<32xf32>) -> tensor<1xf32>
        %n1 = pd.squared_l2_norm X(%g1) -> Out("squared_l2_norm_1.tmp_0") {op_role = 2 : i32} with {dist.src = 24 : i64} : (tensor<10x32xf32>) -> tensor<1xf32>
        dist.yield %n0, %n1 : tensor<1xf32>, tensor<1xf32>
      } else {
        %zero = pd.fill_constant -> Out("add_n_0.tmp_0") {dtype = 5 : i32, force_cpu = false, op_role = 2 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} : () -> tensor<1xf32>
        dist.yield %zero, %zero : tensor<1xf32>, tensor<1xf32>
      }
      %square1:4 = dist.on <pp = 2> with (%g0 = %sum#4 : !dist.at<tensor<32xf32>, pp = 2>, %g1 = %sum#3 : !dist.at<tensor<32x32xf32>, pp = 2>, %g2 = %sum#6 : !dist.at<tensor<1xf32>, pp = 2>, %g3 = %sum#5 : !dist.at<tensor<32x1xf32>, pp = 2>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) {
        %n0 = pd.squared_l2_norm X(%g0) -> Out("squared_l2_norm_2.tmp_0") {op_role = 2 : i32} with {dist.src = 25 : i64} : (tensor<32xf32>) -> tensor<1xf32>
        %n1 = pd.squared_l2_norm X(%g1) -> Out("squared_l2_norm_3.tmp_0") {op_role = 2 : i32} with {dist.src = 26 : i64} : (tensor<32x32xf32>) -> tensor<1xf32>
        %n2 = pd.squared_l2_norm X(%g2) -> Out("squared_l2_norm_4.tmp_0") {op_role = 2 : i32} with {dist.src = 27 : i64} : (tensor<1xf32>) -> tensor<1xf32>
        %n3 = pd.squared_l2_norm X(%g3) -> Out("squared_l2_norm_5.tmp_0") {op_role = 2 : i32} with {dist.src = 28 : i64} : (tensor<32x1xf32>) -> tensor<1xf32>
        dist.yield %n0, %n1, %n2, %n3 : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
      } else {
        %zero = pd.fill_constant -> Out("add_n_0.tmp_0") {dtype = 5 : i32, force_cpu = false, op_role = 2 : i32, shape = array<i64: 1>, value = 0.000000e+00 : f32} : () -> tensor<1xf32>
        dist.yield %zero, %zero, %zero, %zero : tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>
      }
      %add_n_0.tmp_0 = pd.sum X(%square0#0, %square0#1, %square1#0, %square1#1, %square1#2, %square1#3) -> Out("add_n_0.tmp_0") {op_role = 2 : i32} with {dist.src = 29 : i64} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      %norm = dist.all_reduce sum (%add_n_0.tmp_0) on @stages : (tensor<1xf32>) -> tensor<1xf32>
      %sqrt_0.tmp_0 = pd.sqrt X(%norm) -> Out("sqrt_0.tmp_0") {op_role = 2 : i32} with {dist.src = 30 : i64} : (tensor<1xf32>) -> tensor<1xf32>
      %fill_constant_1.tmp_0 = pd.fill_constant ShapeTensor() ShapeTensorList() ValueTensor() -> Out("fill_constant_1.tmp_0") {dtype = 5 : i32, op_role = 2 : i32, shape = array<i64: 1>, str_value = "1.0", value = 1.000000e+00 : f32} with {dist.src = 31 : i64} : () -> tensor<1xf32>
      %elementwise_max_0 = pd.elementwise_max X(%fill_constant_1.tmp_0) Y(%sqrt_0.tmp_0) -> Out("elementwise_max_0") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 32 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      %elementwise_div_0 = pd.elementwise_div X(%fill_constant_1.tmp_0) Y(%elementwise_max_0) -> Out("elementwise_div_0") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 33 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
      // Clip and update: stage 0.
      dist.on <pp = 0> with (%g0 = %sum#0 : !dist.at<tensor<10x32xf32>, pp = 0>, %g1 = %sum#1 : !dist.at<tensor<32xf32>, pp = 0>) {
        %rate = pd.get @learning_rate_0 : tensor<f32>
        %c0 = pd.elementwise_mul X(%g0) Y(%elementwise_div_0) -> Out("linear_0.w_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 35 : i64} : (tensor<10x32xf32>, tensor<1xf32>) -> tensor<10x32xf32>
        %w0 = pd.get @linear_0.w_0 : tensor<10x32xf32>
        %v0 = pd.get @linear_0.w_0_velocity_0 : tensor<10x32xf32>
        %new0:2 = pd.momentum Grad(%c0) LearningRate(%rate) MasterParam() Param(%w0) Velocity(%v0) -> ParamOut("linear_0.w_0") VelocityOut("linear_0.w_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} with {dist.src = 41 : i64} : (tensor<10x32xf32>, tensor<f32>, tensor<10x32xf32>, tensor<10x32xf32>) -> (tensor<10x32xf32>, tensor<10x32xf32>)
        pd.set @linear_0.w_0, %new0#0 : tensor<10x32xf32>
        pd.set @linear_0.w_0_velocity_0, %new0#1 : tensor<10x32xf32>
        %c1 = pd.elementwise_mul X(%g1) Y(%elementwise_div_0) -> Out("linear_0.b_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 34 : i64} : (tensor<32xf32>, tensor<1xf32>) -> tensor<32xf32>
        %w1 = pd.get @linear_0.b_0 : tensor<32xf32>
        %v1 = pd.get @linear_0.b_0_velocity_0 : tensor<32xf32>
        %new1:2 = pd.momentum Grad(%c1) LearningRate(%rate) MasterParam() Param(%w1) Velocity(%v1) -> ParamOut("linear_0.b_0") VelocityOut("linear_0.b_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} with {dist.src = 40 : i64} : (tensor<32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
        pd.set @linear_0.b_0, %new1#0 : tensor<32xf32>
        pd.set @linear_0.b_0_velocity_0, %new1#1 : tensor<32xf32>
        dist.yield
      }
      // Clip and update: stage 2.
      dist.on <pp = 2> with (%g0 = %sum#3 : !dist.at<tensor<32x32xf32>, pp = 2>, %g1 = %sum#4 : !dist.at<tensor<32xf32>, pp = 2>, %g2 = %sum#5 : !dist.at<tensor<32x1xf32>, pp = 2>, %g3 = %sum#6 : !dist.at<tensor<1xf32>, pp = 2>) {
        %rate = pd.get @learning_rate_0 : tensor<f32>
        %c0 = pd.elementwise_mul X(%g0) Y(%elementwise_div_0) -> Out("linear_2.w_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 37 : i64} : (tensor<32x32xf32>, tensor<1xf32>) -> tensor<32x32xf32>
        %w0 = pd.get @linear_2.w_0 : tensor<32x32xf32>
        %v0 = pd.get @linear_2.w_0_velocity_0 : tensor<32x32xf32>
        %new0:2 = pd.momentum Grad(%c0) LearningRate(%rate) MasterParam() Param(%w0) Velocity(%v0) -> ParamOut("linear_2.w_0") VelocityOut("linear_2.w_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} with {dist.src = 43 : i64} : (tensor<32x32xf32>, tensor<f32>, tensor<32x32xf32>, tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32x32xf32>)
        pd.set @linear_2.w_0, %new0#0 : tensor<32x32xf32>
        pd.set @linear_2.w_0_velocity_0, %new0#1 : tensor<32x32xf32>
        %c1 = pd.elementwise_mul X(%g1) Y(%elementwise_div_0) -> Out("linear_2.b_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 36 : i64} : (tensor<32xf32>, tensor<1xf32>) -> tensor<32xf32>
        %w1 = pd.get @linear_2.b_0 : tensor<32xf32>
        %v1 = pd.get @linear_2.b_0_velocity_0 : tensor<32xf32>
        %new1:2 = pd.momentum Grad(%c1) LearningRate(%rate) MasterParam() Param(%w1) Velocity(%v1) -> ParamOut("linear_2.b_0") VelocityOut("linear_2.b_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} with {dist.src = 42 : i64} : (tensor<32xf32>, tensor<f32>, tensor<32xf32>, tensor<32xf32>) -> (tensor<32xf32>, tensor<32xf32>)
        pd.set @linear_2.b_0, %new1#0 : tensor<32xf32>
        pd.set @linear_2.b_0_velocity_0, %new1#1 : tensor<32xf32>
        %c2 = pd.elementwise_mul X(%g2) Y(%elementwise_div_0) -> Out("linear_4.w_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 39 : i64} : (tensor<32x1xf32>, tensor<1xf32>) -> tensor<32x1xf32>
        %w2 = pd.get @linear_4.w_0 : tensor<32x1xf32>
        %v2 = pd.get @linear_4.w_0_velocity_0 : tensor<32x1xf32>
        %new2:2 = pd.momentum Grad(%c2) LearningRate(%rate) MasterParam() Param(%w2) Velocity(%v2) -> ParamOut("linear_4.w_0") VelocityOut("linear_4.w_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} with {dist.src = 45 : i64} : (tensor<32x1xf32>, tensor<f32>, tensor<32x1xf32>, tensor<32x1xf32>) -> (tensor<32x1xf32>, tensor<32x1xf32>)
        pd.set @linear_4.w_0, %new2#0 : tensor<32x1xf32>
        pd.set @linear_4.w_0_velocity_0, %new2#1 : tensor<32x1xf32>
        %c3 = pd.elementwise_mul X(%g3) Y(%elementwise_div_0) -> Out("linear_4.b_0@GRAD") {axis = -1 : i32, op_role = 2 : i32} with {dist.src = 38 : i64} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
        %w3 = pd.get @linear_4.b_0 : tensor<1xf32>
        %v3 = pd.get @linear_4.b_0_velocity_0 : tensor<1xf32>
        %new3:2 = pd.momentum Grad(%c3) LearningRate(%rate) MasterParam() Param(%w3) Velocity(%v3) -> ParamOut("linear_4.b_0") VelocityOut("linear_4.b_0_velocity_0") {mu = 0.899999976 : f32, multi_precision = false, op_role = 2 : i32, regularization_coeff = 0.000000e+00 : f32, regularization_method = "", rescale_grad = 1.000000e+00 : f32, use_nesterov = false} with {dist.src = 44 : i64} : (tensor<1xf32>, tensor<f32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>)
        pd.set @linear_4.b_0, %new3#0 : tensor<1xf32>
        pd.set @linear_4.b_0_velocity_0, %new3#1 : tensor<1xf32>
        dist.yield
      }
    }
    // Every stage makes its own initial values.
    pd.program @startup attributes {block = {idx = 0 : i32, parent = -1 : i32}, version = 2006002 : i64} {
      pd.decl "learning_rate_0" tensor of float32 [] {persistable = true, stop_gradient = true}
      pd.decl "linear_0.b_0" tensor of float32 [32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_0.b_0_velocity_0" tensor of float32 [32] {persistable = true, stop_gradient = true}
      pd.decl "linear_0.w_0" tensor of float32 [10, 32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_0.w_0_velocity_0" tensor of float32 [10, 32] {persistable = true, stop_gradient = true}
      pd.decl "linear_2.b_0" tensor of float32 [32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_2.b_0_velocity_0" tensor of float32 [32] {persistable = true, stop_gradient = true}
      pd.decl "linear_2.w_0" tensor of float32 [32, 32] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_2.w_0_velocity_0" tensor of float32 [32, 32] {persistable = true, stop_gradient = true}
      pd.decl "linear_4.b_0" tensor of float32 [1] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_4.b_0_velocity_0" tensor of float32 [1] {persistable = true, stop_gradient = true}
      pd.decl "linear_4.w_0" tensor of float32 [32, 1] {is_parameter = true, persistable = true, stop_gradient = false}
      pd.decl "linear_4.w_0_velocity_0" tensor of float32 [32, 1] {persistable = true, stop_gradient = true}
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, shape = array<i64>, str_value = "0.02", value = 2.000000e-02 : f32} with {dist.src = 6 : i64} : () -> tensor<f32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<f32>
      dist.on <pp = 0> {
        %linear_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("linear_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.377964467 : f32, min = -0.377964467 : f32, seed = 20 : i32, shape = array<i64: 10, 32>} with {dist.src = 0 : i64} : () -> tensor<10x32xf32>
        pd.set @linear_0.w_0, %linear_0.w_0 : tensor<10x32xf32>
        %linear_0.w_0_velocity_0 = pd.fill_constant -> Out("linear_0.w_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 10, 32>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 8 : i64} : () -> tensor<10x32xf32>
        pd.set @linear_0.w_0_velocity_0, %linear_0.w_0_velocity_0 : tensor<10x32xf32>
        %linear_0.b_0 = pd.fill_constant -> Out("linear_0.b_0") {dtype = 5 : i32, shape = array<i64: 32>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 1 : i64} : () -> tensor<32xf32>
        pd.set @linear_0.b_0, %linear_0.b_0 : tensor<32xf32>
        %linear_0.b_0_velocity_0 = pd.fill_constant -> Out("linear_0.b_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 32>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 7 : i64} : () -> tensor<32xf32>
        pd.set @linear_0.b_0_velocity_0, %linear_0.b_0_velocity_0 : tensor<32xf32>
        dist.yield
      }
      dist.on <pp = 2> {
        %linear_2.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("linear_2.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.306186229 : f32, min = -0.306186229 : f32, seed = 20 : i32, shape = array<i64: 32, 32>} with {dist.src = 2 : i64} : () -> tensor<32x32xf32>
        pd.set @linear_2.w_0, %linear_2.w_0 : tensor<32x32xf32>
        %linear_2.w_0_velocity_0 = pd.fill_constant -> Out("linear_2.w_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 32, 32>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 10 : i64} : () -> tensor<32x32xf32>
        pd.set @linear_2.w_0_velocity_0, %linear_2.w_0_velocity_0 : tensor<32x32xf32>
        %linear_2.b_0 = pd.fill_constant -> Out("linear_2.b_0") {dtype = 5 : i32, shape = array<i64: 32>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 3 : i64} : () -> tensor<32xf32>
        pd.set @linear_2.b_0, %linear_2.b_0 : tensor<32xf32>
        %linear_2.b_0_velocity_0 = pd.fill_constant -> Out("linear_2.b_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 32>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 9 : i64} : () -> tensor<32xf32>
        pd.set @linear_2.b_0_velocity_0, %linear_2.b_0_velocity_0 : tensor<32xf32>
        %linear_4.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("linear_4.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.426401436 : f32, min = -0.426401436 : f32, seed = 20 : i32, shape = array<i64: 32, 1>} with {dist.src = 4 : i64} : () -> tensor<32x1xf32>
        pd.set @linear_4.w_0, %linear_4.w_0 : tensor<32x1xf32>
        %linear_4.w_0_velocity_0 = pd.fill_constant -> Out("linear_4.w_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 32, 1>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 12 : i64} : () -> tensor<32x1xf32>
        pd.set @linear_4.w_0_velocity_0, %linear_4.w_0_velocity_0 : tensor<32x1xf32>
        %linear_4.b_0 = pd.fill_constant -> Out("linear_4.b_0") {dtype = 5 : i32, shape = array<i64: 1>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 5 : i64} : () -> tensor<1xf32>
        pd.set @linear_4.b_0, %linear_4.b_0 : tensor<1xf32>
        %linear_4.b_0_velocity_0 = pd.fill_constant -> Out("linear_4.b_0_velocity_0") {dtype = 5 : i32, shape = array<i64: 1>, str_value = "0.0", value = 0.000000e+00 : f32} with {dist.src = 11 : i64} : () -> tensor<1xf32>
        pd.set @linear_4.b_0_velocity_0, %linear_4.b_0_velocity_0 : tensor<1xf32>
        dist.yield
      }
    }
  }
}
