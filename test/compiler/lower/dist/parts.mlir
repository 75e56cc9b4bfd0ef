// Coordinates, parts, copies, and collectives whose parts lie one after the other, or do not: other
// dims than the first, extents with a pad.
// RUN: dtranspile-opt %s --specialize 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: program main
// CHECK-NEXT:   coord b to coord.b int64[1]
// CHECK-NEXT:   kernel scale(coord.b int64[1]) -> c1 int64[1]
// CHECK-NEXT:   slice x float32[6x5] -> x#1 float32[5] layout (even axes a, b dim -1 extent 30 whole 6 5)
// CHECK-NEXT:   kernel relu(x#1 float32[5]) -> s1 float32[5]
// CHECK-NEXT:   slice x float32[6x5] -> x#2 float32[6x2] layout (even axes b dim 1 extent 5 whole 6 5)
// CHECK-NEXT:   kernel relu(x#2 float32[6x2]) -> t1 float32[6x2]
// CHECK-NEXT:   start all_gather comm 0 inputs y float32[2x5] outputs y#1 float32[6x5] ticket 0
// CHECK-NEXT:   wait 0
// CHECK-NEXT:   kernel relu(y#1 float32[6x5]) -> g0 float32[6x5]
// CHECK-NEXT:   start all_gather comm 0 inputs x#2 float32[6x2] outputs x.parts float32[3x6x2] ticket 1
// CHECK-NEXT:   wait 1
// CHECK-NEXT:   call dt_join_parts(x.parts float32[3x6x2]; 1 3) -> x#3 float32[6x5]
// CHECK-NEXT:   kernel relu(x#3 float32[6x5]) -> g1 float32[6x5]
// CHECK-NEXT:   start all_gather comm 0 inputs state float32[5] outputs state.parts float32[3x5] ticket 2
// CHECK-NEXT:   wait 2
// CHECK-NEXT:   call dt_join_parts(state.parts float32[3x5]; -1 3) -> state#1 float32[13x1]
// CHECK-NEXT:   kernel relu(state#1 float32[13x1]) -> g2 float32[13x1]
// CHECK-NEXT:   start reduce_scatter comm 0 inputs x float32[6x5] outputs x#4 float32[2x5] ticket 3
// CHECK-NEXT:   wait 3
// CHECK-NEXT:   kernel relu(x#4 float32[2x5]) -> r0 float32[2x5]
// CHECK-NEXT:   call dt_cut_parts(x float32[6x5]; 1 3) -> x.parts#1 float32[3x6x2]
// CHECK-NEXT:   start reduce_scatter comm 0 inputs x.parts#1 float32[3x6x2] outputs x#5 float32[6x2] ticket 4
// CHECK-NEXT:   wait 4
// CHECK-NEXT:   kernel relu(x#5 float32[6x2]) -> rq float32[6x2]
// CHECK-NEXT:   call dt_cut_parts(x float32[6x5]; 0 3) -> x.parts#2 float32[3x2x5]
// CHECK-NEXT:   start all_to_all comm 0 inputs x.parts#2 float32[3x2x5] outputs x.parts#3 float32[3x2x5] ticket 5
// CHECK-NEXT:   wait 5
// CHECK-NEXT:   call dt_join_parts(x.parts#3 float32[3x2x5]; 1 3) -> x#6 float32[2x15]
// CHECK-NEXT:   kernel relu(x#6 float32[2x15]) -> a float32[2x15]
// CHECK-NEXT:   start barrier comm 1 inputs  outputs  ticket 6
// CHECK-NEXT:   wait 6
// CHECK-NEXT:   copy x float32[6x5] -> x#7 float32[6x5]
// CHECK-NEXT:   copy x#7 float32[6x5] -> x#8 float32[6x5]
// CHECK-NEXT:   kernel relu(x#8 float32[6x5]) -> h float32[6x5]

dist.mesh @m [a = 2, b = 3] 
dist.comm @b on @m over [b] group
dist.comm @ab on @m over [a, b] group
dist.role @trainer on @m {
  pd.var @state : tensor<5xf32> {dist.rel = #dist.rel<"state", b: S(flat, even(13))>}
  pd.program @main {
    %x = pd.input "x" : tensor<6x5xf32>
    %y = pd.input "y" : tensor<2x5xf32>
    %c = dist.coord "b" : tensor<1xi64>
    %c1 = pd.scale X(%c) -> Out("c1") {scale = 2.0 : f32} : (tensor<1xi64>) -> tensor<1xi64>
    %s = dist.slice %x dim flat layout <even(30)> over [a, b] : tensor<6x5xf32> -> tensor<5xf32>
    %s1 = pd.relu X(%s) -> Out("s1") : (tensor<5xf32>) -> tensor<5xf32>
    %t = dist.slice %x dim 1 layout <even(5)> over [b] : tensor<6x5xf32> -> tensor<6x2xf32>
    %t1 = pd.relu X(%t) -> Out("t1") : (tensor<6x2xf32>) -> tensor<6x2xf32>
    %g0 = dist.all_gather (%y) on @b dim 0 : (tensor<2x5xf32>) -> tensor<6x5xf32>
    %g0r = pd.relu X(%g0) -> Out("g0") : (tensor<6x5xf32>) -> tensor<6x5xf32>
    %g1 = dist.all_gather (%t) on @b dim 1 : (tensor<6x2xf32>) -> tensor<6x5xf32>
    %g1r = pd.relu X(%g1) -> Out("g1") : (tensor<6x5xf32>) -> tensor<6x5xf32>
    %gs = pd.get @state : tensor<5xf32>
    %g2 = dist.all_gather (%gs) on @b dim flat : (tensor<5xf32>) -> tensor<13x1xf32>
    %g2r = pd.relu X(%g2) -> Out("g2") : (tensor<13x1xf32>) -> tensor<13x1xf32>
    %r0 = dist.reduce_scatter sum (%x) on @b dim 0 : (tensor<6x5xf32>) -> tensor<2x5xf32>
    %r0r = pd.relu X(%r0) -> Out("r0") : (tensor<2x5xf32>) -> tensor<2x5xf32>
    %rp = dist.reduce_scatter sum (%x) on @b dim 1 : (tensor<6x5xf32>) -> !dist.pending<tensor<6x2xf32>>
    %rq = dist.wait %rp : (!dist.pending<tensor<6x2xf32>>) -> tensor<6x2xf32>
    %rqr = pd.relu X(%rq) -> Out("rq") : (tensor<6x2xf32>) -> tensor<6x2xf32>
    %a = dist.all_to_all (%x) on @b split 0 concat 1 : (tensor<6x5xf32>) -> tensor<2x15xf32>
    %ar = pd.relu X(%a) -> Out("a") : (tensor<2x15xf32>) -> tensor<2x15xf32>
    dist.barrier on @ab
    %h = dist.copy %x to host : tensor<6x5xf32> -> !dist.pending<tensor<6x5xf32>>
    %hw = dist.wait %h : (!dist.pending<tensor<6x5xf32>>) -> tensor<6x5xf32>
    %hd = dist.copy %hw to device : tensor<6x5xf32> -> tensor<6x5xf32>
    %hr = pd.relu X(%hd) -> Out("h") : (tensor<6x5xf32>) -> tensor<6x5xf32>
  }
}
