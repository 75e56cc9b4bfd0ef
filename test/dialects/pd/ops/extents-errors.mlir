// Extents, axes and shapes that an op cannot have: the row's inference and its constraints refuse them (P10 and C* of docs/dialects/pd.md).
// RUN: dtranspile-opt %s -split-input-file -verify-diagnostics

%x = pd.undef "x" : tensor<f32>
// expected-error @+1 {{[P10] has no axis to cut in X}}
%r = pd.c_allgather X(%x) -> Out("out") {nranks = 2 : i32, ring_id = 0 : i32} : (tensor<f32>) -> tensor<2xf32>

// -----

// expected-error @+1 {{[C2] shape must hold extents, or -1 for unknown ones, whose product fits 63 bits; found shape [4294967296, 4294967296]}}
%r = pd.fill_constant  -> Out("out") {shape = array<i64: 4294967296, 4294967296>, dtype = 5 : i32} : () -> tensor<2xf32>

// -----

// expected-error @+1 {{[P10] cannot permute -1 numbers}}
%r = pd.randperm  -> Out("out") {n = -1 : i32, dtype = 3 : i32} : () -> tensor<2xi64>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] cannot draw -1 samples from X [2, 3]}}
%r = pd.multinomial X(%x) -> Out("out") {num_samples = -1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xi64>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<4xf32>
// expected-error @+1 {{[C2] X and Y must be broadcastable; found X [2, 3], Y [4], axis -1}}
%r = pd.elementwise_add X(%x) Y(%y) -> Out("out") {axis = -1 : i32} : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<4xf32>
// expected-error @+1 {{[C2] X and Y must be broadcastable; found X [2, 3], Y [4], axis -1}}
%r = pd.less_than X(%x) Y(%y) -> Out("out") : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2x3xi1>

// -----

%condition = pd.undef "condition" : tensor<2xi1>
%x = pd.undef "x" : tensor<3xf32>
%y = pd.undef "y" : tensor<3xf32>
// expected-error @+1 {{[P10] cannot broadcast Condition [2], X [3] and Y [3]}}
%r = pd.where Condition(%condition) X(%x) Y(%y) -> Out("out") : (tensor<2xi1>, tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>

// -----

%input = pd.undef "input" : tensor<2x3xf32>
// expected-error @+1 {{[P10] has no axis 2 in a tensor of rank 2}}
%r = pd.slice Input(%input) -> Out("out") {axes = array<i32: 2>, starts = array<i32: 0>, ends = array<i32: 1>} : (tensor<2x3xf32>) -> tensor<1x3xf32>

// -----

%diagonal = pd.undef "diagonal" : tensor<2x2xf32>
// expected-error @+1 {{[P10] takes a vector, not [2, 2]}}
%r = pd.diag Diagonal(%diagonal) -> Out("out") : (tensor<2x2xf32>) -> tensor<2x2xf32>

// -----

%x = pd.undef "x" : tensor<2x2x2xf32>
// expected-error @+1 {{[P10] takes a vector or a matrix, not [2, 2, 2]}}
%r = pd.diag_v2 X(%x) -> Out("out") : (tensor<2x2x2xf32>) -> tensor<2x2xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
%scale = pd.undef "scale" : tensor<4xf32>
%bias = pd.undef "bias" : tensor<4xf32>
%mean = pd.undef "mean" : tensor<4xf32>
%variance = pd.undef "variance" : tensor<4xf32>
// expected-error @+1 {{[P10] has no channel axis in X [4]}}
%r:5 = pd.batch_norm X(%x) Scale(%scale) Bias(%bias) Mean(%mean) Variance(%variance) -> Y("y") MeanOut("meanout") VarianceOut("varianceout") SavedMean("savedmean") SavedVariance("savedvariance") : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)

// -----

%x = pd.undef "x" : tensor<4x3xf32>
// expected-error @+1 {{[C1] begin_norm_axis must be an axis of X after the first; found begin_norm_axis 2, X [4, 3]}}
%r:3 = pd.layer_norm X(%x) -> Y("y") Mean("mean") Variance("variance") {begin_norm_axis = 2 : i32} : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>)

// -----

%x = pd.undef "x" : tensor<4294967296x4294967296x1xf32>
// expected-error @+1 {{[P10] has too many rows in X [4294967296, 4294967296, 1]}}
%r:3 = pd.layer_norm X(%x) -> Y("y") Mean("mean") Variance("variance") {begin_norm_axis = 2 : i32} : (tensor<4294967296x4294967296x1xf32>) -> (tensor<1x1x1xf32>, tensor<1xf32>, tensor<1xf32>)

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P10] has no channel axis in X [4]}}
%r:3 = pd.instance_norm X(%x) -> Y("y") SavedMean("savedmean") SavedVariance("savedvariance") : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)

// -----

