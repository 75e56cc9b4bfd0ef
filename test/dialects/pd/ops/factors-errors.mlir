// Factors, frames and medians whose extents or attributes do not fit: the row's inference refuses them (P10 of docs/dialects/pd.md).
// RUN: dtranspile-opt %s -split-input-file -verify-diagnostics

%a = pd.undef "a" : tensor<2x3xf32>
%b = pd.undef "b" : tensor<4xf32>
// expected-error @+1 {{[P10] X[1] [4] does not broadcast with [2, 3]}}
%r:2 = pd.broadcast_tensors X(%a, %b) -> Out("c", "d") : (tensor<2x3xf32>, tensor<4xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)

// -----

%x = pd.undef "x" : tensor<2x7xf32>
// expected-error @+1 {{[P10] has axis 1, expected 0 or -1}}
%r = pd.frame X(%x) -> Out("out") {frame_length = 3 : i32, hop_length = 2 : i32, axis = 1 : i32} : (tensor<2x7xf32>) -> tensor<2x3x3xf32>

// -----

%x = pd.undef "x" : tensor<2x7xf32>
// expected-error @+1 {{[P10] has frames of 3 places, one every 0}}
%r = pd.frame X(%x) -> Out("out") {frame_length = 3 : i32, hop_length = 0 : i32} : (tensor<2x7xf32>) -> tensor<2x3x3xf32>

// -----

%x = pd.undef "x" : tensor<2x7xf32>
// expected-error @+1 {{[P10] has frames of 8 places in X [2, 7]}}
%r = pd.frame X(%x) -> Out("out") {frame_length = 8 : i32, hop_length = 2 : i32} : (tensor<2x7xf32>) -> tensor<2x8x1xf32>

// -----

%x = pd.undef "x" : tensor<f32>
// expected-error @+1 {{[P10] has no dim of X to cut frames from}}
%r = pd.frame X(%x) -> Out("out") {frame_length = 1 : i32, hop_length = 1 : i32} : (tensor<f32>) -> tensor<1x1xf32>

// -----

%x = pd.undef "x" : tensor<7xf32>
// expected-error @+1 {{[P10] needs frames in X [7]}}
%r = pd.overlap_add X(%x) -> Out("out") {hop_length = 2 : i32} : (tensor<7xf32>) -> tensor<7xf32>

// -----

%x = pd.undef "x" : tensor<3x7xf32>
// expected-error @+1 {{[P10] has a frame of X [3, 7] every 4 places}}
%r = pd.overlap_add X(%x) -> Out("out") {hop_length = 4 : i32} : (tensor<3x7xf32>) -> tensor<27xf32>

// -----

%x = pd.undef "x" : tensor<4x3xf32>
// expected-error @+1 {{[P10] has mode 'full', expected reduced, complete or r}}
%r:2 = pd.qr X(%x) -> Q("q") R("r") {mode = "full"} : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<3x3xf32>)

// -----

%x = pd.undef "x" : tensor<4xf32>
// expected-error @+1 {{[P10] needs matrices in X [4]}}
%r:2 = pd.qr X(%x) -> Q("q") R("r") : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)

// -----

%x = pd.undef "x" : tensor<2x3x3xf32>
%tol = pd.undef "tol" : tensor<3xf32>
// expected-error @+1 {{[P10] TolTensor [3] does not broadcast with X [2, 3, 3]}}
%r = pd.matrix_rank X(%x) TolTensor(%tol) -> Out("out") : (tensor<2x3x3xf32>, tensor<3xf32>) -> tensor<2xi32>

// -----

%x = pd.undef "x" : tensor<3x2xf32>
%y = pd.undef "y" : tensor<4x4xf32>
// expected-error @+1 {{[P10] cannot solve for X [3, 2] with factors Y [4, 4]}}
%r = pd.cholesky_solve X(%x) Y(%y) -> Out("out") : (tensor<3x2xf32>, tensor<4x4xf32>) -> tensor<3x2xf32>

// -----

%a = pd.undef "a" : tensor<3x4xf32>
// expected-error @+1 {{[P10] multiplies 1 factors, expected 2 or more}}
%r = pd.multi_dot X(%a) -> Out("out") : (tensor<3x4xf32>) -> tensor<3x4xf32>

// -----

%a = pd.undef "a" : tensor<3x4xf32>
%b = pd.undef "b" : tensor<2x4xf32>
// expected-error @+1 {{[P10] X[1] [2, 4] has not 4 rows}}
%r = pd.multi_dot X(%a, %b) -> Out("out") : (tensor<3x4xf32>, tensor<2x4xf32>) -> tensor<3x4xf32>

// -----

%a = pd.undef "a" : tensor<3x4xf32>
%b = pd.undef "b" : tensor<4xf32>
%c = pd.undef "c" : tensor<4x2xf32>
// expected-error @+1 {{[P10] X[1] [4] is no matrix}}
%r = pd.multi_dot X(%a, %b, %c) -> Out("out") : (tensor<3x4xf32>, tensor<4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>

// -----

%x = pd.undef "x" : tensor<3x4xf32>
// expected-error @+1 {{[P10] reduces axes [2] of X [3, 4]}}
%r:2 = pd.nanmedian X(%x) -> Out("out") MedianIndex("places") {axis = array<i32: 2>} : (tensor<3x4xf32>) -> (tensor<3xf32>, tensor<6xi64>)

// -----

%x = pd.undef "x" : tensor<3x4xf32>
// expected-error @+1 {{[P10] has reduction 3, expected 0 (sum), 1 (mean) or 2 (none)}}
%r = pd.identity_loss X(%x) -> Out("out") {reduction = 3 : i32} : (tensor<3x4xf32>) -> tensor<f32>
