// Family elementwise. Formulas; `axis` says where the argument of lower rank stands.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program broadcast
// CHECK-NEXT: kernel elementwise_add(x float32[2x3x4], y float32[3]) -> z float32[2x3x4]
pd.program @broadcast attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3x4xf32>
  %y = pd.input "y" : tensor<3xf32>
  %z = pd.elementwise_add X(%x) Y(%y) -> Out("z") {axis = 1 : i32} : (tensor<2x3x4xf32>, tensor<3xf32>) -> tensor<2x3x4xf32>
}

// CHECK: program sum
// CHECK-NEXT: kernel sum(x float32[4], y float32[4]) -> z float32[4]
pd.program @sum attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %y = pd.input "y" : tensor<4xf32>
  %z = pd.sum X(%x, %y) -> Out("z") : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}
