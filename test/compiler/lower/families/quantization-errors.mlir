// Family quantization: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: fake_channel_wise_quantize_abs_max: test mode (is_test) is not supported natively
pd.program @channels attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x4xf32>
  %q, %s = pd.fake_channel_wise_quantize_abs_max X(%x) -> Out("q") OutScale("s") {is_test = true} : (tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4xf32>)
}

// CHECK: error: moving_average_abs_max_scale: test mode (is_test) is not supported natively
pd.program @range attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x4xf32>
  %s = pd.moving_average_abs_max_scale X(%x) -> OutScale("s") {is_test = true} : (tensor<4x4xf32>) -> tensor<1xf32>
}
