// RUN: dtranspile-opt %s --bucket="axes=dp" | FileCheck %s
// RUN: dtranspile-opt %s --bucket="axes=dp fuse_grad_size_in_MB=0" | FileCheck %s --check-prefix=SINGLE

// One bucket per element type up to 32 MiB; it starts at its last member and is waited for at its first use. The use of %a's sum closes the
// first bucket; %d has another element type; %e is too large to join %c. Buckets alternate over the communicators in the order of their starts.
// CHECK: %[[A:.*]] = pd.input "a"
// CHECK: %[[P0:.*]] = dist.all_reduce sum(%[[A]], %[[B:.*]]) on @grad0 : (tensor<4xf32>, tensor<2xf32>) -> !dist.pending<tensor<4xf32>, tensor<2xf32>>
// CHECK: %[[D:.*]] = pd.input "d"
// CHECK-NEXT: %[[P1:.*]] = dist.all_reduce sum(%[[D]]) on @grad1 : (tensor<4xf64>)
// CHECK-NEXT: %[[W0:.*]]:2 = dist.wait %[[P0]]
// CHECK-NEXT: pd.relu X(%[[W0]]#0)
// CHECK: %[[P2:.*]] = dist.all_reduce sum(%{{.*}}) on @grad0 : (tensor<4xf32>)
// CHECK: %[[P3:.*]] = dist.all_reduce sum(%{{.*}}) on @grad1 : (tensor<9000000xf32>)
// The size of SelectedRows is not known: alone.
// CHECK: %[[P4:.*]] = dist.all_reduce sum(%{{.*}}) on @grad0 : (!pd.rows<tensor<9x1xf32>>)
// CHECK: dist.wait %[[P2]]
// CHECK-NEXT: pd.relu
// CHECK: dist.wait %[[P3]]
// CHECK-NEXT: pd.relu
// A result that nobody uses is waited for at the end.
// CHECK: dist.wait %[[P1]]
// CHECK: dist.wait %[[P4]]

// SINGLE-COUNT-6: dist.all_reduce sum(%{{[0-9]+}}) on
// SINGLE-NOT: dist.all_reduce

dist.mesh @world [dp = 4]
dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
dist.comm @grad1 on @world over [dp] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.program @main {
    %a = pd.input "a" : tensor<4xf32>
    %ra = dist.all_reduce sum (%a) on @grad0 : (tensor<4xf32>) -> tensor<4xf32>
    %b = pd.input "b" : tensor<2xf32>
    %rb = dist.all_reduce sum (%b) on @grad0 : (tensor<2xf32>) -> tensor<2xf32>
    %d = pd.input "d" : tensor<4xf64>
    %rd = dist.all_reduce sum (%d) on @grad0 : (tensor<4xf64>) -> tensor<4xf64>
    %ua = pd.relu X(%ra) -> Out("ua") : (tensor<4xf32>) -> tensor<4xf32>
    %c = pd.input "c" : tensor<4xf32>
    %rc = dist.all_reduce sum (%c) on @grad0 : (tensor<4xf32>) -> tensor<4xf32>
    %e = pd.input "e" : tensor<9000000xf32>
    %re = dist.all_reduce sum (%e) on @grad0 : (tensor<9000000xf32>) -> tensor<9000000xf32>
    %s = pd.input "s" : !pd.rows<tensor<9x1xf32>>
    %rs = dist.all_reduce sum (%s) on @grad0 : (!pd.rows<tensor<9x1xf32>>) -> !pd.rows<tensor<9x1xf32>>
    %uc = pd.relu X(%rc) -> Out("uc") : (tensor<4xf32>) -> tensor<4xf32>
    %ue = pd.relu X(%re) -> Out("ue") : (tensor<9000000xf32>) -> tensor<9000000xf32>
  }
}
