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
