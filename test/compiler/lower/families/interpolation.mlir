// Family interpolation. One call for all ways to interpolate.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program resize
// CHECK-NEXT: call dt_resize_image(x float32[1x2x4x4], -, -, -; 0 8 8 0 1 'NCHW' 'nearest' 'nearest_interp_v2') -> y float32[1x2x8x8]
pd.program @resize attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<1x2x4x4xf32>
  %y = pd.nearest_interp_v2 X(%x) -> Out("y") {align_corners = false, data_layout = "NCHW", interp_method = "nearest", out_h = 8 : i32, out_w = 8 : i32} : (tensor<1x2x4x4xf32>) -> tensor<1x2x8x8xf32>
}
