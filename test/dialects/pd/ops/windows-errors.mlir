// Windows, paddings and factors that do not fit an image: the row's inference and its constraints refuse them (P10 and C* of docs/dialects/pd.md).
// RUN: dtranspile-opt %s -split-input-file -verify-diagnostics

%input = pd.undef "input" : tensor<1x1x2x2xf32>
%filter = pd.undef "filter" : tensor<1x1x3x3xf32>
// expected-error @+1 {{[P10] has no window of 3 with stride 1 and padding 0+0 in an extent of 2}}
%r = pd.conv2d Input(%input) Filter(%filter) -> Output("output") : (tensor<1x1x2x2xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x1x1xf32>

// -----

%input = pd.undef "input" : tensor<1x1x4x4xf32>
%filter = pd.undef "filter" : tensor<1x1x3xf32>
// expected-error @+1 {{[C1] Input must have two or three spatial axes, and Filter the same rank; found Input [1, 1, 4, 4], Filter [1, 1, 3]}}
%r = pd.conv2d Input(%input) Filter(%filter) -> Output("output") : (tensor<1x1x4x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x1x1xf32>

// -----

%input = pd.undef "input" : tensor<1x1x4x4xf32>
%filter = pd.undef "filter" : tensor<1x1x3xf32>
// expected-error @+1 {{[P10] has ranks that do not fit: Input [1, 1, 4, 4], Filter [1, 1, 3]}}
%r = pd.conv2d_transpose Input(%input) Filter(%filter) -> Output("output") : (tensor<1x1x4x4xf32>, tensor<1x1x3xf32>) -> tensor<1x1x1x1xf32>

// -----

%input = pd.undef "input" : tensor<1x1x1x1xf32>
%filter = pd.undef "filter" : tensor<1x1x1x1xf32>
// expected-error @+1 {{[P10] has an output extent that is negative or too large}}
%r = pd.conv2d_transpose Input(%input) Filter(%filter) -> Output("output") {paddings = array<i32: 3, 3>} : (tensor<1x1x1x1xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x1xf32>

// -----

%x = pd.undef "x" : tensor<4x4xf32>
// expected-error @+1 {{[C1] X must have two or three spatial axes; found X [4, 4]}}
%r = pd.pool2d X(%x) -> Out("out") {pooling_type = "max", ksize = array<i32: 2, 2>} : (tensor<4x4xf32>) -> tensor<4x4xf32>

// -----

%x = pd.undef "x" : tensor<1x1x4x4xf32>
// expected-error @+1 {{[P10] has windows of [2, 2, 2] with strides [1, 1] and paddings [0, 0, 0, 0]}}
%r = pd.im2sequence X(%x) -> Out("out") {kernels = array<i32: 2, 2, 2>} : (tensor<1x1x4x4xf32>) -> tensor<4x4xf32>

// -----

%x = pd.undef "x" : tensor<1x1x4x4xf32>
// expected-error @+1 {{[P10] has windows of [2, 2] with strides [1, 1] and paddings [0, 0, 0]}}
%r = pd.unfold X(%x) -> Y("y") {kernel_sizes = array<i32: 2, 2>, strides = array<i32: 1, 1>, paddings = array<i32: 0, 0, 0>, dilations = array<i32: 1, 1>} : (tensor<1x1x4x4xf32>) -> tensor<1x4x4xf32>

// -----

%out_grad = pd.undef "out_grad" : tensor<2x3xf32>
// expected-error @+1 {{[P10] has 2 paddings for Out@GRAD [2, 3]}}
%r = pd.pad_grad "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") {paddings = array<i32: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
// expected-error @+1 {{[P10] has 2 paddings for X [2, 3]}}
%r = pd.pad X(%x) -> Out("out") {paddings = array<i32: 1, 1>} : (tensor<2x3xf32>) -> tensor<2x3xf32>

// -----

%x = pd.undef "x" : tensor<1x1x2x2xf32>
// expected-error @+1 {{[P10] has paddings [1, 1] for X [1, 1, 2, 2]}}
%r = pd.pad2d X(%x) -> Out("out") {paddings = array<i32: 1, 1>} : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>

// -----

%x = pd.undef "x" : tensor<1x4x2x2xf32>
// expected-error @+1 {{[P10] has a factor of 0}}
%r = pd.pixel_shuffle X(%x) -> Out("out") {upscale_factor = 0 : i32} : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x4xf32>

// -----

%x = pd.undef "x" : tensor<1x4x2x2xf32>
// expected-error @+1 {{[P10] has a factor of 0}}
%r = pd.space_to_depth X(%x) -> Out("out") {blocksize = 0 : i64} : (tensor<1x4x2x2xf32>) -> tensor<1x1x4x4xf32>

// -----

%input = pd.undef "input" : tensor<1x1x4x4xf32>
%offset = pd.undef "offset" : tensor<1x18x2x2xf32>
%mask = pd.undef "mask" : tensor<1x9x2x2xf32>
%filter = pd.undef "filter" : tensor<1x1x3xf32>
// expected-error @+1 {{[P10] has ranks that do not fit: Input [1, 1, 4, 4], Filter [1, 1, 3]}}
%r = pd.deformable_conv Input(%input) Offset(%offset) Mask(%mask) Filter(%filter) -> Output("output") : (tensor<1x1x4x4xf32>, tensor<1x18x2x2xf32>, tensor<1x9x2x2xf32>, tensor<1x1x3xf32>) -> tensor<1x1x1x1xf32>

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[C1] X must have two or three spatial axes; found X [4]}}
%r = pd.pool2d X(%x) -> Out("out") {pooling_type = "max", ksize = array<i32: 2, 2>} : (tensor<4xf32>) -> tensor<4x4xf32>

// -----

%x = pd.undef "x" : tensor<4x4xf32>
// expected-error @+1 {{[P10] pools over X [4, 4], which has no spatial axes}}
%r:2 = pd.max_pool2d_with_index X(%x) -> Out("out") Mask("mask") {ksize = array<i32: 2, 2>} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xi32>)
