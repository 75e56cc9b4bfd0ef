// What the form of ops lets through and declared types do not show: absent inputs, ranks, extents and
// attributes that inference or the rule of the op refuses.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: prelu: needs an argument in input slot 'Alpha'
pd.program @p0 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %r = pd.prelu X(%x) -> Out("out") {mode = "all"} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: error: prelu: an Alpha of 2 elements in mode 'all' is not supported natively
pd.program @p1 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %alpha = pd.input "alpha" : tensor<2xf32>
  %r = pd.prelu X(%x) Alpha(%alpha) -> Out("out") {mode = "all"} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
}

// CHECK: error: prelu: mode 'row' is not supported natively
pd.program @p2 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %alpha = pd.input "alpha" : tensor<2xf32>
  %r = pd.prelu X(%x) Alpha(%alpha) -> Out("out") {mode = "row"} : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
}

// CHECK: error: conv2d: needs an argument in input slot 'Filter'
pd.program @p3 attributes {version = 2006002 : i64} {
  %input = pd.input "input" : tensor<1x1x4x4xf32>
  %r = pd.conv2d Input(%input) -> Output("output") : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
}

// CHECK: error: conv2d_grad: an absent input or a fused bias is not supported natively
pd.program @p4 attributes {version = 2006002 : i64} {
  %input = pd.input "input" : tensor<1x1x4x4xf32>
  %output_grad = pd.input "output_grad" : tensor<1x1x2x2xf32>
  %r = pd.conv2d_grad Input(%input) "Output@GRAD"(%output_grad) -> "Input@GRAD"("input_grad") : (tensor<1x1x4x4xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
}

// CHECK: error: conv2d_transpose: needs an argument in input slot 'Filter'
pd.program @p5 attributes {version = 2006002 : i64} {
  %input = pd.input "input" : tensor<1x1x4x4xf32>
  %r = pd.conv2d_transpose Input(%input) -> Output("output") : (tensor<1x1x4x4xf32>) -> tensor<1x1x6x6xf32>
}

// CHECK: error: conv2d_transpose_grad: an absent input or a fused bias is not supported natively
pd.program @p6 attributes {version = 2006002 : i64} {
  %input = pd.input "input" : tensor<1x1x4x4xf32>
  %output_grad = pd.input "output_grad" : tensor<1x1x6x6xf32>
  %r = pd.conv2d_transpose_grad Input(%input) "Output@GRAD"(%output_grad) -> "Input@GRAD"("input_grad") : (tensor<1x1x4x4xf32>, tensor<1x1x6x6xf32>) -> tensor<1x1x4x4xf32>
}

// CHECK: error: pool2d: needs an argument in input slot 'X'
pd.program @p7 attributes {version = 2006002 : i64} {
  %r = pd.pool2d  -> Out("out") {pooling_type = "max", ksize = array<i32: 2, 2>} : () -> tensor<1x1x2x2xf32>
}

// CHECK: error: pool2d: pools over X [4], which has no spatial axes
pd.program @p8 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %r = pd.pool2d X(%x) -> Out("out") {pooling_type = "max", ksize = array<i32: 2, 2>, global_pooling = true} : (tensor<4xf32>) -> tensor<4xf32>
}

// CHECK: error: max_pool2d_with_index: needs an argument in input slot 'X'
pd.program @p9 attributes {version = 2006002 : i64} {
  %r:2 = pd.max_pool2d_with_index  -> Out("out") Mask("mask") {ksize = array<i32: 2, 2>} : () -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi32>)
}

// CHECK: error: pool2d_grad: an absent input is not supported natively
pd.program @p10 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<1x1x4x4xf32>
  %out_grad = pd.input "out_grad" : tensor<1x1x2x2xf32>
  %r = pd.pool2d_grad X(%x) "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") {pooling_type = "max", ksize = array<i32: 2, 2>} : (tensor<1x1x4x4xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
}

// CHECK: error: sum: needs an argument in input slot 'X'
pd.program @p11 attributes {version = 2006002 : i64} {
  %r = pd.sum  -> Out("out") : () -> tensor<2x3xf32>
}

