// What is the same on all ranks of a class stays as it is: collectives, starts and waits, parts,
// coordinates, copies. What follows from a coordinate is data of the rank.
// RUN: dtranspile-opt %s --specialize="role=trainer" 2>/dev/null | FileCheck %s

// CHECK: dist.all_reduce sum
// CHECK-NEXT: dist.wait
// CHECK-NEXT: dist.reduce_scatter sum{{.*}} dim 0
// CHECK-NEXT: dist.all_gather{{.*}} dim 0
// CHECK-NEXT: dist.all_gather{{.*}} dim 0 ragged
// CHECK-NEXT: dist.all_to_all{{.*}} split 0 concat 1
// CHECK-NEXT: dist.broadcast{{.*}} from <dp = 0>
// CHECK-NEXT: dist.barrier on @c
// CHECK-NEXT: dist.slice {{.*}} over [dp]
// CHECK-NEXT: dist.coord "dp"
// CHECK-NEXT: dist.copy {{.*}} to host

dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<4x2xf32>
    %r = pd.input "r" : tensor<?x2xf32>
    %p = dist.all_reduce sum (%x) on @c : (tensor<4x2xf32>) -> !dist.pending<tensor<4x2xf32>>
    %s = dist.wait %p : (!dist.pending<tensor<4x2xf32>>) -> tensor<4x2xf32>
    %h = dist.reduce_scatter sum (%x) on @c dim 0 : (tensor<4x2xf32>) -> tensor<2x2xf32>
    %g = dist.all_gather (%h) on @c dim 0 : (tensor<2x2xf32>) -> tensor<4x2xf32>
    %y = dist.all_gather (%r) on @c dim 0 ragged : (tensor<?x2xf32>) -> tensor<?x2xf32>
    %a = dist.all_to_all (%x) on @c split 0 concat 1 : (tensor<4x2xf32>) -> tensor<2x4xf32>
    %b = dist.broadcast (%x) on @c from <dp = 0> : (tensor<4x2xf32>) -> tensor<4x2xf32>
    dist.barrier on @c
    %o = dist.slice %x dim 0 layout <even(4)> over [dp] : tensor<4x2xf32> -> tensor<2x2xf32>
    %k = dist.coord "dp" : tensor<1xi64>
    %z = dist.copy %x to host : tensor<4x2xf32> -> tensor<4x2xf32>
  }
}
