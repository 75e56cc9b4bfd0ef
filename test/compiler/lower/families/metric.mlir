// Family metric. A call that counts.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program accuracy
// CHECK-NEXT: call dt_accuracy(v float32[4x1], i int64[4x1], l int64[4x1]) -> a float32[], c int32[], t int32[]
pd.program @accuracy attributes {version = 2006002 : i64} {
  %v = pd.input "v" : tensor<4x1xf32>
  %i = pd.input "i" : tensor<4x1xi64>
  %l = pd.input "l" : tensor<4x1xi64>
  %a, %c, %t = pd.accuracy Out(%v) Indices(%i) Label(%l) -> Accuracy("a") Correct("c") Total("t") : (tensor<4x1xf32>, tensor<4x1xi64>, tensor<4x1xi64>) -> (tensor<f32>, tensor<i32>, tensor<i32>)
}
