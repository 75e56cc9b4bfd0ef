// The pass has no errors of its own: a program without float32 stays as it is, float16 included.
// RUN: dtranspile-opt %s --widen-float64 --verify-diagnostics | FileCheck %s

pd.program @main {
  // CHECK: %[[X:.*]] = pd.input "x" : tensor<4xf16>
  %x = pd.input "x" : tensor<4xf16>
  // CHECK: pd.cast X(%[[X]]) -> Out("y") {in_dtype = 4 : i32, out_dtype = 3 : i32} : (tensor<4xf16>) -> tensor<4xi64>
  %y = pd.cast X(%x) -> Out("y") {in_dtype = 4 : i32, out_dtype = 3 : i32} : (tensor<4xf16>) -> tensor<4xi64>
}
