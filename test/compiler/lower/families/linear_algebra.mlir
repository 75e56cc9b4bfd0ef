// Family linear_algebra. Products are dt_gemm; norms are formulas; decompositions are calls.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program products
// CHECK-NEXT: call dt_gemm(x float32[2x3], y float32[4x3]; 0 1 2 4 3 3 3 4 1 0 0 0 1) -> z float32[2x4]
pd.program @products attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %y = pd.input "y" : tensor<4x3xf32>
  %z = pd.matmul_v2 X(%x) Y(%y) -> Out("z") {trans_x = false, trans_y = true} : (tensor<2x3xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
}

// CHECK: program norm
// CHECK-NEXT: kernel p_norm(x float32[2x3]) -> n float32[2]
pd.program @norm attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %n = pd.p_norm X(%x) -> Out("n") {axis = -1 : i32, porder = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<2xf32>
}

// CHECK: program call
// CHECK-NEXT: call dt_cholesky(x float32[3x3]; 0) -> l float32[3x3]
pd.program @call attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3x3xf32>
  %l = pd.cholesky X(%x) -> Out("l") {upper = false} : (tensor<3x3xf32>) -> tensor<3x3xf32>
}

// CHECK: program eigenvalues
// CHECK-NEXT: call dt_eigh(x float32[2x3x3]; 'U') -> w float32[2x3], v float32[2x3x3]
pd.program @eigenvalues attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3x3xf32>
  %w, %v = pd.eigh X(%x) -> Eigenvalues("w") Eigenvectors("v") {UPLO = "U"} : (tensor<2x3x3xf32>) -> (tensor<2x3xf32>, tensor<2x3x3xf32>)
}

// Of full matrices U is square.
// CHECK: program singular
// CHECK-NEXT: call dt_svd(x float32[4x3]; 1) -> u float32[4x4], s float32[3], v float32[3x3]
pd.program @singular attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %s, %u, %v = pd.svd X(%x) -> S("s") U("u") VH("v") {full_matrices = true} : (tensor<4x3xf32>) -> (tensor<3xf32>, tensor<4x4xf32>, tensor<3x3xf32>)
}

// CHECK: program renorm
// CHECK-NEXT: call dt_renorm(x float32[2x3]; 2 1 1) -> o float32[2x3]
pd.program @renorm attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %o = pd.renorm X(%x) -> Out("o") {axis = 1 : i32, max_norm = 1.0 : f32, p = 2.0 : f32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}
