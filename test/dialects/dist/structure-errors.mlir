// Constraints of structure, places and selectors; the labels are those of docs/dialects/dist.md.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{D1: axis 'dp' is named twice}}
dist.mesh @w [dp = 2, dp = 3]
// -----
// expected-error @+1 {{D1: axis 'dp' has size 0; the least is 1}}
dist.mesh @w [dp = 0]
// -----
// expected-error @+1 {{D1: 'scale' is no name for an axis}}
dist.mesh @w [scale = 2]
// -----
// expected-error @+1 {{D2: the mesh has more than 2147483647 ranks}}
dist.mesh @w [dp = 65536, mp = 65536]
// -----
// expected-error @+1 {{D3: there is no dist.mesh @w}}
dist.comm @c on @w over [dp] group
// -----
// expected-error @+1 {{D3: its mesh stands after it}}
dist.comm @c on @w over [dp] group
// expected-note @+1 {{the mesh}}
dist.mesh @w [dp = 2]
// -----
dist.mesh @w [dp = 2, mp = 2] time [micro = 4]
// expected-error @+1 {{D4: 'micro' is no rank axis of @w}}
dist.comm @c on @w over [dp, micro] group
// -----
dist.mesh @w [dp = 2, mp = 2]
// expected-error @+1 {{D4: axis 'dp' is out of the mesh's order or named twice}}
dist.comm @c on @w over [mp, dp] group
// -----
dist.mesh @w [dp = 2, mp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D31: axis 'dp' is out of the mesh's order; list the axes as @w does}}
    %x = pd.input "x" {dist.batch = #dist.batch<0: mp, dp>} : tensor<4x2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D31: 'mp' is no axis of @w}}
    %x = pd.input "x" {dist.batch = #dist.batch<0: mp>} : tensor<4x2xf32>
  }
}
// -----
dist.mesh @w [dp = 3]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D31: dim 0 of extent 4 is cut into 3 equal parts; cut a dim whose extent that divides}}
    %x = pd.input "x" {dist.batch = #dist.batch<0: dp>} : tensor<4x2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D31: dim 2 is cut, the feed has 2}}
    %x = pd.input "x" {dist.batch = #dist.batch<2: dp>} : tensor<4x2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D32: dist.streams names 'mp', which is no axis of @w}}
    %x = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("x") {shape = array<i64: 4>} with {dist.streams = ["mp"]} : () -> tensor<4xf32>
  }
}
// -----
dist.mesh @w [dp = 2] time [micro = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D32: dist.streams names 'micro', an axis of time, and stands in no dist.micro over it}}
    %x = pd.uniform_random ShapeTensor() ShapeTensorList() -> Out("x") {shape = array<i64: 4>} with {dist.streams = ["micro"]} : () -> tensor<4xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  // expected-error @+1 {{D39: dist.rel names 'mp', which is no axis of @w}}
  pd.var @v : tensor<4xf32> {dist.rel = #dist.rel<"v", mp: S(0)>}
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  // expected-error @+1 {{D39: dist.rel of a variable names value number 2; a variable holds all}}
  pd.var @v : tensor<4xf32> {dist.rel = #dist.rel<"v" number 2>}
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  // expected-error @+1 {{D39: dist.rel cuts dim 1 over 'dp'; there are 1}}
  pd.var @v : tensor<4xf32> {dist.rel = #dist.rel<"v", dp: S(1)>}
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D39: dist.rel names holders beyond the 2 coordinates of 'dp'}}
    %x = pd.input "x" {dist.rel = #dist.rel<"x" number 1, dp: R at dp = 2>} : tensor<4xf32>
  }
}
// -----
dist.mesh @w [dp = 2, mp = 2]
// expected-error @+1 {{D4: pairs lie along one axis, not 2}}
dist.comm @c on @w over [dp, mp] pairs
// -----
dist.mesh @w [dp = 2, mp = 2]
// expected-error @+1 {{D4: the subset names 'mp', no axis of the comm}}
dist.comm @c on @w over [dp] subset <mp = 0> group
// -----
dist.mesh @w [dp = 2]
// expected-error @+1 {{D4: coordinate 4 of axis 'dp', which has size 2}}
dist.comm @c on @w over [dp] subset <dp = 4> group
// -----
dist.mesh @w [dp = 2]
// expected-error @+1 {{D4: there is no dist.role @server}}
dist.comm @c on @w over [dp] rpc @server
// -----
dist.mesh @w [dp = 2]
// expected-error @+1 {{D4: a server is named by rpc, and only by rpc}}
dist.comm @c on @w over [dp] rpc
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
// expected-error @+1 {{D4: all coordinates ask the servers; rpc has no subset}}
dist.comm @c on @w over [dp] subset <dp = 0> rpc @server
dist.role @server on @s {}
// -----
// expected-error @+1 {{D5: there is no dist.mesh @w}}
dist.role @trainer on @w { pd.program @main {} }
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<2xf32> }
dist.role @trainer on @w {
  pd.var @B : tensor<2xf32>
  pd.program @main {
    // expected-error @+1 {{D5: there is no variable @server::@B}}
    %0 = dist.pull @server::@B on @ps : tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<2xf32> }
dist.role @trainer on @w {
  pd.var @B : tensor<2xf32>
  pd.program @main {
    // expected-error @+1 {{D5: names a variable of role @server, which comm @ps reaches, not @trainer::@B}}
    %0 = dist.pull @trainer::@B on @ps : tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>} }
dist.role @trainer on @w {
  pd.program @main {
    %i = pd.input "i" : tensor<?x1xf32>
    // expected-error @+1 {{D33: ids are integers of 32 or 64 bits, not 'tensor<?x1xf32>'}}
    %0 = dist.lookup %i in @server::@A on @ps : tensor<?x1xf32> -> tensor<?x3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>} }
dist.role @trainer on @w {
  pd.program @main {
    %i = pd.input "i" : tensor<?x1xi64>
    // expected-error @+1 {{D33: gives 'tensor<?x4xf32>' for ids of 'tensor<?x1xi64>' and rows of 'tensor<?x3xf32>'}}
    %0 = dist.lookup %i in @server::@A on @ps : tensor<?x1xi64> -> tensor<?x4xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>} }
dist.role @trainer on @w {
  pd.program @main {
    %i = pd.input "i" : tensor<?x5xi64>
    // expected-error @+1 {{D33: gives 'tensor<?x3xf32>' for ids of 'tensor<?x5xi64>'}}
    %0 = dist.lookup %i in @server::@A on @ps : tensor<?x5xi64> -> tensor<?x3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>} }
dist.role @trainer on @w {
  pd.program @main {
    %i = pd.input "i" : tensor<?x1xi64>
    // expected-error @+1 {{D33: gives 'tensor<?x3xf64>' of @server::@A}}
    %0 = dist.lookup %i in @server::@A on @ps : tensor<?x1xi64> -> tensor<?x3xf64>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>} }
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D34: is 'tensor<5x3xf32>', and the whole of @server::@A is not}}
    %0 = dist.remote @server::@A : tensor<5x3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>} }
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D5: there is no variable @server::@B}}
    %0 = dist.remote @server::@B : tensor<4x3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>} }
