// RUN: dtranspile-opt %s --reduce-by-levels="axes=inter,intra" | FileCheck %s

// Started sums go level by level: the next level of the first bucket starts where the second bucket starts. Four ranks do not cut 5 elements: they
// stay whole, in a sum of their own. A blocking sum does its levels one after the other.
// CHECK: %[[P:.*]] = dist.all_reduce sum(%[[B:.*]]) on @grad0 : (tensor<5xf32>) -> !dist.pending<tensor<5xf32>>
// CHECK: %[[S0:.*]] = dist.reduce_scatter sum(%[[A:.*]], %[[D:.*]]) on @intra0 dim flat : (tensor<3x4xf32>, tensor<8xf32>) -> !dist.pending<tensor<3xf32>, tensor<2xf32>>
// CHECK: %[[W0:.*]]:2 = dist.wait %[[S0]]
// CHECK-NEXT: %[[R0:.*]] = dist.all_reduce sum(%[[W0]]#0, %[[W0]]#1) on @inter0
// CHECK-NEXT: %[[S1:.*]] = dist.reduce_scatter sum(%{{.*}}) on @intra0 dim flat : (tensor<8xf32>) -> !dist.pending<tensor<2xf32>>
// CHECK-NEXT: %[[V1:.*]] = dist.wait %[[S1]]
// CHECK-NEXT: %[[R1:.*]] = dist.all_reduce sum(%[[V1]]) on @inter0
// CHECK-NEXT: %[[U1:.*]] = dist.wait %[[R1]]
// CHECK-NEXT: %[[G1:.*]] = dist.all_gather(%[[U1]]) on @intra0 dim flat : (tensor<2xf32>) -> !dist.pending<tensor<8xf32>>
// CHECK-NEXT: %[[F1:.*]] = dist.wait %[[G1]]
// CHECK-NEXT: dist.wait %[[P]]
// CHECK-NEXT: %[[V0:.*]]:2 = dist.wait %[[R0]]
// CHECK-NEXT: %[[G0:.*]] = dist.all_gather(%[[V0]]#0, %[[V0]]#1) on @intra0 dim flat : (tensor<3xf32>, tensor<2xf32>) -> !dist.pending<tensor<3x4xf32>, tensor<8xf32>>
// CHECK-NEXT: %[[F0:.*]]:2 = dist.wait %[[G0]]
// CHECK-NEXT: pd.relu X(%[[F0]]#0)
// CHECK-NEXT: pd.relu X(%[[F1]])
// SelectedRows stay on the communicator of all.
// CHECK: dist.all_reduce sum(%{{.*}}) on @grad0 : (!pd.rows<tensor<9x1xf32>>)
// CHECK-NOT: dist.all_reduce

dist.mesh @world [inter = 2, intra = 4]
dist.comm @grad0 on @world over [inter, intra] group {carries = "gradients"}
dist.comm @intra0 on @world over [intra] group {carries = "gradients within"}
dist.comm @inter0 on @world over [inter] group {carries = "gradients between"}
dist.role @trainer on @world {
  pd.program @main {
    %a = pd.input "a" : tensor<3x4xf32>
    %b = pd.input "b" : tensor<5xf32>
    %d = pd.input "d" : tensor<8xf32>
    %p = dist.all_reduce sum (%a, %b, %d) on @grad0 : (tensor<3x4xf32>, tensor<5xf32>, tensor<8xf32>) -> !dist.pending<tensor<3x4xf32>, tensor<5xf32>, tensor<8xf32>>
    %c = pd.input "c" : tensor<8xf32>
    %q = dist.all_reduce sum (%c) on @grad0 : (tensor<8xf32>) -> tensor<8xf32>
    %r:3 = dist.wait %p : (!dist.pending<tensor<3x4xf32>, tensor<5xf32>, tensor<8xf32>>) -> (tensor<3x4xf32>, tensor<5xf32>, tensor<8xf32>)
    %u = pd.relu X(%r#0) -> Out("u") : (tensor<3x4xf32>) -> tensor<3x4xf32>
    %v = pd.relu X(%q) -> Out("v") : (tensor<8xf32>) -> tensor<8xf32>
    %s = pd.input "s" : !pd.rows<tensor<9x1xf32>>
    %t = dist.all_reduce sum (%s) on @grad0 : (!pd.rows<tensor<9x1xf32>>) -> !pd.rows<tensor<9x1xf32>>
  }
}
