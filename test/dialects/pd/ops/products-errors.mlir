// Products, distances and matrices whose extents do not fit each other: the row's inference and its constraints refuse them (P10 and C* of docs/dialects/pd.md).
// RUN: dtranspile-opt %s -split-input-file -verify-diagnostics

%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<4x5xf32>
// expected-error @+1 {{[C1] inner extents must agree and batches must be broadcastable; found X [2, 3], Y [4, 5]}}
%r = pd.matmul X(%x) Y(%y) -> Out("out") : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<4x5xf32>
// expected-error @+1 {{[C1] inner extents must agree and batches must be broadcastable; found X [2, 3], Y [4, 5]}}
%r = pd.matmul_v2 X(%x) Y(%y) -> Out("out") : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<4x5xf32>
// expected-error @+1 {{[C2] the flattened X must have as many columns as the flattened Y has rows; found X [2, 3], Y [4, 5]}}
%r = pd.mul X(%x) Y(%y) -> Out("out") : (tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>

// -----

%x = pd.undef "x" : tensor<2xf32>
%y = pd.undef "y" : tensor<4x5xf32>
// expected-error @+1 {{[C1] x_num_col_dims and y_num_col_dims must leave at least one axis on both sides; found 1 of X [2], 1 of Y [4, 5]}}
%r = pd.mul X(%x) Y(%y) -> Out("out") : (tensor<2xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>

// -----

%x = pd.undef "x" : tensor<1x2x3xf32>
%y = pd.undef "y" : tensor<1x4x5xf32>
// expected-error @+1 {{[P10] cannot multiply X [1, 2, 3] and Y [1, 4, 5]}}
%r = pd.bmm X(%x) Y(%y) -> Out("out") : (tensor<1x2x3xf32>, tensor<1x4x5xf32>) -> tensor<1x2x5xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
%vec = pd.undef "vec" : tensor<4xf32>
// expected-error @+1 {{[P10] cannot multiply X [2, 3] and Vec [4]}}
%r = pd.mv X(%x) Vec(%vec) -> Out("out") : (tensor<2x3xf32>, tensor<4xf32>) -> tensor<2xf32>

// -----

%x = pd.undef "x" : tensor<f32>
%y = pd.undef "y" : tensor<f32>
// expected-error @+1 {{[P10] X has no axis to multiply over}}
%r = pd.dot X(%x) Y(%y) -> Out("out") : (tensor<f32>, tensor<f32>) -> tensor<f32>

// -----

%input = pd.undef "input" : tensor<2x5xf32>
%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<4x5xf32>
// expected-error @+1 {{[P10] cannot multiply X [2, 3] and Y [4, 5]}}
%r = pd.addmm Input(%input) X(%x) Y(%y) -> Out("out") : (tensor<2x5xf32>, tensor<2x3xf32>, tensor<4x5xf32>) -> tensor<2x5xf32>

// -----

%x = pd.undef "x" : tensor<f32>
%y = pd.undef "y" : tensor<2x3xf32>
%weight = pd.undef "weight" : tensor<4x3x3xf32>
// expected-error @+1 {{[P10] needs a batch in X and rows in Weight}}
%r = pd.bilinear_tensor_product X(%x) Y(%y) Weight(%weight) -> Out("out") : (tensor<f32>, tensor<2x3xf32>, tensor<4x3x3xf32>) -> tensor<2x4xf32>

// -----

%x = pd.undef "x" : tensor<2x3xf32>
%y = pd.undef "y" : tensor<2x3xf32>
%weight = pd.undef "weight" : tensor<f32>
%out_grad = pd.undef "out_grad" : tensor<2x4xf32>
// expected-error @+1 {{[P10] needs rows in Weight}}
%r = pd.bilinear_tensor_product_grad X(%x) Y(%y) Weight(%weight) "Out@GRAD"(%out_grad) -> "X@GRAD"("x_grad") : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<f32>, tensor<2x4xf32>) -> tensor<2x3xf32>

// -----

%x = pd.undef "x" : tensor<4294967296x1xf32>
%y = pd.undef "y" : tensor<4294967296x1xf32>
// expected-error @+1 {{[P10] has extents that overflow}}
%r = pd.kron X(%x) Y(%y) -> Out("out") : (tensor<4294967296x1xf32>, tensor<4294967296x1xf32>) -> tensor<?x?xf32>

// -----

%input = pd.undef "input" : tensor<2x3xf32>
// expected-error @+1 {{[P10] needs square matrices in Input [2, 3]}}
%r = pd.determinant Input(%input) -> Out("out") : (tensor<2x3xf32>) -> tensor<1xf32>

// -----

%input = pd.undef "input" : tensor<3xf32>
// expected-error @+1 {{[P10] needs two axes of Input [3]}}
%r = pd.trace Input(%input) -> Out("out") : (tensor<3xf32>) -> tensor<1xf32>

// -----

%x = pd.undef "x" : tensor<f32>
%y = pd.undef "y" : tensor<2x3xf32>
// expected-error @+1 {{[P10] needs rows in X and Y}}
%r:3 = pd.cos_sim X(%x) Y(%y) -> Out("out") XNorm("xnorm") YNorm("ynorm") : (tensor<f32>, tensor<2x3xf32>) -> (tensor<2x1xf32>, tensor<2x1xf32>, tensor<2x1xf32>)

// -----

%x = pd.undef "x" : tensor<1x2x3x3xf32>
%y = pd.undef "y" : tensor<1x2x4x3xf32>
// expected-error @+1 {{[P10] needs images of one size in X [1, 2, 3, 3] and Y [1, 2, 4, 3]}}
%r = pd.fsp X(%x) Y(%y) -> Out("out") : (tensor<1x2x3x3xf32>, tensor<1x2x4x3xf32>) -> tensor<1x2x2xf32>

// -----

%operands0 = pd.undef "operands0" : tensor<2x3xf32>
%operands1 = pd.undef "operands1" : tensor<4x5x6xf32>
// expected-error @+1 {{[P10] equation 'ij,jk->ik' does not fit operand 1 [4, 5, 6]}}
%r = pd.einsum Operands(%operands0, %operands1) -> Out("out") {equation = "ij,jk->ik"} : (tensor<2x3xf32>, tensor<4x5x6xf32>) -> tensor<2x5xf32>