dist.role @trainer on @w {
  pd.program @main {
    %0 = dist.remote @server::@A : tensor<4x3xf32>
    // expected-error @+1 {{D34: reads elements of @server::@A, of which none is here; pull it, or look rows up}}
    %1 = pd.scale X(%0) -> Out("a") {scale = 2.0 : f32} : (tensor<4x3xf32>) -> tensor<4x3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s { pd.var @A : tensor<?x3xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4, per 2, first 0))>} }
dist.role @trainer on @w {
  pd.program @main {
    %i = pd.input "i" : tensor<?x1xi64>
    %g = pd.input "g" : tensor<?x3xf32>
    %0 = dist.remote @server::@A : tensor<4x3xf32>
    // expected-error @+1 {{D34: reads elements of @server::@A}}
    %1 = pd.lookup_table_grad Ids(%i) "Out@GRAD"(%g) W(%0) -> "W@GRAD"("a") {is_sparse = false} : (tensor<?x1xi64>, tensor<?x3xf32>, tensor<4x3xf32>) -> tensor<4x3xf32>
  }
}
// -----
dist.mesh @w [dp = 2, pp = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %l = dist.on <pp = 1> -> (!dist.at<tensor<2xf32>, pp = 1>) { dist.yield %x : tensor<2xf32> }
    // expected-error @+1 {{D6: an argument exists on #dist.sel<pp = 1> only, the body runs on #dist.sel<pp in {1 to 2}>}}
    dist.on <pp in {1 to 2}> with (%a = %l : !dist.at<tensor<2xf32>, pp = 1>) { dist.yield }
  }
}
// -----
dist.mesh @w [dp = 2, pp = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D6: without else, results are located at #dist.sel<pp = 1>, not 'tensor<2xf32>'}}
    %l = dist.on <pp = 1> -> (tensor<2xf32>) { dist.yield %x : tensor<2xf32> }
  }
}
// -----
dist.mesh @w [dp = 2, pp = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D6: an argument is a located value}}
    dist.on <pp = 1> with (%a = %x : tensor<2xf32>) { dist.yield }
  }
}
// -----
dist.mesh @w [dp = 2, pp = 4]
dist.role @trainer on @w {
  pd.var @v : tensor<2xf32> {dist.at = #dist.sel<pp = 1>}
  pd.program @main {
    dist.on <pp in {1 to 2}> {
      // expected-error @+1 {{D7: variable @v exists only on #dist.sel<pp = 1>}}
      %v = pd.get @v : tensor<2xf32>
      dist.yield
    }
  }
}
// -----
dist.mesh @w [dp = 2, pp = 2]
dist.role @trainer on @w {
  pd.var @v : tensor<2xf32> {dist.at = #dist.sel<pp = 1>}
  pd.program @main {
    dist.on <pp = 0> { dist.yield } else {
      // The else-body of pp = 0 runs on pp = 1.
      %v = pd.get @v : tensor<2xf32>
      // expected-error @+1 {{D9: no rank is in this guard and in the guards around it}}
      dist.on <pp = 0> { dist.yield }
      dist.yield
    }
  }
}
// -----
dist.mesh @w [dp = 2, pp = 4]
// expected-note @+1 {{the comm; its members must be the guarded ranks}}
dist.comm @all on @w over [dp, pp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    dist.on <pp = 1> {
      // expected-error @+1 {{D8: not every member of a group of @all comes here, or others do: axis 'pp' is guarded}}
      %r = dist.all_reduce sum (%x) on @all : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield
    }
  }
}
// -----
dist.mesh @w [dp = 2, pp = 4]
// expected-note @+1 {{the comm; its members must be the guarded ranks}}
dist.comm @tie on @w over [pp] subset <pp in {0, 3}> group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D8: not every member of a group of @tie comes here, or others do}}
    %r = dist.all_reduce sum (%x) on @tie : (tensor<2xf32>) -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2, pp = 4]
