// The framework's kernels write into the cells of their results while they read: what an op would overwrite is copied, but where the two cells belong together.
// RUN: dtranspile-opt %s --export-collective="rank=0 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s
// CHECK: %[[Z:.*]] = pd.fill_constant -> Out("n")
// CHECK-NEXT: %[[B:.*]] = pd.assign X(%[[Z]]) -> Out("n.before")
// CHECK-NEXT: %[[S:.*]] = pd.sum X(%{{.*}}, %[[B]], %[[B]]) -> Out("n")
// CHECK-NEXT: %[[T:.*]] = pd.sum X(%[[S]], %{{.*}}) -> Out("n")
// CHECK-NEXT: pd.scale X(%[[T]]) -> Out("n")
dist.mesh @w [pp = 2]
pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  %z = pd.fill_constant -> Out("n") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xf32>
  %s = pd.sum X(%x, %z, %z) -> Out("n") : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %t = pd.sum X(%s, %x) -> Out("n") : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %u = pd.scale X(%t) -> Out("n") {scale = 2.0 : f32} : (tensor<1xf32>) -> tensor<1xf32>
}
