// What the forms of operations rule out: words, regions, results, operands that no printed job has.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics

dist.mesh @w [dp = 2]
// expected-error @+1 {{'ring' is not known here; known are group, pairs, rpc}}
dist.comm @c on @w over [dp] ring
// -----
dist.mesh @w [dp = 2]
// expected-error @+1 {{D4: names no axis}}
dist.comm @c on @w over [] group
// -----
// expected-error @+1 {{D1: 1 axes have 2 sizes}}
"dist.mesh"() {sym_name = "w", axes = ["dp"], sizes = array<i64: 2, 3>, time_axes = [], time_sizes = array<i64>} : () -> ()
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  // expected-error @+1 {{D5: a role holds pd.var and pd.program only}}
  pd.decl "x" tensor of float32 [2]
}
// -----
dist.role @trainer on @other {
  pd.program @main {
    // expected-error @+1 {{D3: there is no dist.mesh @other, which comm @c is on}}
    dist.barrier on @c
  }
}
dist.comm @c on @other over [dp] group
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{no task is called 'Z'; known are F, B, W}}
    dist.on <dp = 0> task Z { dist.yield }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{region ends with dist.yield}}
    dist.on <dp = 0> { pd.opaque "last" : () -> () }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D9: selects every rank; leave the guard out}}
    dist.on <> { dist.yield }
  }
}
// -----
dist.mesh @w [pp = 2]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %l = dist.on <pp = 1> -> (!dist.at<tensor<2xf32>, pp = 1>) { dist.yield %x : tensor<2xf32> }
    // expected-error @+1 {{arguments of the region are not of the operands' types}}
    "dist.on"(%l) ({
    ^bb0(%a: tensor<3xf32>):
      dist.yield
    }, {
    }) {where = #dist.sel<pp = 1>} : (!dist.at<tensor<2xf32>, pp = 1>) -> ()
  }
}
// -----
dist.mesh @w [pp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D6: nothing located at the guard's ranks exists in its else-body}}
    "dist.on"() ({
      dist.yield
    }, {
    ^bb0(%a: tensor<2xf32>):
      dist.yield
    }) {where = #dist.sel<pp = 1>} : () -> ()
  }
}
// -----
dist.mesh @s [ps = 3]
dist.role @server on @s {
  pd.var @A : tensor<?x2xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(9, per 3, first 0))>}
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{results have the types of the initial values}}
    %r = "dist.foreach_block"(%x) ({
    ^bb0(%k: tensor<1xi64>, %a: tensor<2xf32>):
      dist.yield %a : tensor<2xf32>
    }) {var = @A} : (tensor<2xf32>) -> tensor<3xf32>
  }
}
// -----
dist.mesh @w [dp = 2] time [micro = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{results have the types of the initial values}}
    %r = "dist.micro"(%x) ({
    ^bb0(%a: tensor<2xf32>):
      dist.yield %a : tensor<2xf32>
    }) {axes = ["micro"], schedule = "1F1B", chunks = 1 : i64} : (tensor<2xf32>) -> tensor<3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D17: every operand has a slot, every result a slot and a name}}
    %r = "dist.composite"(%x) ({
    ^bb0(%a: tensor<2xf32>):
      dist.yield %a : tensor<2xf32>
    }) {op = "relu", input_slots = [], output_slots = ["Out"], output_names = ["y"], attrs = {}} : (tensor<2xf32>) -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      // expected-error @+1 {{no handler is called 'poll'; known are round, push, pull, lookup}}
      dist.handle poll @A { dist.yield }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      // expected-error @+1 {{D18: a server's body has dist.handle only}}
      pd.opaque "other" : () -> ()
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle lookup @A (%ids: tensor<?x1xi64>) { dist.yield }
      // expected-error @+1 {{D18: a second handler of the same request}}
      dist.handle lookup @A (%ids: tensor<?x1xi64>) { dist.yield }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.program @main {
    // expected-error @+1 {{D18: mode sync needs a round}}
    dist.serve on @ps mode sync { }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.program @main {
    // expected-error @+1 {{D18: a round exists in mode sync only}}
    dist.serve on @ps mode async {
      dist.handle round { dist.yield }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.program @main {
    dist.serve on @ps mode async {
      // expected-error @+1 {{D18: every handler but the round names a variable}}
      "dist.handle"() ({
      ^bb0(%ids: tensor<?x1xi64>):
        dist.yield
      }) {kind = #dist<handler lookup>} : () -> ()
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 2]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode sync {
      // expected-error @+1 {{region ends with dist.yield}}
      dist.handle round { pd.opaque "last" : () -> () }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D22: a started operation has one result}}
    %p:2 = dist.all_reduce sum (%x, %x) on @c : (tensor<2xf32>, tensor<2xf32>) -> (!dist.pending<tensor<2xf32>>, !dist.pending<tensor<2xf32>>)
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D24: has no operand}}
    dist.all_reduce sum () on @c : () -> ()
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D25: cannot cut or join a value of type '!pd.tape'}}
    %r = dist.all_gather (%x) on @c dim 0 : (tensor<2xf32>) -> !pd.tape
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D25: there is no dim 1 in 'tensor<4xf32>'}}
    %r = dist.all_gather (%x) on @c dim 1 : (tensor<2xf32>) -> tensor<4xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D23: the result is located at the root: '!dist.at<tensor<2xf32>, dp = 1>', not 'tensor<2xf32>'}}
    %r = dist.reduce sum (%x) on @c to <dp = 1> : (tensor<2xf32>) -> tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2x2xf32>
    // expected-error @+1 {{D25: cannot cut 'tensor<2x2xf32>' along dim 0 into 'tensor<1x4xf32>' along dim 0}}
    %r = dist.all_to_all (%x) on @c split 0 concat 0 : (tensor<2x2xf32>) -> tensor<1x4xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2x9223372036854775807xf32>
    // expected-error @+1 {{D25: dim 1 of 'tensor<2x9223372036854775807xf32>' times 2 members is too large}}
    %r = dist.all_to_all (%x) on @c split 0 concat 1 : (tensor<2x9223372036854775807xf32>) -> tensor<1x4xf32>
  }
}
// -----
dist.mesh @w [pp = 2]
dist.comm @f on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D23: moves one located type to the same type elsewhere}}
    %r = dist.transfer %x on @f : tensor<2xf32> -> !dist.at<tensor<2xf32>, pp = 1>
  }
}
// -----
dist.mesh @w [dp = 2, pp = 2]
dist.comm @f on @w over [pp] pairs
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %l = dist.on <dp = 0 and pp = 0> -> (!dist.at<tensor<2xf32>, dp = 0 and pp = 0>) { dist.yield %x : tensor<2xf32> }
    // expected-error @+1 {{D23: the location changes along another axis than 'pp'}}
    %r = dist.transfer %l on @f : !dist.at<tensor<2xf32>, dp = 0 and pp = 0> -> !dist.at<tensor<2xf32>, dp = 1 and pp = 1>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    %p = dist.all_reduce sum (%x) on @c : (tensor<2xf32>) -> !dist.pending<tensor<2xf32>>
    // expected-error @+1 {{D22: yields what was started: '!dist.pending<tensor<2xf32>>'}}
    %r = dist.wait %p : (!dist.pending<tensor<2xf32>>) -> tensor<3xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D25: cannot cut 'tensor<2xf32>' along dim 1}}
    %r = dist.slice %x dim 1 layout <even(2)> over [dp] : tensor<2xf32> -> tensor<1xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<4xf32>
    // expected-error @+1 {{D25: part and whole have different element types}}
    %r = dist.slice %x dim 0 layout <blocks(4, per 1, first 0)> over [dp] : tensor<4xf32> -> tensor<?xi64>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D9: a coordinate is 'tensor<1xi64>'}}
    %r = dist.coord "dp" : tensor<1xi32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.comm @c on @w over [dp] group
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D25: cannot cut or join a value of type '!pd.tape'}}
    %r = dist.reduce_scatter sum (%x) on @c dim 0 : (tensor<2xf32>) -> !pd.tape
  }
}