%x = pd.undef "x" : tensor<4x3xf32>
%mean = pd.undef "mean" : tensor<4xf32>
%variance = pd.undef "variance" : tensor<4xf32>
%y_grad = pd.undef "y_grad" : tensor<4x3xf32>
// expected-error @+1 {{[P10] has a gradient of Scale and neither Scale nor Bias}}
%r:2 = pd.layer_norm_grad X(%x) Mean(%mean) Variance(%variance) "Y@GRAD"(%y_grad) -> "X@GRAD"("x_grad") "Scale@GRAD"("scale_grad") : (tensor<4x3xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3xf32>)

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[C1] dim must hold axes of X; found axis 2 of X [2, 3]}}
%r = pd.reduce_sum X(%x) -> Out("out") {dim = array<i32: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

%x = pd.undef "x" : tensor<4294967296x4294967296x1xf32>
// expected-error @+1 {{[P10] has too many elements in [4294967296, 4294967296]}}
%r:2 = pd.flatten2 X(%x) -> Out("out") XShape("xshape") {axis = 2 : i32} : (tensor<4294967296x4294967296x1xf32>) -> (tensor<1x1xf32>, tensor<0x1x1x1xf32>)

// -----

%x = pd.undef "x" : tensor<4294967296x4294967296x1xf32>
// expected-error @+1 {{[P10] has too many elements in X [4294967296, 4294967296, 1]}}
%r:2 = pd.flatten_contiguous_range X(%x) -> Out("out") XShape("xshape") {start_axis = 0 : i32, stop_axis = 1 : i32} : (tensor<4294967296x4294967296x1xf32>) -> (tensor<1x1xf32>, tensor<0x1x1x1xf32>)

// -----

%xshape = pd.undef "xshape" : tensor<f32>
%out_grad = pd.undef "out_grad" : tensor<2x3xf32>
// expected-error @+1 {{[P10] needs XShape of the forward op, [0, extents of X]}}
%r = pd.reshape2_grad XShape(%xshape) "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") : (tensor<f32>, tensor<2x3xf32>) -> tensor<6xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[C1] axis must be a permutation of the axes of X; found axis [0, 0] of X [2, 3]}}
%r:2 = pd.transpose2 X(%x) -> Out("out") XShape("xshape") {axis = array<i32: 0, 0>} : (tensor<2x3xf32>) -> (tensor<3x2xf32>, tensor<0x2x3xf32>)

// -----

%out_grad = pd.undef "out_grad" : tensor<3x2xf32>
// expected-error @+1 {{[C1] axis must be a permutation of the axes of Out@GRAD; found axis [1, 1] of Out@GRAD [3, 2]}}
%r = pd.transpose_grad "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") {axis = array<i32: 1, 1>} : (tensor<3x2xf32>) -> tensor<2x3xf32>

// -----

%xshape = pd.undef "xshape" : tensor<0x3x2xf32>
%out_grad = pd.undef "out_grad" : tensor<2x3xf32>
// expected-error @+1 {{[C1] axis must be a permutation of the axes of Out@GRAD; found axis [5, 0] of Out@GRAD [2, 3]}}
%r = pd.transpose2_grad "Out@GRAD"(%out_grad) XShape(%xshape) -> "X@GRAD"("x_grad") {axis = array<i32: 5, 0>} : (tensor<2x3xf32>, tensor<0x3x2xf32>) -> tensor<3x2xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] cannot split extent 3 into 2 results}}
%r:2 = pd.split X(%x) -> Out("out_0", "out_1") {axis = 1 : i32, num = 2 : i32} : (tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>)

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] cannot expand X [2, 3] to [3]}}
%r = pd.expand_v2 X(%x) -> Out("out") {shape = array<i32: 3>} : (tensor<2x3xf32>) -> tensor<3xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] cannot expand X [2, 3] to [4, 3]}}
%r = pd.expand_v2 X(%x) -> Out("out") {shape = array<i32: 4, 3>} : (tensor<2x3xf32>) -> tensor<4x3xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<2x4xf32>
// expected-error @+1 {{[P10] cannot broadcast X [2, 3] and Y [2, 4]}}
%r = pd.complex X(%x) Y(%y) -> Out("out") : (tensor<2x3xf32>, tensor<2x4xf32>) -> tensor<2x3xcomplex<f32>>

// -----

// expected-error @+1 {{[C2] shape must hold extents, or -1 for unknown ones, whose product fits 63 bits; found shape [4294967296, 4294967296]}}
%r = pd.uniform_random  -> Out("out") {shape = array<i64: 4294967296, 4294967296>, dtype = 5 : i32} : () -> tensor<2xf32>

// -----

// expected-error @+1 {{[C2] shape must hold extents, or -1 for unknown ones, whose product fits 63 bits; found shape [4294967296, 4294967296]}}
%r = pd.randint  -> Out("out") {shape = array<i64: 4294967296, 4294967296>, dtype = 3 : i32, low = 0 : i32, high = 4 : i32} : () -> tensor<2xi64>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<4xf32>
// expected-error @+1 {{[P10] cannot broadcast X [2, 3] and Y [4] with axis -1}}
%r:2 = pd.fused_elemwise_activation X(%x) Y(%y) -> Out("out") IntermediateOut("intermediateout") {functor_list = ["elementwise_add", "relu"]} : (tensor<2x3xf32>, tensor<4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)