// expected-note @+1 {{the comm; its members must be the guarded ranks}}
dist.comm @dp on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    dist.on <dp = 0 and pp = 1> { dist.yield } else {
      // expected-error @+1 {{D8: not every member of a group of @dp comes here}}
      %r = dist.all_reduce sum (%x) on @dp : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @srv on @s over [ps] group
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D8: comm @srv is over another mesh than role @trainer}}
    dist.barrier on @srv
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D9: 'pp' is no rank axis here}}
    dist.on <pp = 0> { dist.yield }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D9: every coordinate of axis 'dp' is selected; leave the axis out}}
    dist.on <dp in {0, 1}> { dist.yield }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D9: 'mp' is no rank axis here}}
    %0 = dist.coord "mp" : tensor<1xi64>
  }
}
// -----
// expected-error @+1 {{no coordinate of axis 'pp' is selected}}
#empty = #dist.sel<pp in {}>
// -----
// expected-error @+1 {{a selector has one set per axis}}
#twice = #dist.sel<pp = 0 and pp = 1>
// -----
// expected-error @+1 {{scale 2/4 is not a reduced fraction}}
#scale = #dist.rel<"x", scale 2/4>
// -----
// expected-error @+1 {{axis 'dp' is listed twice}}
#axes = #dist.rel<"x", dp: R, dp: Q>
// -----
// expected-error @+1 {{no state is called 'Z'}}
#state = #dist.rel<"x", dp: Z>
// -----
pd.program @main {
  // expected-error @+1 {{attribute 'dist.sorce' does not exist in dialect dist}}
  %x = pd.input "x" {dist.sorce = 1 : i64} : tensor<2xf32>
}
// -----
pd.program @main {
  // expected-error @+1 {{attribute 'dist.src' expects the number of an op of the reference (i64) on a framework op or a composite}}
  %x = pd.input "x" {dist.src = 1 : i64} : tensor<2xf32>
}
// -----
// expected-error @+1 {{attribute 'dist.at' expects a non-empty #dist.sel on a pd.var}}
pd.var @v : tensor<2xf32> {dist.at = #dist.sel<>}
