// Family activation. Formulas; what has groups of channels is a formula over other extents; special functions are a call.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program formula
// CHECK-NEXT: kernel softmax(y float32[2x3], x float32[2x3]) -> y float32[2x3]
pd.program @formula attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %a = pd.relu X(%x) -> Out("a") : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = pd.softmax X(%a) -> Out("y") {axis = -1 : i32} : (tensor<2x3xf32>) -> tensor<2x3xf32>
}

// CHECK: program grouped
// CHECK-NEXT: kernel maxout(x float32[2x6x5]) -> y float32[2x3x5]
pd.program @grouped attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x6x5xf32>
  %y = pd.maxout X(%x) -> Out("y") {axis = 1 : i32, groups = 2 : i32} : (tensor<2x6x5xf32>) -> tensor<2x3x5xf32>
}

// CHECK: program call
// CHECK-NEXT: call dt_special(x float64[2x3]; 'lgamma') -> y float64[2x3]
pd.program @call attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf64>
  %y = pd.lgamma X(%x) -> Out("y") : (tensor<2x3xf64>) -> tensor<2x3xf64>
}
