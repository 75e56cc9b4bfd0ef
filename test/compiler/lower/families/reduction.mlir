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
