// Family reduction. Sums are formulas; orders are calls.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program formula
// CHECK-NEXT: kernel reduce_sum(x float32[4x6]) -> s float32[6]
pd.program @formula attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xf32>
  %s = pd.reduce_sum X(%x) -> Out("s") {dim = array<i32: 0>, keep_dim = false, reduce_all = false} : (tensor<4x6xf32>) -> tensor<6xf32>
}

// CHECK: program call
// CHECK-NEXT: call dt_top_k(x float32[4x6], -; 2 -1 1) -> v float32[4x2], i int64[4x2]
pd.program @call attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xf32>
  %v, %i = pd.top_k_v2 X(%x) -> Out("v") Indices("i") {axis = -1 : i32, k = 2 : i32, largest = true, sorted = true} : (tensor<4x6xf32>) -> (tensor<4x2xf32>, tensor<4x2xi64>)
}

// CHECK: program shared
// CHECK-NEXT: kernel reduce_amax(x float32[4x6]) -> m float32[6]
// CHECK-NEXT: kernel reduce_amax_grad(x float32[4x6], m float32[6], g float32[6]) -> x@GRAD float32[4x6]
pd.program @shared attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xf32>
  %g = pd.input "g" : tensor<6xf32>
  %m = pd.reduce_amax X(%x) -> Out("m") {dim = array<i32: 0>, keep_dim = false, reduce_all = false} : (tensor<4x6xf32>) -> tensor<6xf32>
  %d = pd.reduce_amax_grad X(%x) Out(%m) "Out@GRAD"(%g) -> "X@GRAD"("x@GRAD") {dim = array<i32: 0>, keep_dim = false, reduce_all = false} : (tensor<4x6xf32>, tensor<6xf32>, tensor<6xf32>) -> tensor<4x6xf32>
}

// From 2.3 on sums of integers are of int64.
// CHECK: program wide
// CHECK-NEXT: kernel reduce_sum(x int32[4x6]) -> s int64[6]
pd.program @wide attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xi32>
  %s = pd.reduce_sum X(%x) -> Out("s") {dim = array<i32: 0>, keep_dim = false, reduce_all = false} : (tensor<4x6xi32>) -> tensor<6xi64>
}
