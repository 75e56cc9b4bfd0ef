// Family loss. Labels are checked before a formula uses them.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program labels
// CHECK-NEXT: call dt_check_range(l int64[4x1]; 0 5 1 -100 'l')
// CHECK-NEXT: kernel softmax_with_cross_entropy(x float32[4x5], l int64[4x1], s float32[4x5]) -> s float32[4x5], y float32[4x1]
pd.program @labels attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x5xf32>
  %l = pd.input "l" : tensor<4x1xi64>
  %s, %y = pd.softmax_with_cross_entropy Logits(%x) Label(%l) -> Softmax("s") Loss("y") {axis = -1 : i32} : (tensor<4x5xf32>, tensor<4x1xi64>) -> (tensor<4x5xf32>, tensor<4x1xf32>)
}

// CHECK: program formula
// CHECK-NEXT: kernel log_loss(l float32[4], x float32[4]) -> y float32[4]
pd.program @formula attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %l = pd.input "l" : tensor<4xf32>
  %y = pd.log_loss Predicted(%x) Labels(%l) -> Loss("y") {epsilon = 1.0e-4 : f32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
}