// CHECK: error: fused_elemwise_activation: a functor_list of 1 is not supported natively
pd.program @p12 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %y = pd.input "y" : tensor<2x3xf32>
  %r = pd.fused_elemwise_activation X(%x) Y(%y) -> Out("out") {functor_list = ["relu"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: error: fused_elemwise_activation: functor_list [elementwise_add, sin] is not supported natively
pd.program @p13 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %y = pd.input "y" : tensor<2x3xf32>
  %r = pd.fused_elemwise_activation X(%x) Y(%y) -> Out("out") {functor_list = ["elementwise_add", "sin"]} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: error: mul: needs an argument in input slot 'Y'
pd.program @p14 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %r = pd.mul X(%x) -> Out("out") : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: error: mul_grad: an absent input is not supported natively
pd.program @p15 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %out_grad = pd.input "out_grad" : tensor<2x3xf32>
  %r = pd.mul_grad X(%x) "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: error: matmul_v2: needs an argument in input slot 'Y'
pd.program @p16 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %r = pd.matmul_v2 X(%x) -> Out("out") : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: error: matmul_v2_grad: an absent input is not supported natively
pd.program @p17 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %out_grad = pd.input "out_grad" : tensor<2x3xf32>
  %r = pd.matmul_v2_grad X(%x) "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: error: addmm: needs an argument in input slot 'Y'
pd.program @p18 attributes {version = 2006002 : i64} {
  %input = pd.input "input" : tensor<2x5xf32>
  %x = pd.input "x" : tensor<2x3xf32>
  %r = pd.addmm Input(%input) X(%x) -> Out("out") : (tensor<2x5xf32>, tensor<2x3xf32>) -> tensor<2x5xf32>
}

// CHECK: error: addmm_grad: an absent input is not supported natively
pd.program @p19 attributes {version = 2006002 : i64} {
  %input = pd.input "input" : tensor<2x5xf32>
  %x = pd.input "x" : tensor<2x3xf32>
  %out_grad = pd.input "out_grad" : tensor<2x5xf32>
  %r = pd.addmm_grad Input(%input) X(%x) "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") : (tensor<2x5xf32>, tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x3xf32>
}

// CHECK: error: fsp: needs an argument in input slot 'Y'
pd.program @p20 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<1x2x3x3xf32>
  %r = pd.fsp X(%x) -> Out("out") : (tensor<1x2x3x3xf32>) -> tensor<1x2x2xf32>
}

// CHECK: error: fsp_grad: an absent input or another rank than 4 is not supported natively
pd.program @p21 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<1x2x3x3xf32>
  %y = pd.input "y" : tensor<1x2x3xf32>
  %out_grad = pd.input "out_grad" : tensor<1x2x2xf32>
  %r = pd.fsp_grad X(%x) Y(%y) "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") : (tensor<1x2x3x3xf32>, tensor<1x2x3xf32>, tensor<1x2x2xf32>) -> tensor<1x2x3x3xf32>
}

// CHECK: error: dist: needs an argument in input slot 'Y'
pd.program @p22 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %r = pd.dist X(%x) -> Out("out") {p = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<1xf32>
}

// CHECK: error: softmax_with_cross_entropy: needs an argument in input slot 'Label'
pd.program @p23 attributes {version = 2006002 : i64} {
  %logits = pd.input "logits" : tensor<2x3xf32>
  %r:2 = pd.softmax_with_cross_entropy Logits(%logits) -> Softmax("softmax") Loss("loss") : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x1xf32>)
}

// CHECK: error: kldiv_loss: reduction batchmean of such an X is not supported natively
pd.program @p24 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<f32>
  %target = pd.input "target" : tensor<f32>
  %r = pd.kldiv_loss X(%x) Target(%target) -> Loss("loss") {reduction = "batchmean"} : (tensor<f32>, tensor<f32>) -> tensor<1xf32>
}

// CHECK: error: kldiv_loss: reduction 'median' is not supported natively
pd.program @p25 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %target = pd.input "target" : tensor<2x3xf32>
  %r = pd.kldiv_loss X(%x) Target(%target) -> Loss("loss") {reduction = "median"} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<1xf32>
}

// CHECK: error: kldiv_loss_grad: reduction batchmean of such an X is not supported natively
pd.program @p26 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<f32>
  %target = pd.input "target" : tensor<f32>
  %loss_grad = pd.input "loss_grad" : tensor<1xf32>
  %r = pd.kldiv_loss_grad X(%x) Target(%target) "Loss@GRAD"(%loss_grad) -> "X@GRAD"("x_grad") {reduction = "batchmean"} : (tensor<f32>, tensor<f32>, tensor<1xf32>) -> tensor<f32>
}

