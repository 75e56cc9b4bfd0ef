// Family indexing. Absent slots stay where they are (-).
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program rows
// CHECK-NEXT: call dt_gather(x float32[4x3], i int64[2], -; 0) -> y float32[2x3]
// CHECK-NEXT: call dt_slice(y float32[2x3], -, -, -, -, -, -; 1 0 2 2006002) -> z float32[2x2]
pd.program @rows attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %i = pd.input "i" : tensor<2xi64>
  %y = pd.gather X(%x) Index(%i) -> Out("y") : (tensor<4x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %z = pd.slice Input(%y) -> Out("z") {axes = array<i32: 1>, ends = array<i32: 2>, starts = array<i32: 0>} : (tensor<2x3xf32>) -> tensor<2x2xf32>
}
