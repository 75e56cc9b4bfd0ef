// Family control_flow. Choices between values. Blocks: block_lowering.h.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program select
// CHECK-NEXT: call dt_select_input(a float32[4], b float32[4], m int32[1]) -> y float32[4]
pd.program @select attributes {version = 2006002 : i64} {
  %a = pd.input "a" : tensor<4xf32>
  %b = pd.input "b" : tensor<4xf32>
  %m = pd.input "m" : tensor<1xi32>
  %y = pd.select_input X(%a, %b) Mask(%m) -> Out("y") : (tensor<4xf32>, tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
}