// CHECK: error: nll_loss: has no classes in X [4]
pd.program @p27 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %label = pd.input "label" : tensor<4xi64>
  %r:2 = pd.nll_loss X(%x) Label(%label) -> Out("out") Total_weight("total_weight") {reduction = "mean"} : (tensor<4xf32>, tensor<4xi64>) -> (tensor<1xf32>, tensor<1xf32>)
}

// CHECK: error: accuracy: needs an argument in input slot 'Label'
pd.program @p28 attributes {version = 2006002 : i64} {
  %out = pd.input "out" : tensor<2x1xf32>
  %indices = pd.input "indices" : tensor<2x1xi64>
  %r:3 = pd.accuracy Out(%out) Indices(%indices) -> Accuracy("accuracy") Correct("correct") Total("total") : (tensor<2x1xf32>, tensor<2x1xi64>) -> (tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
}

// CHECK: error: group_norm: an X without channels is not supported natively
pd.program @p29 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %r:3 = pd.group_norm X(%x) -> Y("y") Mean("mean") Variance("variance") {groups = 1 : i32} : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4x1xf32>, tensor<4x1xf32>)
}

// CHECK: error: group_norm: Scale or Bias of another extent than the channels is not supported natively
pd.program @p30 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x4x3xf32>
  %scale = pd.input "scale" : tensor<3xf32>
  %r:3 = pd.group_norm X(%x) Scale(%scale) -> Y("y") Mean("mean") Variance("variance") {groups = 2 : i32} : (tensor<2x4x3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<2x2xf32>, tensor<2x2xf32>)
}

// CHECK: error: group_norm: 3 groups of 4 channels is not supported natively
pd.program @p31 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x4x3xf32>
  %r:3 = pd.group_norm X(%x) -> Y("y") Mean("mean") Variance("variance") {groups = 3 : i32} : (tensor<2x4x3xf32>) -> (tensor<2x4x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>)
}

// CHECK: error: instance_norm: has no channel axis in X [4]
pd.program @p32 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %r:3 = pd.instance_norm X(%x) -> Y("y") SavedMean("savedmean") SavedVariance("savedvariance") : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// CHECK: error: instance_norm: Scale or Bias of another extent than the channels is not supported natively
pd.program @p33 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x4x3xf32>
  %scale = pd.input "scale" : tensor<3xf32>
  %r:3 = pd.instance_norm X(%x) Scale(%scale) -> Y("y") SavedMean("savedmean") SavedVariance("savedvariance") : (tensor<2x4x3xf32>, tensor<3xf32>) -> (tensor<2x4x3xf32>, tensor<8xf32>, tensor<8xf32>)
}

// CHECK: error: inplace_abn: activation 'relu' is not supported natively
pd.program @p34 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x4xf32>
  %scale = pd.input "scale" : tensor<4xf32>
  %bias = pd.input "bias" : tensor<4xf32>
  %mean = pd.input "mean" : tensor<4xf32>
  %variance = pd.input "variance" : tensor<4xf32>
  %r:5 = pd.inplace_abn X(%x) Scale(%scale) Bias(%bias) Mean(%mean) Variance(%variance) -> Y("y") MeanOut("meanout") VarianceOut("varianceout") SavedMean("savedmean") SavedVariance("savedvariance") {activation = "relu"} : (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<2x4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// CHECK: error: affine_channel: needs an argument in input slot 'X'
pd.program @p35 attributes {version = 2006002 : i64} {
  %scale = pd.input "scale" : tensor<4xf32>
  %bias = pd.input "bias" : tensor<4xf32>
  %r = pd.affine_channel Scale(%scale) Bias(%bias) -> Out("out") : (tensor<4xf32>, tensor<4xf32>) -> tensor<2x4xf32>
}

// CHECK: error: data_norm: an X that is no matrix of slots is not supported natively
pd.program @p36 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %batchsize = pd.input "batchsize" : tensor<4xf32>
  %batchsum = pd.input "batchsum" : tensor<4xf32>
  %batchsquaresum = pd.input "batchsquaresum" : tensor<4xf32>
  %r:3 = pd.data_norm X(%x) BatchSize(%batchsize) BatchSum(%batchsum) BatchSquareSum(%batchsquaresum) -> Means("means") Scales("scales") Y("y") : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
}

