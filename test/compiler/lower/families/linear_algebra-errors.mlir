// Family linear_algebra: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: addmm: extents that depend on data is not supported natively
pd.program @open attributes {version = 2006002 : i64} {
  %i = pd.input "i" : tensor<3xf32>
  %m = pd.input "m" : tensor<5x3xi1>
  %x = pd.input "x" : tensor<5x3xf32>
  %s = pd.masked_select X(%x) Mask(%m) -> Y("s") : (tensor<5x3xf32>, tensor<5x3xi1>) -> tensor<?xf32>
  %a, %as = pd.unsqueeze2 X(%s) -> Out("a") XShape("as") {axes = array<i32: 1>} : (tensor<?xf32>) -> (tensor<?x1xf32>, tensor<0x?xf32>)
  %b = pd.input "b" : tensor<1x3xf32>
  %y = pd.addmm Input(%i) X(%a) Y(%b) -> Out("y") : (tensor<3xf32>, tensor<?x1xf32>, tensor<1x3xf32>) -> tensor<?x3xf32>
}

// Gradients that stand alone: nothing has looked at their extents yet.
// CHECK: error: mul_grad: Out@GRAD [2, 3] is no gradient of a product of X [2, 4] and Y [4, 3]
pd.program @columns attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x4xf32>
  %y = pd.input "y" : tensor<4x3xf32>
  %g = pd.input "g" : tensor<2x3xf32>
  %dx = pd.mul_grad "Out@GRAD"(%g) X(%x) Y(%y) -> "X@GRAD"("dx") {x_num_col_dims = 3 : i32} : (tensor<2x3xf32>, tensor<2x4xf32>, tensor<4x3xf32>) -> tensor<2x4xf32>
}

// CHECK: error: matmul_v2_grad: Out@GRAD [2, 3] is no gradient of a product of X [] and Y [4, 3]
pd.program @scalar attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<f32>
  %y = pd.input "y" : tensor<4x3xf32>
  %g = pd.input "g" : tensor<2x3xf32>
  %dx = pd.matmul_v2_grad "Out@GRAD"(%g) X(%x) Y(%y) -> "X@GRAD"("dx") : (tensor<2x3xf32>, tensor<f32>, tensor<4x3xf32>) -> tensor<f32>
}

// CHECK: error: bmm_grad: Out@GRAD [2, 2, 3] is no gradient of a product of X [2, 5, 4] and Y [2, 4, 3]
pd.program @batch attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x5x4xf32>
  %y = pd.input "y" : tensor<2x4x3xf32>
  %g = pd.input "g" : tensor<2x2x3xf32>
  %dx = pd.bmm_grad "Out@GRAD"(%g) X(%x) Y(%y) -> "X@GRAD"("dx") : (tensor<2x2x3xf32>, tensor<2x5x4xf32>, tensor<2x4x3xf32>) -> tensor<2x5x4xf32>
}

// CHECK: error: addmm_grad: Out@GRAD [2, 3] is no gradient of a product of X [4] and Y [4, 3]
pd.program @vector attributes {version = 2006002 : i64} {
  %i = pd.input "i" : tensor<3xf32>
  %x = pd.input "x" : tensor<4xf32>
  %y = pd.input "y" : tensor<4x3xf32>
  %g = pd.input "g" : tensor<2x3xf32>
  %dx = pd.addmm_grad Input(%i) "Out@GRAD"(%g) X(%x) Y(%y) -> "X@GRAD"("dx") : (tensor<3xf32>, tensor<2x3xf32>, tensor<4xf32>, tensor<4x3xf32>) -> tensor<4xf32>
}

// CHECK: error: bilinear_tensor_product_grad: needs rows in Weight
pd.program @weight attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<3x4xf32>
  %y = pd.input "y" : tensor<3x5xf32>
  %w = pd.input "w" : tensor<f32>
  %g = pd.input "g" : tensor<3x2xf32>
  %dx = pd.bilinear_tensor_product_grad "Out@GRAD"(%g) Weight(%w) X(%x) Y(%y) -> "X@GRAD"("dx") : (tensor<3x2xf32>, tensor<f32>, tensor<3x4xf32>, tensor<3x5xf32>) -> tensor<3x4xf32>
}

// CHECK: error: matmul: head_number other than 1 is not supported natively
pd.program @heads attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<3x4xf32>
  %y = pd.input "y" : tensor<4x6xf32>
  %p = pd.matmul X(%x) Y(%y) -> Out("p") {alpha = 1.0 : f32, head_number = 2 : i32} : (tensor<3x4xf32>, tensor<4x6xf32>) -> tensor<3x6xf32>
}

// CHECK: error: matmul_v2_grad_grad: batch dims that broadcast in part is not supported natively
pd.program @second_by_gradient attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x1x3x4xf32>
  %y = pd.input "y" : tensor<1x2x4x5xf32>
  %g = pd.input "g" : tensor<2x2x3x5xf32>
  %a = pd.input "a" : tensor<2x1x3x4xf32>
  %r = pd.matmul_v2_grad_grad X(%x) Y(%y) grad_out(%g) "grad_x@GRAD"(%a) -> "grad_out@GRAD"("r") : (tensor<2x1x3x4xf32>, tensor<1x2x4x5xf32>, tensor<2x2x3x5xf32>, tensor<2x1x3x4xf32>) -> tensor<2x2x3x5xf32>
}

// CHECK: error: matmul_v2_grad_grad: batch dims that broadcast in part is not supported natively
pd.program @second_by_factor attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x1x3x4xf32>
  %y = pd.input "y" : tensor<1x2x4x5xf32>
  %g = pd.input "g" : tensor<2x2x3x5xf32>
  %b = pd.input "b" : tensor<1x2x4x5xf32>
  %r = pd.matmul_v2_grad_grad X(%x) Y(%y) grad_out(%g) "grad_y@GRAD"(%b) -> "X@GRAD"("r") : (tensor<2x1x3x4xf32>, tensor<1x2x4x5xf32>, tensor<2x2x3x5xf32>, tensor<1x2x4x5xf32>) -> tensor<2x1x3x4xf32>
}

// CHECK: error: matmul_v2_triple_grad: batch dims that broadcast in part is not supported natively
pd.program @third attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x1x3x4xf32>
  %y = pd.input "y" : tensor<1x2x4x5xf32>
  %g = pd.input "g" : tensor<2x2x3x5xf32>
  %a = pd.input "a" : tensor<2x1x3x4xf32>
  %b = pd.input "b" : tensor<1x2x4x5xf32>
  %r = pd.matmul_v2_triple_grad X(%x) Y(%y) grad_out(%g) grad_grad_y(%b) "grad_x@GRAD"(%a) -> "grad_out@GRAD"("r") : (tensor<2x1x3x4xf32>, tensor<1x2x4x5xf32>, tensor<2x2x3x5xf32>, tensor<1x2x4x5xf32>, tensor<2x1x3x4xf32>) -> tensor<2x2x3x5xf32>
}

// CHECK: error: lu: factors without pivots is not supported natively
pd.program @pivots attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3x3xf32>
  %f, %p, %i = pd.lu X(%x) -> Out("f") Pivots("p") Infos("i") {pivots = false} : (tensor<3x3xf32>) -> (tensor<3x3xf32>, tensor<3xi32>, tensor<1xi32>)
}
