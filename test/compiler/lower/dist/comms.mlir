// Communicators by kind, with their subsets; roots of a subset are counted among its members.
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=0+3]" 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: program main
// CHECK-NEXT:   start broadcast comm 0 root 1 inputs x float32[2], x float32[2] outputs x#1 float32[2], x#2 float32[2] ticket 0
// CHECK-NEXT:   wait 0
// CHECK-NEXT:   kernel relu(x#2 float32[2]) -> t float32[2]
// CHECK-NEXT:   start all_reduce comm 1 reduce max inputs i int64[2] outputs i#1 int64[2] ticket 1
// CHECK-NEXT:   wait 1
// CHECK-NEXT:   start broadcast comm 1 root 6 inputs i#1 int64[2] outputs i#2 int64[2] ticket 2
// CHECK-NEXT:   wait 2
// CHECK-NEXT:   kernel relu(i#2 int64[2]) -> u int64[2]

dist.mesh @w [dp = 2, pp = 4]
dist.comm @tie on @w over [pp] subset <pp in {0, 3}> group
dist.comm @all on @w over [dp, pp] group
dist.comm @next on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %i = pd.input "i" : tensor<2xi64>
    dist.on <pp in {0, 3}> {
      %b:2 = dist.broadcast (%x, %x) on @tie from <pp = 3> : (tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>)
      %t = pd.relu X(%b#1) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield
    }
    %m = dist.all_reduce max (%i) on @all : (tensor<2xi64>) -> tensor<2xi64>
    %r = dist.broadcast (%m) on @all from <dp = 1 and pp = 2> : (tensor<2xi64>) -> tensor<2xi64>
    %u = pd.relu X(%r) -> Out("u") : (tensor<2xi64>) -> tensor<2xi64>
  }
}