// CHECK: error: data_norm: statistics of another extent than the columns of X is not supported natively
pd.program @p37 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x4xf32>
  %batchsize = pd.input "batchsize" : tensor<3xf32>
  %batchsum = pd.input "batchsum" : tensor<3xf32>
  %batchsquaresum = pd.input "batchsquaresum" : tensor<3xf32>
  %r:3 = pd.data_norm X(%x) BatchSize(%batchsize) BatchSum(%batchsum) BatchSquareSum(%batchsquaresum) -> Means("means") Scales("scales") Y("y") : (tensor<2x4xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>, tensor<2x4xf32>)
}

// CHECK: error: data_norm_grad: needs an argument in input slot 'Means'
pd.program @p38 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x4xf32>
  %y_grad = pd.input "y_grad" : tensor<2x4xf32>
  %r = pd.data_norm_grad X(%x) "Y@GRAD"(%y_grad) -> "X@GRAD"("x_grad") : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
}

// CHECK: error: merged_adam: use_global_beta_pow is not supported natively
pd.program @p39 attributes {version = 2006002 : i64} {
  %param = pd.input "param" : tensor<4x2xf32>
  %grad = pd.input "grad" : tensor<4x2xf32>
  %learningrate = pd.input "learningrate" : tensor<1xf32>
  %moment1 = pd.input "moment1" : tensor<4x2xf32>
  %moment2 = pd.input "moment2" : tensor<4x2xf32>
  %beta1pow = pd.input "beta1pow" : tensor<1xf32>
  %beta2pow = pd.input "beta2pow" : tensor<1xf32>
  %r:5 = pd.merged_adam Param(%param) Grad(%grad) LearningRate(%learningrate) Moment1(%moment1) Moment2(%moment2) Beta1Pow(%beta1pow) Beta2Pow(%beta2pow) -> ParamOut("paramout") Moment1Out("moment1out") Moment2Out("moment2out") Beta1PowOut("beta1powout") Beta2PowOut("beta2powout") {use_global_beta_pow = true} : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<1xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<1xf32>, tensor<1xf32>)
}

// CHECK: error: lars_momentum: an empty lars_weight_decay is not supported natively
pd.program @p40 attributes {version = 2006002 : i64} {
  %param = pd.input "param" : tensor<4x2xf32>
  %grad = pd.input "grad" : tensor<4x2xf32>
  %learningrate = pd.input "learningrate" : tensor<1xf32>
  %velocity = pd.input "velocity" : tensor<4x2xf32>
  %r:2 = pd.lars_momentum Param(%param) Grad(%grad) LearningRate(%learningrate) Velocity(%velocity) -> ParamOut("paramout") VelocityOut("velocityout") {mu = 0.9 : f32, lars_weight_decay = array<f32>} : (tensor<4x2xf32>, tensor<4x2xf32>, tensor<1xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4x2xf32>)
}

// CHECK: error: transpose2: needs an argument in input slot 'X'
pd.program @p41 attributes {version = 2006002 : i64} {
  %r:2 = pd.transpose2  -> Out("out") XShape("xshape") {axis = array<i32: 1, 0>} : () -> (tensor<2x3xf32>, tensor<0x3x2xf32>)
}

// CHECK: error: cast: needs an argument in input slot 'X'
pd.program @p42 attributes {version = 2006002 : i64} {
  %r = pd.cast  -> Out("out") {in_dtype = 5 : i32, out_dtype = 5 : i32} : () -> tensor<2x3xf32>
}

// CHECK: error: reshape2: needs an argument in input slot 'X'
pd.program @p43 attributes {version = 2006002 : i64} {
  %r:2 = pd.reshape2  -> Out("out") XShape("xshape") {shape = array<i32: 2, 3>} : () -> (tensor<2x3xf32>, tensor<0x3x2xf32>)
}

// CHECK: error: flatten2: needs an argument in input slot 'X'
pd.program @p44 attributes {version = 2006002 : i64} {
  %r:2 = pd.flatten2  -> Out("out") XShape("xshape") {axis = 1 : i32} : () -> (tensor<2x3xf32>, tensor<0x3x2xf32>)
}

