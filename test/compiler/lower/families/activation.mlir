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

// Slots of ops that came with 2.5 and later are spelled small.
// CHECK: program bessel
// CHECK-NEXT: call dt_special(x float32[4]; 'i0e') -> o float32[4]
// CHECK-NEXT: call dt_polygamma(o float32[4]; 2) -> p float32[4]
pd.program @bessel attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %o = pd.i0e x(%x) -> out("o") : (tensor<4xf32>) -> tensor<4xf32>
  %p = pd.polygamma x(%o) -> out("p") {n = 2 : i32} : (tensor<4xf32>) -> tensor<4xf32>
}

// A formula of reals, a call of complex numbers.
// CHECK: program complex_numbers
// CHECK-NEXT: call dt_complex_binary(x complex64[2x3], y complex64[3]; -1 'elementwise_mul') -> z complex64[2x3]
// CHECK-NEXT: call dt_complex_abs(z complex64[2x3]; ) -> a float32[2x3]
pd.program @complex_numbers attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xcomplex<f32>>
  %y = pd.input "y" : tensor<3xcomplex<f32>>
  %z = pd.elementwise_mul X(%x) Y(%y) -> Out("z") {axis = -1 : i32} : (tensor<2x3xcomplex<f32>>, tensor<3xcomplex<f32>>) -> tensor<2x3xcomplex<f32>>
  %a = pd.abs X(%z) -> Out("a") : (tensor<2x3xcomplex<f32>>) -> tensor<2x3xf32>
}
