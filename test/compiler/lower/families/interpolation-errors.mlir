// Family interpolation: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: nearest_interp_v2: resizes X [4, 4], which has not one to three spatial axes
pd.program @flat attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x4xf32>
  %y = pd.nearest_interp_v2 X(%x) -> Out("y") {data_layout = "NCHW", interp_method = "nearest", out_h = 8 : i32, out_w = 8 : i32} : (tensor<4x4xf32>) -> tensor<8x8xf32>
}

// CHECK: error: grid_sampler: needs as many dims of X as of Grid, 4 or 5, not X [1, 2, 4, 4] and Grid [1, 4, 2]
pd.program @line attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<1x2x4x4xf32>
  %g = pd.input "g" : tensor<1x4x2xf32>
  %y = pd.grid_sampler X(%x) Grid(%g) -> Output("y") {align_corners = true, mode = "bilinear", padding_mode = "zeros"} : (tensor<1x2x4x4xf32>, tensor<1x4x2xf32>) -> tensor<1x2x4xf32>
}

// CHECK: error: affine_grid: needs a Theta of [images, 2, 3] or [images, 3, 4], not [2, 3]
pd.program @matrix attributes {version = 2006002 : i64} {
  %t = pd.input "t" : tensor<2x3xf32>
  %y = pd.affine_grid Theta(%t) -> Output("y") {output_shape = array<i32: 1, 2, 4, 4>} : (tensor<2x3xf32>) -> tensor<1x4x4x2xf32>
}

// CHECK: error: affine_grid: needs a Theta of [images, 2, 3] or [images, 3, 4], not [1, 1000000000, 3]
pd.program @axes attributes {version = 2006002 : i64} {
  %t = pd.input "t" : tensor<1x1000000000x3xf32>
  %y = pd.affine_grid Theta(%t) -> Output("y") {output_shape = array<i32: 1, 2, 4, 4>} : (tensor<1x1000000000x3xf32>) -> tensor<1x4x4x2xf32>
}
