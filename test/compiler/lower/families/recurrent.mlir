// Family recurrent. Cells are calls.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program unit
// CHECK-NEXT: call dt_lstm_unit(x float32[2x12], c float32[2x3]; 0) -> c1 float32[2x3], h1 float32[2x3]
pd.program @unit attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<2x12xf32>
  %c = pd.input "c" : tensor<2x3xf32>
  %c1, %h1 = pd.lstm_unit X(%x) C_prev(%c) -> C("c1") H("h1") {forget_bias = 0.0 : f32} : (tensor<2x12xf32>, tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
}
