// Every operation, attribute and type of dist prints what it parses, and its generic form says the same.
// RUN: dtranspile-opt %s | dtranspile-opt | FileCheck %s
// RUN: dtranspile-opt %s --mlir-print-op-generic | dtranspile-opt | FileCheck %s

// CHECK: dist.mesh @w [dp = 2, pp = 4, sharding = 2] time [micro = 8]
dist.mesh @w [dp = 2, pp = 4, sharding = 2] time [micro = 8]
// CHECK: dist.mesh @sv [ps = 3]
dist.mesh @sv [ps = 3]
// CHECK: dist.comm @dp on @w over [dp] group
dist.comm @dp on @w over [dp] group
// CHECK: dist.comm @sh on @w over [sharding] group
dist.comm @sh on @w over [sharding] group
// CHECK: dist.comm @all on @w over [dp, sharding] group
dist.comm @all on @w over [dp, sharding] group
// CHECK: dist.comm @fwd on @w over [pp] pairs
dist.comm @fwd on @w over [pp] pairs
// CHECK: dist.comm @tie on @w over [pp] subset <pp in {0, 3}> group
dist.comm @tie on @w over [pp] subset <pp in {3, 0}> group
// CHECK: dist.comm @srv on @sv over [ps] group
dist.comm @srv on @sv over [ps] group
// CHECK: dist.comm @ps on @w over [dp] rpc @server
dist.comm @ps on @w over [dp] rpc @server

