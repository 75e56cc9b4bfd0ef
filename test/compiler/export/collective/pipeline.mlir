// A stage of a pipeline as the framework's section worker runs it: ops sorted by role, sums over micro-batches in persistable cells.
// RUN: dtranspile-opt %s --specialize="role=trainer rank=0 composites=keep" --export-collective="rank=0 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=FIRST
// RUN: dtranspile-opt %s --specialize="role=trainer rank=1 composites=keep" --export-collective="rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=LAST
// RUN: sed 's/1F1B/F-then-B/' %s | dtranspile-opt - --specialize="role=trainer rank=0 composites=keep" --export-collective="rank=0 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=BLOCKING

// Cells of sums are persistable, and so is what is computed once and read later; names of single terms are not.
// FIRST-DAG: pd.decl "w@GRAD@MERGED" tensor of float32 [-1, 2] {persistable = true}
// FIRST-DAG: pd.decl "rate" tensor of float32 [1] {persistable = true}
// FIRST-DAG: pd.decl "w@GRAD" tensor of float32 [-1, 2]{{$}}
// FIRST: %[[R:.*]] = pd.fill_constant -> Out("rate") {{.*}}op_role = 16
// FIRST: %[[Z:.*]] = pd.fill_constant -> Out("w@GRAD@MERGED") {{.*}}op_role = 16
// FIRST: %[[X:.*]] = pd.input "x"
// FIRST-NEXT: %[[H:.*]] = pd.relu X(%[[X]]) -> Out("h") {op_role = 0 : i32}
// What the other stage waits for does not hold up the computation; its buffer is kept until the gradient has come.
// FIRST-NEXT: %[[C:.*]] = pd.c_sync_calc_stream X(%[[H]]) -> Out("h") {op_role = 0 : i32}
// FIRST-NEXT: pd.send_v2 X(%[[C]]) {dynamic_shape = true, op_role = 0 : i32, peer = 1 : i32, ring_id = 0 : i32, use_calc_stream = false}
// FIRST-NEXT: %[[G:.*]] = pd.recv_v2 -> Out("h@GRAD") {dtype = 5 : i32, dynamic_shape = true, op_role = 1 : i32, out_shape = array<i32: -1, 2>, peer = 1 : i32, ring_id = 1 : i32, use_calc_stream = true}
// FIRST-NEXT: %[[K:.*]] = pd.nop X(%[[C]]) -> Out("h") {op_role = 1 : i32}
// FIRST-NEXT: %[[D:.*]] = pd.relu_grad Out(%[[K]]) "Out@GRAD"(%[[G]])
// FIRST-NEXT: %[[S:.*]] = pd.sum X(%[[Z]], %[[D]]) -> Out("w@GRAD@MERGED") {op_role = 1 : i32}
// FIRST-NEXT: pd.elementwise_mul X(%[[S]]) Y(%[[R]]) -> Out("w@GRAD") {op_role = 2 : i32}
// Rings of both directions are made in the start-up program.
// FIRST: pd.program @startup
// FIRST: pd.c_comm_init {{.*}}ring_id = 0
// FIRST: pd.c_comm_init {{.*}}ring_id = 1

// LAST: pd.recv_v2 -> Out("h") {{.*}}op_role = 0 : i32, {{.*}}peer = 0 : i32, ring_id = 0
// LAST: pd.tanh {{.*}}op_role = 256
// LAST: %[[G:.*]] = pd.tanh_grad
// LAST-NEXT: %[[C:.*]] = pd.c_sync_calc_stream X(%[[G]]) -> Out("h@GRAD") {op_role = 1 : i32}
// LAST-NEXT: pd.send_v2 X(%[[C]]) {{.*}}ring_id = 1 : i32, use_calc_stream = false
// A gradient's buffer is kept until the update.
// LAST-NEXT: pd.c_sync_comm_stream X(%[[C]]) -> Out("h@GRAD") {op_role = 2 : i32, ring_id = 1 : i32}
// LAST-NOT: pd.nop

// BLOCKING: pd.send_v2 {{.*}}use_calc_stream = true
// BLOCKING-NOT: pd.nop
// BLOCKING-NOT: pd.c_sync

dist.mesh @w [pp = 2] time [micro = 4]
dist.comm @fwd on @w over [pp] pairs
dist.comm @bwd on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    pd.decl "rate" tensor of float32 [1]
    pd.decl "w@GRAD" tensor of float32 [-1, 2]
    %rate = pd.fill_constant -> Out("rate") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.5 : f32} : () -> tensor<1xf32>
    %zero = dist.on <pp = 0> -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
      %z = pd.fill_constant -> Out("w@GRAD") {dtype = 5 : i32, shape = array<i64: 3, 2>, value = 0.0 : f32} : () -> tensor<?x2xf32>
      dist.yield %z : tensor<?x2xf32>
    }
    %sum = dist.micro over [micro] schedule ("1F1B", chunks 1) iter(%acc = %zero : !dist.at<tensor<?x2xf32>, pp = 0>) -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
      %x = pd.input "x" {dist.batch = #dist.batch<0: micro>} : tensor<?x2xf32>
      %f0 = dist.on <pp = 0> task F -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
        %h = pd.relu X(%x) -> Out("h") : (tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %h : tensor<?x2xf32>
      }
      %h1 = dist.transfer %f0 on @fwd : !dist.at<tensor<?x2xf32>, pp = 0> -> !dist.at<tensor<?x2xf32>, pp = 1>
      %f1 = dist.on <pp = 1> with (%h = %h1 : !dist.at<tensor<?x2xf32>, pp = 1>) task F -> (!dist.at<tensor<?x2xf32>, pp = 1>) {
        %o = pd.tanh X(%h) -> Out("o") {op_role = 256 : i32} : (tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %o : tensor<?x2xf32>
      }
      %b1 = dist.on <pp = 1> with (%h = %h1 : !dist.at<tensor<?x2xf32>, pp = 1>, %o = %f1 : !dist.at<tensor<?x2xf32>, pp = 1>) task B -> (!dist.at<tensor<?x2xf32>, pp = 1>) {
        %g = pd.tanh_grad Out(%o) "Out@GRAD"(%h) -> "X@GRAD"("h@GRAD") {op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %g : tensor<?x2xf32>
      }
      %g0 = dist.transfer %b1 on @bwd : !dist.at<tensor<?x2xf32>, pp = 1> -> !dist.at<tensor<?x2xf32>, pp = 0>
      %b0 = dist.on <pp = 0> with (%g = %g0 : !dist.at<tensor<?x2xf32>, pp = 0>, %h = %f0 : !dist.at<tensor<?x2xf32>, pp = 0>, %a = %acc : !dist.at<tensor<?x2xf32>, pp = 0>) task B -> (!dist.at<tensor<?x2xf32>, pp = 0>) {
        %d = pd.relu_grad Out(%h) "Out@GRAD"(%g) -> "X@GRAD"("x@GRAD") {op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
        %s = pd.sum X(%a, %d) -> Out("w@GRAD") {op_role = 1 : i32} : (tensor<?x2xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
        dist.yield %s : tensor<?x2xf32>
      }
      dist.yield %b0 : !dist.at<tensor<?x2xf32>, pp = 0>
    }
    dist.on <pp = 0> with (%s = %sum : !dist.at<tensor<?x2xf32>, pp = 0>) {
      %u = pd.elementwise_mul X(%s) Y(%rate) -> Out("w@GRAD") {op_role = 2 : i32} : (tensor<?x2xf32>, tensor<1xf32>) -> tensor<?x2xf32>
      dist.yield
    }
  }
  pd.program @startup {
  }
}
