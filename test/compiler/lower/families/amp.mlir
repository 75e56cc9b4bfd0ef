// Family amp. Lists of gradients go to a call as one slot.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program unscale
// CHECK-NEXT: call dt_check_finite_and_unscale(a float32[4], b float32[2x3], s float32[1]) -> x float32[4], y float32[2x3], found bool[1]
pd.program @unscale attributes {version = 2006002 : i64} {
  %a = pd.input "a" : tensor<4xf32>
  %b = pd.input "b" : tensor<2x3xf32>
  %s = pd.input "s" : tensor<1xf32>
  %x, %y, %found = pd.check_finite_and_unscale X(%a, %b) Scale(%s) -> Out("x", "y") FoundInfinite("found") : (tensor<4xf32>, tensor<2x3xf32>, tensor<1xf32>) -> (tensor<4xf32>, tensor<2x3xf32>, tensor<1xi1>)
}