// -----

%x = pd.undef "x" : tensor<2x3xi32>
%y = pd.undef "y" : tensor<4xi32>
// expected-error @+1 {{[P10] cannot broadcast X [2, 3] and Y [4] with axis -1}}
%r = pd.bitwise_and X(%x) Y(%y) -> Out("out") : (tensor<2x3xi32>, tensor<4xi32>) -> tensor<2x3xi32>

// -----

%x = pd.undef "x" : tensor<2x3xi1>
%y = pd.undef "y" : tensor<4xi1>
// expected-error @+1 {{[C2] X and Y must be broadcastable; found X [2, 3], Y [4], axis -1}}
%r = pd.logical_and X(%x) Y(%y) -> Out("out") : (tensor<2x3xi1>, tensor<4xi1>) -> tensor<2x3xi1>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] reduces axes [2] of X [2, 3]}}
%r = pd.frobenius_norm X(%x) -> Out("out") {dim = array<i32: 2>} : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

%x = pd.undef "x" : tensor<2x3xi1>
// expected-error @+1 {{[C1] dim must hold axes of X; found axis 2 of X [2, 3]}}
%r = pd.reduce_any X(%x) -> Out("out") {dim = array<i32: 2>} : (tensor<2x3xi1>) -> tensor<2xi1>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] has no axis 2 in X [2, 3]}}
%r = pd.p_norm X(%x) -> Out("out") {axis = 2 : i32} : (tensor<2x3xf32>) -> tensor<2xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[C1] axis must be a permutation of the axes of X; found axis [0, 0] of X [2, 3]}}
%r = pd.transpose X(%x) -> Out("out") {axis = array<i32: 0, 0>} : (tensor<2x3xf32>) -> tensor<3x2xf32>

// -----

%g = pd.undef "g" : tensor<2x3xf32>
%s = pd.undef "s" : tensor<0x2x3xf32>
// expected-error @+1 {{[C1] axis must be a permutation of the axes of Out@GRAD; found axis [5, 0] of Out@GRAD [2, 3]}}
%r = pd.transpose2_grad "Out@GRAD"(%g) XShape(%s) -> "X@GRAD"("x") {axis = array<i32: 5, 0>} : (tensor<2x3xf32>, tensor<0x2x3xf32>) -> tensor<3x2xf32>

// -----

%g = pd.undef "g" : tensor<2x3xf32>
%s = pd.undef "s" : tensor<0x2x3xf32>
// expected-error @+1 {{[P10] cannot permute Out@GRAD [2, 3] to the extents [2, 3] of X by [1, 0]; give it the XShape of its forward op}}
%r = pd.transpose2_grad "Out@GRAD"(%g) XShape(%s) -> "X@GRAD"("x") {axis = array<i32: 1, 0>} : (tensor<2x3xf32>, tensor<0x2x3xf32>) -> tensor<2x3xf32>

// -----

%g = pd.undef "g" : tensor<2x3xf32>
%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] cannot permute Out@GRAD [2, 3] to the extents [2, 3] of X by [1, 0]; give it the X of its forward op}}
%r = pd.transpose_grad "Out@GRAD"(%g) X(%x) -> "X@GRAD"("x") {axis = array<i32: 1, 0>} : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<0x2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the XShape of its forward op}}
%r = pd.reshape2_grad "Out@GRAD"(%g) XShape(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<0x2x4xf32>) -> tensor<2x4xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<0x2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the XShape of its forward op}}
%r = pd.squeeze2_grad "Out@GRAD"(%g) XShape(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<0x2x4xf32>) -> tensor<2x4xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<0x2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the XShape of its forward op}}
%r = pd.unsqueeze2_grad "Out@GRAD"(%g) XShape(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<0x2x4xf32>) -> tensor<2x4xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<0x2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the XShape of its forward op}}
%r = pd.flatten2_grad "Out@GRAD"(%g) XShape(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<0x2x4xf32>) -> tensor<2x4xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<0x2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the XShape of its forward op}}
%r = pd.flatten_contiguous_range_grad "Out@GRAD"(%g) XShape(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<0x2x4xf32>) -> tensor<2x4xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the X of its forward op}}
%r = pd.reshape_grad "Out@GRAD"(%g) X(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the X of its forward op}}
%r = pd.squeeze_grad "Out@GRAD"(%g) X(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the X of its forward op}}
%r = pd.unsqueeze_grad "Out@GRAD"(%g) X(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>

// -----

%g = pd.undef "g" : tensor<6xf32>
%s = pd.undef "s" : tensor<2x4xf32>
// expected-error @+1 {{[P10] cannot give Out@GRAD [6] the extents [2, 4] of X; give it the X of its forward op}}
%r = pd.flatten_grad "Out@GRAD"(%g) X(%s) -> "X@GRAD"("x") : (tensor<6xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
