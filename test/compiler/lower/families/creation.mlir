// Family creation. Constants are formulas; what has extents from data is a call.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program constants
// CHECK-NEXT: kernel fill_constant() -> c float32[2x3]
// CHECK-NEXT: call dt_range(s int64[1], e int64[1], d int64[1];) -> r int64[?]
pd.program @constants attributes {version = 2006002 : i64} {
  %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, shape = array<i64: 2, 3>, value = 0.5 : f32} : () -> tensor<2x3xf32>
  %s = pd.input "s" : tensor<1xi64>
  %e = pd.input "e" : tensor<1xi64>
  %d = pd.input "d" : tensor<1xi64>
  %r = pd.range Start(%s) End(%e) Step(%d) -> Out("r") : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
}
