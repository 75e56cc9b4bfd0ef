// Family creation. Constants are formulas; what has extents from data is a call.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program constants
// CHECK-NEXT: kernel fill_constant() -> c float32[2x3]
// CHECK-NEXT: call dt_range(s int64[1], e int64[1], d int64[1]) -> r int64[?]
pd.program @constants attributes {version = 2006002 : i64} {
  %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, shape = array<i64: 2, 3>, value = 0.5 : f32} : () -> tensor<2x3xf32>
  %s = pd.input "s" : tensor<1xi64>
  %e = pd.input "e" : tensor<1xi64>
  %d = pd.input "d" : tensor<1xi64>
  %r = pd.range Start(%s) End(%e) Step(%d) -> Out("r") : (tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<?xi64>
}

// Whose rank is known only at run time is no scalar.
// CHECK: program rank
// CHECK: call dt_fill_constant(-, s int32[?], -; 1 '') -> c float32[]
// CHECK-NEXT: call dt_matmul(c float32[], b float32[3x4]; 0 0) -> y float32[]
pd.program @rank attributes {version = 2006002 : i64} {
  %n = pd.input "n" : tensor<5xi32>
  %m = pd.input "m" : tensor<5xi1>
  %s = pd.masked_select X(%n) Mask(%m) -> Y("s") : (tensor<5xi32>, tensor<5xi1>) -> tensor<?xi32>
  %c = pd.fill_constant ShapeTensor(%s) -> Out("c") {dtype = 5 : i32, value = 1.0 : f32} : (tensor<?xi32>) -> tensor<?x?xf32>
  %b = pd.input "b" : tensor<3x4xf32>
  %y = pd.matmul_v2 X(%c) Y(%b) -> Out("y") : (tensor<?x?xf32>, tensor<3x4xf32>) -> tensor<?x4xf32>
}