// CHECK: error: squeeze2: needs an argument in input slot 'X'
pd.program @p45 attributes {version = 2006002 : i64} {
  %r:2 = pd.squeeze2  -> Out("out") XShape("xshape") {axes = array<i32: 1>} : () -> (tensor<2x3xf32>, tensor<0x3x2xf32>)
}

// CHECK: error: elementwise_pow: arithmetic of complex numbers is not supported natively
pd.program @p46 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xcomplex<f32>>
  %y = pd.input "y" : tensor<2xcomplex<f32>>
  %r = pd.elementwise_pow X(%x) Y(%y) -> Out("out") : (tensor<2xcomplex<f32>>, tensor<2xcomplex<f32>>) -> tensor<2xcomplex<f32>>
}

// CHECK: error: matmul: cannot multiply X [2, 3] and Y [4, 5]
pd.program @p47 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %y = pd.input "y" : tensor<4x5xf32>
  %r = pd.matmul X(%x) Y(%y) -> Out("out") : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
}

// CHECK: error: mul: cannot multiply X [2, 3] and Y [4, 5]
pd.program @p48 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %y = pd.input "y" : tensor<4x5xf32>
  %r = pd.mul X(%x) Y(%y) -> Out("out") : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>
}

// CHECK: error: pool2d: pools over X [4, 4], which has no spatial axes
pd.program @p49 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x4xf32>
  %r = pd.pool2d X(%x) -> Out("out") {pooling_type = "max", ksize = array<i32: 2, 2>} : (tensor<4x4xf32>) -> tensor<4x4xf32>
}

// CHECK: error: cross_entropy2: has no axis of classes in X
pd.program @p50 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<f32>
  %label = pd.input "label" : tensor<1xi64>
  %r:3 = pd.cross_entropy2 X(%x) Label(%label) -> Y("y") XShape("xshape") MatchX("matchx") : (tensor<f32>, tensor<1xi64>) -> (tensor<1xf32>, tensor<0xf32>, tensor<1xf32>)
}

// CHECK: error: lookup_table_v2: looks up rows of W [4], which is no matrix
pd.program @p51 attributes {version = 2006002 : i64} {
  %w = pd.input "w" : tensor<4xf32>
  %ids = pd.input "ids" : tensor<2xi64>
  %r = pd.lookup_table_v2 W(%w) Ids(%ids) -> Out("out") : (tensor<4xf32>, tensor<2xi64>) -> tensor<2x4xf32>
}

// CHECK: error: lookup_table: needs an extent of 1 at the end of Ids [2, 2]
pd.program @p52 attributes {version = 2006002 : i64} {
  %w = pd.input "w" : tensor<4x3xf32>
  %ids = pd.input "ids" : tensor<2x2xi64>
  %r = pd.lookup_table W(%w) Ids(%ids) -> Out("out") : (tensor<4x3xf32>, tensor<2x2xi64>) -> tensor<2x3xf32>
}

// CHECK: error: fill_constant: cannot make a tensor of shape [4294967296, 4294967296]
pd.program @p53 attributes {version = 2006002 : i64} {
  %r = pd.fill_constant  -> Out("out") {shape = array<i64: 4294967296, 4294967296>, dtype = 5 : i32} : () -> tensor<2xf32>
}

// CHECK: error: layer_norm: normalises from axis 2 of X [4, 3]
pd.program @p54 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %r:3 = pd.layer_norm X(%x) -> Y("y") Mean("mean") Variance("variance") {begin_norm_axis = 2 : i32} : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>)
}

// CHECK: error: transpose2: permutes the axes of X [2, 3] by [0, 0]
pd.program @p55 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %r:2 = pd.transpose2 X(%x) -> Out("out") XShape("xshape") {axis = array<i32: 0, 0>} : (tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<0x2x3xf32>)
}

// CHECK: error: conv2d: has ranks that do not fit: Input [1, 1, 4, 4], Filter [1, 1, 3]
pd.program @p56 attributes {version = 2006002 : i64} {
  %input = pd.input "input" : tensor<1x1x4x4xf32>
  %filter = pd.input "filter" : tensor<1x1x3xf32>
  %r = pd.conv2d Input(%input) Filter(%filter) -> Output("output") : (tensor<1x1x4x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x1x1xf32>
}

// CHECK: error: reduce_sum: reduces axes [2] of X [2, 3]
pd.program @p57 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %r = pd.reduce_sum X(%x) -> Out("out") {dim = array<i32: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>
}
