// RUN: dtranspile-opt %s --specialize="class=trainer[pp=0]" 2>&1 | FileCheck %s --check-prefixes=ALL,FIRST
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=1..2+4..99999]" 2>&1 | FileCheck %s --check-prefixes=ALL,MIDDLE
// RUN: dtranspile-opt %s --specialize="class=trainer[pp=3]" 2>&1 | FileCheck %s --check-prefixes=ALL,LAST
// RUN: dtranspile-opt %s --specialize="rank=199999" 2>&1 | FileCheck %s --check-prefix=RANK

// Classes follow from the guards that communicate: three for 200,000 ranks. The last guard does not,
// and cuts nothing.
// ALL-DAG: remark: class trainer[pp=0] has 2 ranks
// ALL-DAG: remark: class trainer[pp=1..2+4..99999] has 199996 ranks
// ALL-DAG: remark: class trainer[pp=3] has 2 ranks

// FIRST: module attributes {dist.class = "trainer[pp=0]", dist.ranks = #dist.sel<pp = 0>, dist.role = "trainer"} {
// FIRST-NEXT: dist.mesh @w
// FIRST-NEXT: dist.comm @dp
// FIRST-NEXT: dist.comm @pp
// FIRST-NOT: dist.comm
// FIRST: pd.var @v : tensor<2xf32>{{$}}
// FIRST-NEXT: pd.program @main
// FIRST-NEXT: %[[X:.*]] = pd.input "x" {dist.batch = #dist.batch<0: dp>} : tensor<2xf32>
// FIRST-NEXT: %[[V:.*]] = pd.get @v
// FIRST-NEXT: %[[R:.*]] = dist.all_reduce sum(%[[V]]) on @dp
// FIRST-NEXT: %[[B:.*]] = dist.broadcast(%[[R]]) on @pp from <pp = 0> : (tensor<2xf32>) -> tensor<2xf32>
// FIRST-NEXT: pd.relu X(%[[B]]) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
// FIRST-NEXT: pd.bernoulli X(%{{.*}}) -> Out("mask") with {dist.src = 4 : i64} : (tensor<2xf32>) -> tensor<2xf32>
// FIRST-NEXT: pd.sigmoid
// FIRST-NEXT: pd.square
// FIRST-NOT: dist.on
// FIRST: }

// Neither has the variable nor the reduction; what only the root sends is a value that nobody reads.
// MIDDLE: dist.class
// MIDDLE: pd.var @counter : tensor<1xf32> {dist.at = #dist.sel<pp = 7>}
// MIDDLE-NOT: pd.var
// MIDDLE: %[[U:.*]] = pd.undef
// MIDDLE-NEXT: dist.broadcast(%[[U]])
// MIDDLE-NEXT: pd.relu
// MIDDLE-NEXT: pd.bernoulli
// MIDDLE-NEXT: pd.sigmoid
// MIDDLE-NEXT: pd.square
// A guard that holds on some ranks of the class stays.
// MIDDLE: dist.on <pp = 7>
// MIDDLE-NOT: pd.tanh

// LAST: dist.class
// LAST-NOT: pd.var
// LAST: pd.relu
// LAST-NEXT: pd.bernoulli
// LAST-NEXT: pd.tanh
// LAST-NEXT: dist.all_reduce
// LAST-NOT: pd.sigmoid
// LAST-NOT: dist.on

// For a single rank every guard is resolved.
// RANK: module attributes {dist.class = "trainer[dp=1,pp=99999]", dist.ranks = #dist.sel<dp = 1 and pp = 99999>, dist.role = "trainer"} {
// RANK: pd.undef
// RANK: pd.sigmoid
// RANK-NOT: dist.on

dist.mesh @w [dp = 2, pp = 100000]
dist.mesh @other [ps = 3]
dist.comm @dp on @w over [dp] group
dist.comm @pp on @w over [pp] group
dist.comm @elsewhere on @other over [ps] group
dist.role @trainer on @w {
  pd.var @v : tensor<2xf32> {dist.at = #dist.sel<pp = 0>}
  pd.var @counter : tensor<1xf32> {dist.at = #dist.sel<pp = 7>}
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: dp>} : tensor<2xf32>
    %l = dist.on <pp = 0> -> (!dist.at<tensor<2xf32>, pp = 0>) {
      %v = pd.get @v : tensor<2xf32>
      %r = dist.all_reduce sum (%v) on @dp : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield %r : tensor<2xf32>
    }
    %b = dist.broadcast (%l) on @pp from <pp = 0> : (!dist.at<tensor<2xf32>, pp = 0>) -> tensor<2xf32>
    %y = pd.relu X(%b) -> Out("y") with {dist.src = 3 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    %m = pd.bernoulli X(%y) -> Out("mask") with {dist.src = 4 : i64} : (tensor<2xf32>) -> tensor<2xf32>
    %z = dist.on <pp = 3> -> (tensor<2xf32>) {
      %t = pd.tanh X(%y) -> Out("z") : (tensor<2xf32>) -> tensor<2xf32>
      %r = dist.all_reduce sum (%t) on @dp : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield %r : tensor<2xf32>
    } else {
      %t = pd.sigmoid X(%y) -> Out("z") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield %t : tensor<2xf32>
    }
    %u = pd.square X(%z) -> Out("u") : (tensor<2xf32>) -> tensor<2xf32>
    dist.on <pp = 7> {
      %c = pd.get @counter : tensor<1xf32>
      %n = pd.increment X(%c) -> Out("counter") {step = 1.0 : f32} : (tensor<1xf32>) -> tensor<1xf32>
      pd.set @counter, %n : tensor<1xf32>
      dist.yield
    }
  }
}
