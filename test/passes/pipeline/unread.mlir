// RUN: dtranspile-opt %s --form-job="axes=pp:stages,micro:2 comm-axes=micro" --cut-batch="axes=micro" --assign-stages="axes=pp" --pipeline="axes=pp" | FileCheck %s

// What stages make for themselves is made once by each of them: %a is read by stage 0, and by an op
// that nobody reads, which stands between the tasks; so does %a, and %b, which only that op reads.
// %c is read by stage 0 alone.
// CHECK: dist.micro over [micro]
// CHECK: %[[X:.*]] = pd.input "x"
// CHECK-NEXT: %[[A:.*]] = pd.scale X(%[[X]]) -> Out("a")
// CHECK-NEXT: %[[B:.*]] = pd.scale X(%[[A]]) -> Out("b")
// CHECK-NEXT: pd.tanh X(%[[B]]) -> Out("unread")
// CHECK-NEXT: dist.on <pp = 0> task F
// CHECK-NOT: Out("a")
// CHECK: pd.scale X(%[[X]]) -> Out("c")
// CHECK: pd.elementwise_add X(%{{.*}}) Y(%[[A]]) -> Out("e")
// CHECK-NOT: Out("a")
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %a = pd.scale X(%x) -> Out("a") {scale = 2.0 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %b = pd.scale X(%a) -> Out("b") {scale = 3.0 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %u = pd.tanh X(%b) -> Out("unread") : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %c = pd.scale X(%x) -> Out("c") {scale = 5.0 : f32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %d = pd.elementwise_add X(%c) Y(%w) -> Out("d") {axis = -1 : i32, op_device = "gpu:0"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %e = pd.elementwise_add X(%d) Y(%a) -> Out("e") {axis = -1 : i32, op_device = "gpu:0"} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  %y = pd.tanh X(%e) -> Out("y") {op_device = "gpu:1"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
}