// CHECK: dist.role @trainer on @w
dist.role @trainer on @w {
  // CHECK: {dist.rel = #dist.rel<"w">}
  pd.var @w : tensor<4x3xf32> {dist.rel = #dist.rel<"w">}
  // CHECK: {dist.at = #dist.sel<pp = 1 and sharding = 0>, dist.rel = #dist.rel<"e", pp: R at pp = 1>}
  pd.var @e : tensor<4xf32> {dist.at = #dist.sel<sharding = 0 and pp in {1 to 1}>, dist.rel = #dist.rel<"e", pp: R at pp = 1>}
  // CHECK: #dist.rel<"m", sharding: S(flat, even(12)), dp: X(local_sgd), scale 1/4, tags ["fp16_wire", "parts"]>
  pd.var @m : tensor<6xf32> {dist.rel = #dist.rel<"m" number 0, sharding: S(flat, even(12)), dp: X(local_sgd), scale 1/4, tags ["fp16_wire", "parts"]>}
  // CHECK: {dist.per_micro, dist.rel = #dist.rel<"s", dp: S(0), sharding: P(max), pp: ?, micro: Q, scale 2>}
  pd.var @s : tensor<1xf32> {dist.per_micro, dist.rel = #dist.rel<"s", dp: S(0), sharding: P(max), pp: ?, micro: Q, scale 2>}
  pd.program @main {
    // CHECK: %[[X:.*]] = pd.input "x" {dist.batch = #dist.batch<0: dp, sharding>, dist.rel = #dist.rel<"x" number 1, dp: S(0)>}
    %x = pd.input "x" {dist.batch = #dist.batch<0: dp, sharding>, dist.rel = #dist.rel<"x" number 1, dp: S(0)>} : tensor<4x3xf32>
    %v = pd.input "v" : tensor<5xf32>
    %i = pd.input "i" : tensor<4x1xi64>
    %c = pd.input "c" : tensor<1xi1>
    // CHECK: %[[R:.*]]:2 = dist.all_reduce sum(%[[X]], %{{.*}}) on @all : (tensor<4x3xf32>, tensor<5xf32>) -> (tensor<4x3xf32>, tensor<5xf32>)
    %r:2 = dist.all_reduce sum (%x, %v) on @all : (tensor<4x3xf32>, tensor<5xf32>) -> (tensor<4x3xf32>, tensor<5xf32>)
    // CHECK: %[[P:.*]] = dist.all_reduce max(%[[X]]) on @dp : (tensor<4x3xf32>) -> !dist.pending<tensor<4x3xf32>>
    %p = dist.all_reduce max (%x) on @dp : (tensor<4x3xf32>) -> !dist.pending<tensor<4x3xf32>>
    // CHECK: dist.all_reduce or
    %any = dist.all_reduce or (%c) on @dp : (tensor<1xi1>) -> tensor<1xi1>
    // CHECK: %{{.*}} = dist.wait %[[P]] : (!dist.pending<tensor<4x3xf32>>) -> tensor<4x3xf32>
    %q = dist.wait %p : (!dist.pending<tensor<4x3xf32>>) -> tensor<4x3xf32>
    // CHECK: dist.reduce_scatter sum(%{{.*}}, %{{.*}}) on @sh dim flat : (tensor<4x3xf32>, tensor<5xf32>) -> (tensor<6xf32>, tensor<3xf32>)
    %s:2 = dist.reduce_scatter sum (%x, %v) on @sh dim flat : (tensor<4x3xf32>, tensor<5xf32>) -> (tensor<6xf32>, tensor<3xf32>)
    // CHECK: dist.all_gather(%{{.*}}, %{{.*}}) on @sh dim flat : (tensor<6xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<5xf32>)
    %g:2 = dist.all_gather (%s#0, %s#1) on @sh dim flat : (tensor<6xf32>, tensor<3xf32>) -> (tensor<4x3xf32>, tensor<5xf32>)
    // CHECK: dist.all_gather(%{{.*}}) on @sh dim 0 : (tensor<4x3xf32>) -> tensor<8x3xf32>
    %h = dist.all_gather (%x) on @sh dim 0 : (tensor<4x3xf32>) -> tensor<8x3xf32>
    // CHECK: dist.all_to_all(%{{.*}}) on @sh split 0 concat 1 : (tensor<4x3xf32>) -> tensor<2x6xf32>
    %a = dist.all_to_all (%x) on @sh split 0 concat 1 : (tensor<4x3xf32>) -> tensor<2x6xf32>
    // CHECK: dist.reduce sum(%{{.*}}) on @sh to <sharding = 1> : (tensor<4x3xf32>) -> !dist.at<tensor<4x3xf32>, sharding = 1>
    %o = dist.reduce sum (%x) on @sh to <sharding = 1> : (tensor<4x3xf32>) -> !dist.at<tensor<4x3xf32>, sharding = 1>
    // CHECK: dist.broadcast(%{{.*}}) on @sh from <sharding = 1> : (!dist.at<tensor<4x3xf32>, sharding = 1>) -> tensor<4x3xf32>
    %b = dist.broadcast (%o) on @sh from <sharding = 1> : (!dist.at<tensor<4x3xf32>, sharding = 1>) -> tensor<4x3xf32>
    // CHECK: dist.broadcast(%{{.*}}) on @all from <dp = 0 and sharding = 0>
    %b2 = dist.broadcast (%x) on @all from <sharding = 0 and dp = 0> : (tensor<4x3xf32>) -> tensor<4x3xf32>
    // CHECK: dist.barrier on @dp
    dist.barrier on @dp

    // CHECK: %[[N:.*]] = dist.on <sharding = 1> with (%[[A:.*]] = %{{.*}} : !dist.at<tensor<4x3xf32>, sharding = 1>) -> (tensor<4x3xf32>) {
    // CHECK: dist.all_reduce sum(%[[A]]) on @dp
    // CHECK: } else {
    // CHECK: dist.yield %[[X]] : tensor<4x3xf32>
    %n = dist.on <sharding = 1> with (%l = %o : !dist.at<tensor<4x3xf32>, sharding = 1>) -> (tensor<4x3xf32>) {
      %t = dist.all_reduce sum (%l) on @dp : (tensor<4x3xf32>) -> tensor<4x3xf32>
      dist.yield %t : tensor<4x3xf32>
    } else {
      dist.yield %x : tensor<4x3xf32>
    }
    // CHECK: dist.on <pp in {0, 3}>
    dist.on <pp in {0, 3}> {
      %t = dist.all_reduce sum (%x) on @tie : (tensor<4x3xf32>) -> tensor<4x3xf32>
      // CHECK: dist.on <sharding = 0>
      dist.on <sharding = 0> { dist.yield }
      dist.yield
    }
    // CHECK: dist.on <pp = 1>
    dist.on <pp = 1> {
      dist.on <sharding = 0> {
        %t = pd.get @e : tensor<4xf32>
        dist.yield
      }
      dist.yield
    }
    // CHECK: dist.slice %{{.*}} dim flat layout <even(12)> over [sharding] : tensor<4x3xf32> -> tensor<6xf32>
    %sl = dist.slice %x dim flat layout <even(12)> over [sharding] : tensor<4x3xf32> -> tensor<6xf32>
    // CHECK: dist.slice %{{.*}} dim 0 layout <blocks(4, per 2, first 1)> over [dp] : tensor<4x3xf32> -> tensor<?x3xf32>
    %sb = dist.slice %x dim 0 layout <blocks(4, per 2, first 1)> over [dp] : tensor<4x3xf32> -> tensor<?x3xf32>
    // CHECK: dist.coord "dp" : tensor<1xi64>
    %co = dist.coord "dp" : tensor<1xi64>
    // CHECK: dist.copy %{{.*}} to host : tensor<4x3xf32> -> !dist.pending<tensor<4x3xf32>>
    %cp = dist.copy %x to host : tensor<4x3xf32> -> !dist.pending<tensor<4x3xf32>>
    %cw = dist.wait %cp : (!dist.pending<tensor<4x3xf32>>) -> tensor<4x3xf32>
    // CHECK: dist.assume %{{.*}} is <"x", dp: X(async)> because "reason" : tensor<4x3xf32>
    %as = dist.assume %x is <"x", dp: X(async)> because "reason" : tensor<4x3xf32>

    // CHECK: dist.micro over [micro] schedule("1F1B", chunks 2) iter(%[[ACC:.*]] = %[[X]] : tensor<4x3xf32>) -> (tensor<4x3xf32>)
    %mi = dist.micro over [micro] schedule ("1F1B", chunks 2) iter(%acc = %x : tensor<4x3xf32>) -> (tensor<4x3xf32>) {
      // CHECK: dist.on <pp = 0> task F chunk 1 -> (!dist.at<tensor<4x3xf32>, pp = 0>)
      %f = dist.on <pp = 0> task F chunk 1 -> (!dist.at<tensor<4x3xf32>, pp = 0>) { dist.yield %x : tensor<4x3xf32> }
      // CHECK: dist.transfer %{{.*}} on @fwd : !dist.at<tensor<4x3xf32>, pp = 0> -> !dist.at<tensor<4x3xf32>, pp = 1>
      %t = dist.transfer %f on @fwd : !dist.at<tensor<4x3xf32>, pp = 0> -> !dist.at<tensor<4x3xf32>, pp = 1>
      %u = pd.sum X(%acc, %x) -> Out("y") : (tensor<4x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
      dist.yield %u : tensor<4x3xf32>
    }
    // CHECK: dist.composite "sync_batch_norm" (X = %{{.*}} : tensor<4x3xf32>) -> (Y as "y" : tensor<4x3xf32>) attrs {epsilon = 9.99999974E-6 : f32}
    %cm = dist.composite "sync_batch_norm" (X = %x : tensor<4x3xf32>) -> (Y as "y" : tensor<4x3xf32>) attrs {epsilon = 1.0e-5 : f32} {
    ^bb0(%in: tensor<4x3xf32>):
      %t = dist.all_reduce sum (%in) on @dp : (tensor<4x3xf32>) -> tensor<4x3xf32>
      dist.yield %t : tensor<4x3xf32>
    }

    // CHECK: dist.push %{{.*}} to @server::@A merge mean on @ps : tensor<4x3xf32>
    dist.push %x to @server::@A merge mean on @ps : tensor<4x3xf32>
    // CHECK: dist.phase push on @ps
    dist.phase push on @ps
    // CHECK: dist.pull @server::@A on @ps : tensor<4x3xf32>
    %pu = dist.pull @server::@A on @ps : tensor<4x3xf32>
    // CHECK: dist.phase pull on @ps
    dist.phase pull on @ps
    // CHECK: dist.lookup %{{.*}} in @server::@A on @ps : tensor<4x1xi64> -> tensor<4x3xf32>
    %lo = dist.lookup %i in @server::@A on @ps : tensor<4x1xi64> -> tensor<4x3xf32>
  }
}

dist.role @server on @sv {
  pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>}
  pd.program @main {
    // CHECK: dist.serve on @ps mode sync
    dist.serve on @ps mode sync {
      // CHECK: dist.handle round
      dist.handle round {
        %z = pd.input "z" : tensor<1xf32>
        // CHECK: dist.foreach_block @A (%{{.*}}) iter(%[[B:.*]] = %{{.*}} : tensor<1xf32>) -> (tensor<1xf32>)
        %f = dist.foreach_block @A (%k) iter(%a = %z : tensor<1xf32>) -> (tensor<1xf32>) {
          // CHECK: dist.merged @A : tensor<?x3xf32>
          %g = dist.merged @A : tensor<?x3xf32>
          dist.yield %a : tensor<1xf32>
        }
        %n = dist.all_reduce sum (%f) on @srv : (tensor<1xf32>) -> tensor<1xf32>
        dist.yield
      }
      // CHECK: dist.handle push @A (%{{.*}}: tensor<1xi64>)
      dist.handle push @A (%from: tensor<1xi64>) {
        dist.foreach_block @A (%k) {
          %g = dist.merged @A : tensor<?x3xf32>
          dist.yield
        }
        dist.yield
      }
      // CHECK: dist.handle lookup @A
      dist.handle lookup @A (%ids: tensor<?x1xi64>) { dist.yield }
    }
  }
}
