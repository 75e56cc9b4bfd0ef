// An owner per parameter: every parameter and its velocity lie on one rank of axis `sharding` only.
// A step: the owners broadcast, all ranks compute on their share of the batch, each gradient is
// reduced to its owner, which updates. 2 ranks: memory for parameters and state is shared out; what
// travels is what data parallelism moves.
//
// The guards hold no communication: which owner a rank is, is data of the rank, and the job has one
// class of ranks whatever their number (docs/jobs.md).
module {
  dist.mesh @world [sharding = 2]
  dist.comm @shards on @world over [sharding] group {carries = "parameters and gradients"}

  // The single-device program (batch of 64 as saved).
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
      %learning_rate_0 = pd.get @learning_rate_0 : tensor<1xf32>
      %fc_0.b_0_velocity_0 = pd.get @fc_0.b_0_velocity_0 : tensor<128xf32>
      %momentum:2 = pd.momentum Grad(%elementwise_add_grad.3#1) LearningRate(%learning_rate_0) Param(%fc_0.b_0) Velocity(%fc_0.b_0_velocity_0) -> ParamOut("fc_0.b_0") VelocityOut("fc_0.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
      pd.set @fc_0.b_0, %momentum#0 : tensor<128xf32>
      pd.set @fc_0.b_0_velocity_0, %momentum#1 : tensor<128xf32>
      %fc_0.w_0_velocity_0 = pd.get @fc_0.w_0_velocity_0 : tensor<64x128xf32>
      %momentum.2:2 = pd.momentum Grad(%fc_0.w_0.grad) LearningRate(%learning_rate_0) Param(%fc_0.w_0) Velocity(%fc_0.w_0_velocity_0) -> ParamOut("fc_0.w_0") VelocityOut("fc_0.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<64x128xf32>, tensor<1xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
      pd.set @fc_0.w_0, %momentum.2#0 : tensor<64x128xf32>
      pd.set @fc_0.w_0_velocity_0, %momentum.2#1 : tensor<64x128xf32>
      %fc_1.b_0_velocity_0 = pd.get @fc_1.b_0_velocity_0 : tensor<128xf32>
      %momentum.3:2 = pd.momentum Grad(%elementwise_add_grad.2#1) LearningRate(%learning_rate_0) Param(%fc_1.b_0) Velocity(%fc_1.b_0_velocity_0) -> ParamOut("fc_1.b_0") VelocityOut("fc_1.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
      pd.set @fc_1.b_0, %momentum.3#0 : tensor<128xf32>
      pd.set @fc_1.b_0_velocity_0, %momentum.3#1 : tensor<128xf32>
      %fc_1.w_0_velocity_0 = pd.get @fc_1.w_0_velocity_0 : tensor<128x128xf32>
      %momentum.4:2 = pd.momentum Grad(%mul_grad.2#1) LearningRate(%learning_rate_0) Param(%fc_1.w_0) Velocity(%fc_1.w_0_velocity_0) -> ParamOut("fc_1.w_0") VelocityOut("fc_1.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<128x128xf32>, tensor<1xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>)
      pd.set @fc_1.w_0, %momentum.4#0 : tensor<128x128xf32>
      pd.set @fc_1.w_0_velocity_0, %momentum.4#1 : tensor<128x128xf32>
      %fc_2.b_0_velocity_0 = pd.get @fc_2.b_0_velocity_0 : tensor<10xf32>
      %momentum.5:2 = pd.momentum Grad(%elementwise_add_grad#1) LearningRate(%learning_rate_0) Param(%fc_2.b_0) Velocity(%fc_2.b_0_velocity_0) -> ParamOut("fc_2.b_0") VelocityOut("fc_2.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<10xf32>, tensor<1xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>)
      pd.set @fc_2.b_0, %momentum.5#0 : tensor<10xf32>
      pd.set @fc_2.b_0_velocity_0, %momentum.5#1 : tensor<10xf32>
      %fc_2.w_0_velocity_0 = pd.get @fc_2.w_0_velocity_0 : tensor<128x10xf32>
      %momentum.6:2 = pd.momentum Grad(%mul_grad#1) LearningRate(%learning_rate_0) Param(%fc_2.w_0) Velocity(%fc_2.w_0_velocity_0) -> ParamOut("fc_2.w_0") VelocityOut("fc_2.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} : (tensor<128x10xf32>, tensor<1xf32>, tensor<128x10xf32>, tensor<128x10xf32>) -> (tensor<128x10xf32>, tensor<128x10xf32>)
      pd.set @fc_2.w_0, %momentum.6#0 : tensor<128x10xf32>
      pd.set @fc_2.w_0_velocity_0, %momentum.6#1 : tensor<128x10xf32>
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
    }
  }

  dist.role @trainer on @world {
    // Everybody needs the rate; every other variable has an owner.
    pd.var @learning_rate_0 : tensor<1xf32> {dist.rel = #dist.rel<"learning_rate_0">}
    pd.var @fc_0.w_0 : tensor<64x128xf32> {parameter, dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_0.w_0", sharding: R at sharding = 0>}
    pd.var @fc_0.w_0_velocity_0 : tensor<64x128xf32> {dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_0.w_0_velocity_0", sharding: R at sharding = 0>}
    pd.var @fc_0.b_0 : tensor<128xf32> {parameter, dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_0.b_0", sharding: R at sharding = 0>}
    pd.var @fc_0.b_0_velocity_0 : tensor<128xf32> {dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_0.b_0_velocity_0", sharding: R at sharding = 0>}
    pd.var @fc_1.w_0 : tensor<128x128xf32> {parameter, dist.at = #dist.sel<sharding = 1>, dist.rel = #dist.rel<"fc_1.w_0", sharding: R at sharding = 1>}
    pd.var @fc_1.w_0_velocity_0 : tensor<128x128xf32> {dist.at = #dist.sel<sharding = 1>, dist.rel = #dist.rel<"fc_1.w_0_velocity_0", sharding: R at sharding = 1>}
    pd.var @fc_1.b_0 : tensor<128xf32> {parameter, dist.at = #dist.sel<sharding = 1>, dist.rel = #dist.rel<"fc_1.b_0", sharding: R at sharding = 1>}
    pd.var @fc_1.b_0_velocity_0 : tensor<128xf32> {dist.at = #dist.sel<sharding = 1>, dist.rel = #dist.rel<"fc_1.b_0_velocity_0", sharding: R at sharding = 1>}
    pd.var @fc_2.w_0 : tensor<128x10xf32> {parameter, dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_2.w_0", sharding: R at sharding = 0>}
    pd.var @fc_2.w_0_velocity_0 : tensor<128x10xf32> {dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_2.w_0_velocity_0", sharding: R at sharding = 0>}
    pd.var @fc_2.b_0 : tensor<10xf32> {parameter, dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_2.b_0", sharding: R at sharding = 0>}
    pd.var @fc_2.b_0_velocity_0 : tensor<10xf32> {dist.at = #dist.sel<sharding = 0>, dist.rel = #dist.rel<"fc_2.b_0_velocity_0", sharding: R at sharding = 0>}
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
      // Owners broadcast: all parameters of one owner in one operation.
      %own0:4 = dist.on <sharding = 0> -> (!dist.at<tensor<64x128xf32>, sharding = 0>, !dist.at<tensor<128xf32>, sharding = 0>, !dist.at<tensor<128x10xf32>, sharding = 0>, !dist.at<tensor<10xf32>, sharding = 0>) {
        %v0 = pd.get @fc_0.w_0 : tensor<64x128xf32>
        %v1 = pd.get @fc_0.b_0 : tensor<128xf32>
        %v2 = pd.get @fc_2.w_0 : tensor<128x10xf32>
        %v3 = pd.get @fc_2.b_0 : tensor<10xf32>
        dist.yield %v0, %v1, %v2, %v3 : tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>
      }
      %all0:4 = dist.broadcast (%own0#0, %own0#1, %own0#2, %own0#3) on @shards from <sharding = 0> : (!dist.at<tensor<64x128xf32>, sharding = 0>, !dist.at<tensor<128xf32>, sharding = 0>, !dist.at<tensor<128x10xf32>, sharding = 0>, !dist.at<tensor<10xf32>, sharding = 0>) -> (tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>)
      %own1:2 = dist.on <sharding = 1> -> (!dist.at<tensor<128x128xf32>, sharding = 1>, !dist.at<tensor<128xf32>, sharding = 1>) {
        %v0 = pd.get @fc_1.w_0 : tensor<128x128xf32>
        %v1 = pd.get @fc_1.b_0 : tensor<128xf32>
        dist.yield %v0, %v1 : tensor<128x128xf32>, tensor<128xf32>
      }
      %all1:2 = dist.broadcast (%own1#0, %own1#1) on @shards from <sharding = 1> : (!dist.at<tensor<128x128xf32>, sharding = 1>, !dist.at<tensor<128xf32>, sharding = 1>) -> (tensor<128x128xf32>, tensor<128xf32>)
      %img = pd.input "img" {dist.batch = #dist.batch<0: sharding>} : tensor<?x64xf32>
      %label = pd.input "label" {dist.batch = #dist.batch<0: sharding>} : tensor<?x1xi64>
      %fc_0.tmp_0 = pd.mul X(%img) Y(%all0#0) -> Out("fc_0.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 0 : i64} : (tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<?x128xf32>
      %fc_0.tmp_1 = pd.elementwise_add X(%fc_0.tmp_0) Y(%all0#1) -> Out("fc_0.tmp_1") {axis = 1 : i32} with {dist.src = 1 : i64} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %fc_0.tmp_2 = pd.relu X(%fc_0.tmp_1) -> Out("fc_0.tmp_2") with {dist.src = 2 : i64} : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %fc_1.tmp_0 = pd.mul X(%fc_0.tmp_2) Y(%all1#0) -> Out("fc_1.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 3 : i64} : (tensor<?x128xf32>, tensor<128x128xf32>) -> tensor<?x128xf32>
      %fc_1.tmp_1 = pd.elementwise_add X(%fc_1.tmp_0) Y(%all1#1) -> Out("fc_1.tmp_1") {axis = 1 : i32} with {dist.src = 4 : i64} : (tensor<?x128xf32>, tensor<128xf32>) -> tensor<?x128xf32>
      %fc_1.tmp_2 = pd.relu X(%fc_1.tmp_1) -> Out("fc_1.tmp_2") with {dist.src = 5 : i64} : (tensor<?x128xf32>) -> tensor<?x128xf32>
      %fc_2.tmp_0 = pd.mul X(%fc_1.tmp_2) Y(%all0#2) -> Out("fc_2.tmp_0") {x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 6 : i64} : (tensor<?x128xf32>, tensor<128x10xf32>) -> tensor<?x10xf32>
      %fc_2.tmp_1 = pd.elementwise_add X(%fc_2.tmp_0) Y(%all0#3) -> Out("fc_2.tmp_1") {axis = 1 : i32} with {dist.src = 7 : i64} : (tensor<?x10xf32>, tensor<10xf32>) -> tensor<?x10xf32>
      %fc_2.tmp_2 = pd.softmax X(%fc_2.tmp_1) -> Out("fc_2.tmp_2") {axis = -1 : i32, data_format = "AnyLayout", is_test = false} with {dist.src = 8 : i64} : (tensor<?x10xf32>) -> tensor<?x10xf32>
      %cross_entropy2:3 = pd.cross_entropy2 Label(%label) X(%fc_2.tmp_2) -> MatchX("cross_entropy2_0.tmp_2") XShape("cross_entropy2_0.tmp_1") Y("cross_entropy2_0.tmp_0") {ignore_index = -100 : i32} with {dist.src = 9 : i64} : (tensor<?x1xi64>, tensor<?x10xf32>) -> (tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>)
      %mean_0.tmp_0 = pd.mean X(%cross_entropy2#2) -> Out("mean_0.tmp_0") {op_role = 256 : i32} with {dist.src = 10 : i64} : (tensor<?x1xf32>) -> tensor<1xf32>
      %top_k:2 = pd.top_k K() X(%fc_2.tmp_2) -> Indices("top_k_0.tmp_1") Out("top_k_0.tmp_0") {k = 1 : i32} with {dist.src = 11 : i64} : (tensor<?x10xf32>) -> (tensor<?x1xi64>, tensor<?x1xf32>)
      %accuracy:3 = pd.accuracy Indices(%top_k#0) Label(%label) Out(%top_k#1) -> Accuracy("accuracy_0.tmp_0") Correct("accuracy_0.tmp_1") Total("accuracy_0.tmp_2") with {dist.src = 12 : i64} : (tensor<?x1xi64>, tensor<?x1xi64>, tensor<?x1xf32>) -> (tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
      %mean_0.tmp_0.grad = pd.fill_constant -> Out("mean_0.tmp_0@GRAD") {dtype = 5 : i32, force_cpu = false, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} with {dist.src = 13 : i64} : () -> tensor<1xf32>
      // The mean of the whole batch: every rank has 1/2 of it.
      %mean_0.tmp_0.grad.2 = pd.scale X(%mean_0.tmp_0.grad) -> Out("mean_0.tmp_0@GRAD") {bias = 0.000000e+00 : f32, bias_after_scale = true, op_role = 1 : i32, scale = 5.000000e-01 : f32} : (tensor<1xf32>) -> tensor<1xf32>
      %cross_entropy2_0.tmp_0.grad = pd.mean_grad "Out@GRAD"(%mean_0.tmp_0.grad.2) X(%cross_entropy2#2) -> "X@GRAD"("cross_entropy2_0.tmp_0@GRAD") {op_role = 1 : i32} with {dist.src = 14 : i64} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
      %fc_2.tmp_2.grad = pd.cross_entropy_grad2 Label(%label) MatchX(%cross_entropy2#0) XShape(%cross_entropy2#1) "Y@GRAD"(%cross_entropy2_0.tmp_0.grad) -> "X@GRAD"("fc_2.tmp_2@GRAD") {ignore_index = -100 : i32, op_role = 1 : i32} with {dist.src = 15 : i64} : (tensor<?x1xi64>, tensor<?x1xf32>, tensor<?x10x0xf32>, tensor<?x1xf32>) -> tensor<?x10xf32>
      %fc_2.tmp_1.grad = pd.softmax_grad Out(%fc_2.tmp_2) "Out@GRAD"(%fc_2.tmp_2.grad) -> "X@GRAD"("fc_2.tmp_1@GRAD") {axis = -1 : i32, data_format = "AnyLayout", is_test = false, op_role = 1 : i32} with {dist.src = 16 : i64} : (tensor<?x10xf32>, tensor<?x10xf32>) -> tensor<?x10xf32>
      %elementwise_add_grad:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_2.tmp_1.grad) X(%fc_2.tmp_0) Y(%all0#3) -> "X@GRAD"("fc_2.tmp_0@GRAD") "Y@GRAD"("fc_2.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} with {dist.src = 17 : i64} : (tensor<?x10xf32>, tensor<?x10xf32>, tensor<10xf32>) -> (tensor<?x10xf32>, tensor<10xf32>)
      %mul_grad:2 = pd.mul_grad "Out@GRAD"(%elementwise_add_grad#0) X(%fc_1.tmp_2) Y(%all0#2) -> "X@GRAD"("fc_1.tmp_2@GRAD") "Y@GRAD"("fc_2.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 18 : i64} : (tensor<?x10xf32>, tensor<?x128xf32>, tensor<128x10xf32>) -> (tensor<?x128xf32>, tensor<128x10xf32>)
      %fc_1.tmp_1.grad = pd.relu_grad Out(%fc_1.tmp_2) "Out@GRAD"(%mul_grad#0) -> "X@GRAD"("fc_1.tmp_1@GRAD") {op_role = 1 : i32} with {dist.src = 19 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %elementwise_add_grad.2:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_1.tmp_1.grad) X(%fc_1.tmp_0) Y(%all1#1) -> "X@GRAD"("fc_1.tmp_0@GRAD") "Y@GRAD"("fc_1.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} with {dist.src = 20 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %mul_grad.2:2 = pd.mul_grad "Out@GRAD"(%elementwise_add_grad.2#0) X(%fc_0.tmp_2) Y(%all1#0) -> "X@GRAD"("fc_0.tmp_2@GRAD") "Y@GRAD"("fc_1.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 21 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128x128xf32>) -> (tensor<?x128xf32>, tensor<128x128xf32>)
      %fc_0.tmp_1.grad = pd.relu_grad Out(%fc_0.tmp_2) "Out@GRAD"(%mul_grad.2#0) -> "X@GRAD"("fc_0.tmp_1@GRAD") {op_role = 1 : i32} with {dist.src = 22 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>) -> tensor<?x128xf32>
      %elementwise_add_grad.3:2 = pd.elementwise_add_grad "Out@GRAD"(%fc_0.tmp_1.grad) X(%fc_0.tmp_0) Y(%all0#1) -> "X@GRAD"("fc_0.tmp_0@GRAD") "Y@GRAD"("fc_0.b_0@GRAD") {axis = 1 : i32, op_role = 1 : i32} with {dist.src = 23 : i64} : (tensor<?x128xf32>, tensor<?x128xf32>, tensor<128xf32>) -> (tensor<?x128xf32>, tensor<128xf32>)
      %fc_0.w_0.grad = pd.mul_grad "Out@GRAD"(%elementwise_add_grad.3#0) X(%img) Y(%all0#0) -> "X@GRAD"() "Y@GRAD"("fc_0.w_0@GRAD") {op_role = 1 : i32, x_num_col_dims = 1 : i32, y_num_col_dims = 1 : i32} with {dist.src = 24 : i64} : (tensor<?x128xf32>, tensor<?x64xf32>, tensor<64x128xf32>) -> tensor<64x128xf32>
      // Each gradient is summed where its parameter lies.
      %sum0:4 = dist.reduce sum (%fc_0.w_0.grad, %elementwise_add_grad.3#1, %mul_grad#1, %elementwise_add_grad#1) on @shards to <sharding = 0> : (tensor<64x128xf32>, tensor<128xf32>, tensor<128x10xf32>, tensor<10xf32>) -> (!dist.at<tensor<64x128xf32>, sharding = 0>, !dist.at<tensor<128xf32>, sharding = 0>, !dist.at<tensor<128x10xf32>, sharding = 0>, !dist.at<tensor<10xf32>, sharding = 0>)
      %sum1:2 = dist.reduce sum (%mul_grad.2#1, %elementwise_add_grad.2#1) on @shards to <sharding = 1> : (tensor<128x128xf32>, tensor<128xf32>) -> (!dist.at<tensor<128x128xf32>, sharding = 1>, !dist.at<tensor<128xf32>, sharding = 1>)
      dist.on <sharding = 0> with (%g0 = %sum0#0 : !dist.at<tensor<64x128xf32>, sharding = 0>, %g1 = %sum0#1 : !dist.at<tensor<128xf32>, sharding = 0>, %g2 = %sum0#2 : !dist.at<tensor<128x10xf32>, sharding = 0>, %g3 = %sum0#3 : !dist.at<tensor<10xf32>, sharding = 0>) {
        %rate = pd.get @learning_rate_0 : tensor<1xf32>
        %w0 = pd.get @fc_0.w_0 : tensor<64x128xf32>
        %v0 = pd.get @fc_0.w_0_velocity_0 : tensor<64x128xf32>
        %new0:2 = pd.momentum Grad(%g0) LearningRate(%rate) Param(%w0) Velocity(%v0) -> ParamOut("fc_0.w_0") VelocityOut("fc_0.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 26 : i64} : (tensor<64x128xf32>, tensor<1xf32>, tensor<64x128xf32>, tensor<64x128xf32>) -> (tensor<64x128xf32>, tensor<64x128xf32>)
        pd.set @fc_0.w_0, %new0#0 : tensor<64x128xf32>
        pd.set @fc_0.w_0_velocity_0, %new0#1 : tensor<64x128xf32>
        %w1 = pd.get @fc_0.b_0 : tensor<128xf32>
        %v1 = pd.get @fc_0.b_0_velocity_0 : tensor<128xf32>
        %new1:2 = pd.momentum Grad(%g1) LearningRate(%rate) Param(%w1) Velocity(%v1) -> ParamOut("fc_0.b_0") VelocityOut("fc_0.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 25 : i64} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
        pd.set @fc_0.b_0, %new1#0 : tensor<128xf32>
        pd.set @fc_0.b_0_velocity_0, %new1#1 : tensor<128xf32>
        %w2 = pd.get @fc_2.w_0 : tensor<128x10xf32>
        %v2 = pd.get @fc_2.w_0_velocity_0 : tensor<128x10xf32>
        %new2:2 = pd.momentum Grad(%g2) LearningRate(%rate) Param(%w2) Velocity(%v2) -> ParamOut("fc_2.w_0") VelocityOut("fc_2.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 30 : i64} : (tensor<128x10xf32>, tensor<1xf32>, tensor<128x10xf32>, tensor<128x10xf32>) -> (tensor<128x10xf32>, tensor<128x10xf32>)
        pd.set @fc_2.w_0, %new2#0 : tensor<128x10xf32>
        pd.set @fc_2.w_0_velocity_0, %new2#1 : tensor<128x10xf32>
        %w3 = pd.get @fc_2.b_0 : tensor<10xf32>
        %v3 = pd.get @fc_2.b_0_velocity_0 : tensor<10xf32>
        %new3:2 = pd.momentum Grad(%g3) LearningRate(%rate) Param(%w3) Velocity(%v3) -> ParamOut("fc_2.b_0") VelocityOut("fc_2.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 29 : i64} : (tensor<10xf32>, tensor<1xf32>, tensor<10xf32>, tensor<10xf32>) -> (tensor<10xf32>, tensor<10xf32>)
        pd.set @fc_2.b_0, %new3#0 : tensor<10xf32>
        pd.set @fc_2.b_0_velocity_0, %new3#1 : tensor<10xf32>
        dist.yield
      }
      dist.on <sharding = 1> with (%g0 = %sum1#0 : !dist.at<tensor<128x128xf32>, sharding = 1>, %g1 = %sum1#1 : !dist.at<tensor<128xf32>, sharding = 1>) {
        %rate = pd.get @learning_rate_0 : tensor<1xf32>
        %w0 = pd.get @fc_1.w_0 : tensor<128x128xf32>
        %v0 = pd.get @fc_1.w_0_velocity_0 : tensor<128x128xf32>
        %new0:2 = pd.momentum Grad(%g0) LearningRate(%rate) Param(%w0) Velocity(%v0) -> ParamOut("fc_1.w_0") VelocityOut("fc_1.w_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 28 : i64} : (tensor<128x128xf32>, tensor<1xf32>, tensor<128x128xf32>, tensor<128x128xf32>) -> (tensor<128x128xf32>, tensor<128x128xf32>)
        pd.set @fc_1.w_0, %new0#0 : tensor<128x128xf32>
        pd.set @fc_1.w_0_velocity_0, %new0#1 : tensor<128x128xf32>
        %w1 = pd.get @fc_1.b_0 : tensor<128xf32>
        %v1 = pd.get @fc_1.b_0_velocity_0 : tensor<128xf32>
        %new1:2 = pd.momentum Grad(%g1) LearningRate(%rate) Param(%w1) Velocity(%v1) -> ParamOut("fc_1.b_0") VelocityOut("fc_1.b_0_velocity_0") {mu = 0.899999976 : f32, op_role = 2 : i32, use_nesterov = false} with {dist.src = 27 : i64} : (tensor<128xf32>, tensor<1xf32>, tensor<128xf32>, tensor<128xf32>) -> (tensor<128xf32>, tensor<128xf32>)
        pd.set @fc_1.b_0, %new1#0 : tensor<128xf32>
        pd.set @fc_1.b_0_velocity_0, %new1#1 : tensor<128xf32>
        dist.yield
      }
    }
    // Initial values are drawn and kept by the owner.
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
      %learning_rate_0 = pd.fill_constant -> Out("learning_rate_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 1>, str_value = "", value = 5.000000e-02 : f32} with {dist.src = 0 : i64} : () -> tensor<1xf32>
      pd.set @learning_rate_0, %learning_rate_0 : tensor<1xf32>
      dist.on <sharding = 0> {
        %fc_0.w_0_velocity_0 = pd.fill_constant -> Out("fc_0.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 64, 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 5 : i64} : () -> tensor<64x128xf32>
        pd.set @fc_0.w_0_velocity_0, %fc_0.w_0_velocity_0 : tensor<64x128xf32>
        %fc_0.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_0.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.176776692 : f32, min = -0.176776692 : f32, seed = 20 : i32, shape = array<i64: 64, 128>} with {dist.src = 12 : i64} : () -> tensor<64x128xf32>
        pd.set @fc_0.w_0, %fc_0.w_0 : tensor<64x128xf32>
        %fc_0.b_0_velocity_0 = pd.fill_constant -> Out("fc_0.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 6 : i64} : () -> tensor<128xf32>
        pd.set @fc_0.b_0_velocity_0, %fc_0.b_0_velocity_0 : tensor<128xf32>
        %fc_0.b_0 = pd.fill_constant -> Out("fc_0.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 11 : i64} : () -> tensor<128xf32>
        pd.set @fc_0.b_0, %fc_0.b_0 : tensor<128xf32>
        %fc_2.w_0_velocity_0 = pd.fill_constant -> Out("fc_2.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128, 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 1 : i64} : () -> tensor<128x10xf32>
        pd.set @fc_2.w_0_velocity_0, %fc_2.w_0_velocity_0 : tensor<128x10xf32>
        %fc_2.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_2.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.208514407 : f32, min = -0.208514407 : f32, seed = 20 : i32, shape = array<i64: 128, 10>} with {dist.src = 8 : i64} : () -> tensor<128x10xf32>
        pd.set @fc_2.w_0, %fc_2.w_0 : tensor<128x10xf32>
        %fc_2.b_0_velocity_0 = pd.fill_constant -> Out("fc_2.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 2 : i64} : () -> tensor<10xf32>
        pd.set @fc_2.b_0_velocity_0, %fc_2.b_0_velocity_0 : tensor<10xf32>
        %fc_2.b_0 = pd.fill_constant -> Out("fc_2.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 10>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 7 : i64} : () -> tensor<10xf32>
        pd.set @fc_2.b_0, %fc_2.b_0 : tensor<10xf32>
        dist.yield
      }
      dist.on <sharding = 1> {
        %fc_1.w_0_velocity_0 = pd.fill_constant -> Out("fc_1.w_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128, 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 3 : i64} : () -> tensor<128x128xf32>
        pd.set @fc_1.w_0_velocity_0, %fc_1.w_0_velocity_0 : tensor<128x128xf32>
        %fc_1.w_0 = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("fc_1.w_0") {diag_num = 0 : i32, diag_step = 0 : i32, diag_val = 1.000000e+00 : f32, dtype = 5 : i32, max = 0.153093114 : f32, min = -0.153093114 : f32, seed = 20 : i32, shape = array<i64: 128, 128>} with {dist.src = 10 : i64} : () -> tensor<128x128xf32>
        pd.set @fc_1.w_0, %fc_1.w_0 : tensor<128x128xf32>
        %fc_1.b_0_velocity_0 = pd.fill_constant -> Out("fc_1.b_0_velocity_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 4 : i64} : () -> tensor<128xf32>
        pd.set @fc_1.b_0_velocity_0, %fc_1.b_0_velocity_0 : tensor<128xf32>
        %fc_1.b_0 = pd.fill_constant -> Out("fc_1.b_0") {dtype = 5 : i32, force_cpu = false, shape = array<i64: 128>, str_value = "", value = 0.000000e+00 : f32} with {dist.src = 9 : i64} : () -> tensor<128xf32>
        pd.set @fc_1.b_0, %fc_1.b_0 : tensor<128xf32>
        dist.yield
      }
    }
  }
}
