// Constraints of loops over blocks and micro-batches, composites and servers; the labels are those of docs/dialects/dist.md.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics

dist.mesh @s [ps = 3]
dist.comm @srv on @s over [ps] group
dist.role @server on @s {
  pd.var @A : tensor<?x2xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(9, per 3, first 0))>}
  pd.program @main {
    // expected-note @+1 {{the loop over blocks}}
    dist.foreach_block @A (%k) {
      // expected-error @+1 {{D10: communicates once per owned block}}
      dist.barrier on @srv
      dist.yield
    }
  }
}
// -----
dist.mesh @s [ps = 3]
dist.role @server on @s {
  pd.var @A : tensor<9x2xf32> {dist.rel = #dist.rel<"A">}
  pd.program @main {
    // expected-error @+1 {{D11: @A is no variable that is cut into blocks}}
    dist.foreach_block @A (%k) { dist.yield }
  }
}
// -----
dist.mesh @s [ps = 3]
dist.role @server on @s {
  pd.var @A : tensor<?x2xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(9, per 3, first 0))>}
  pd.var @B : tensor<?x2xf32> {dist.rel = #dist.rel<"B", ps: S(0, blocks(9, per 3, first 1))>}
  pd.program @main {
    dist.foreach_block @A (%k) {
      // expected-error @+1 {{D11: @B is cut otherwise than @A}}
      %b = pd.get @B : tensor<?x2xf32>
      dist.yield
    }
  }
}
// -----
dist.mesh @s [ps = 3]
dist.role @server on @s {
  pd.var @A : tensor<3x?xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(9, per 3, first 0))>}
  pd.program @main {
    // expected-error @+1 {{D12: the local type of @A has `?` exactly in the blocked dim 0}}
    dist.foreach_block @A (%k) { dist.yield }
  }
}
// -----
dist.mesh @w [dp = 2] time [micro = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // expected-error @+1 {{D13: iteration value 0 is not its old value plus terms, nor running statistics that one op moves}}
    %m = dist.micro over [micro] schedule ("1F1B", chunks 1) iter(%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
      %y = pd.relu X(%a) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
      dist.yield %y : tensor<2xf32>
    }
  }
}
// -----
dist.mesh @w [dp = 2] time [micro = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // An op of the program adds what the program says, once.
    // expected-error @+1 {{D13: iteration value 0 is not its old value plus terms, nor running statistics that one op moves}}
    %m = dist.micro over [micro] schedule ("1F1B", chunks 1) iter(%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
      %y = pd.elementwise_add X(%a) Y(%x) -> Out("y") with {dist.src = 1 : i64} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      dist.yield %y : tensor<2xf32>
    }
  }
}
// -----
dist.mesh @w [dp = 2] time [micro = 4]
dist.role @trainer on @w {
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    // Outside of the guard something else goes on.
    // expected-error @+1 {{D13: iteration value 0 is not its old value plus terms, nor running statistics that one op moves}}
    %m = dist.micro over [micro] schedule ("1F1B", chunks 1) iter(%a = %x : tensor<2xf32>) -> (tensor<2xf32>) {
      %s = dist.on <dp = 0> -> (tensor<2xf32>) {
        %y = pd.elementwise_add X(%a) Y(%x) -> Out("y") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
        dist.yield %y : tensor<2xf32>
      } else {
        dist.yield %x : tensor<2xf32>
      }
      dist.yield %s : tensor<2xf32>
    }
  }
}
// -----
dist.mesh @w [dp = 2] time [micro = 4]
dist.role @trainer on @w {
  pd.var @v : tensor<2xf32>
  pd.program @main {
    %x = pd.input "x" : tensor<2xf32>
    dist.micro over [micro] schedule ("1F1B", chunks 1) {
      // expected-error @+1 {{D16: sets @v once per micro-batch}}
      pd.set @v, %x : tensor<2xf32>
      dist.yield
    }
  }
}
// -----
dist.mesh @w [dp = 2] time [micro = 4]
dist.role @trainer on @w {
  pd.program @main {
    // expected-error @+1 {{D9: 'dp' is no time axis here}}
    dist.micro over [dp] schedule ("1F1B", chunks 1) { dist.yield }
  }
}
// -----
pd.program @main {
  %x = pd.input "x" : tensor<2xf32>
  %0 = dist.composite "c_softmax" (X = %x : tensor<2xf32>) -> (Out as "y" : tensor<2xf32>) attrs {} {
  ^bb0(%a: tensor<2xf32>):
    // expected-error @+1 {{D17: the body of a composite has ops of pd and dist only}}
    %b = builtin.unrealized_conversion_cast %a : tensor<2xf32> to tensor<2xf32>
    dist.yield %b : tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.program @main {
    // expected-error @+1 {{D18: mode sync needs a round}}
    dist.serve on @ps mode sync {}
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.program @main {
    // expected-error @+1 {{D18: exists in a round, and in the push handler of its variable}}
    %0 = dist.merged @A : tensor<2xf32>
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      // expected-error @+1 {{D18: takes 1 arguments, not 2}}
      dist.handle push @A (%g: tensor<2xf32>, %from: tensor<1xi64>) { dist.yield }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      // expected-error @+1 {{D18: the number of the sender is tensor<1xi64>, not 'tensor<2xf32>'}}
      dist.handle push @A (%g: tensor<2xf32>) { dist.yield }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.var @B : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @A (%from: tensor<1xi64>) {
        // expected-error @+1 {{D18: exists in a round, and in the push handler of its variable}}
        %g = dist.merged @B : tensor<2xf32>
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.var @B : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @A (%from: tensor<1xi64>) {
        %g = dist.merged @A : tensor<2xf32>
        // expected-error @+1 {{D35: sets @B, which has a push handler of its own}}
        pd.set @B, %g : tensor<2xf32>
        dist.yield
      }
      // expected-note @+1 {{that handler; requests for other variables are answered while this one runs}}
      dist.handle push @B (%from: tensor<1xi64>) { dist.yield }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.comm @srv on @s over [ps] group
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @A (%from: tensor<1xi64>) {
        // expected-error @+1 {{D19: a handler of single requests takes no part in group communication}}
        dist.barrier on @srv
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.comm @dp on @w over [dp] group
dist.role @server on @s {
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        // expected-error @+1 {{D20: comm @dp is over another mesh than role @server}}
        dist.barrier on @dp
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] group
dist.role @server on @s {
  pd.program @main {
    // expected-error @+1 {{D23: serves @ps, which is no rpc comm to the role it stands in}}
    dist.serve on @ps mode async {}
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2xf32>
  pd.var @B : tensor<2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle pull @A (%from: tensor<1xi64>) {
        %a = pd.get @A : tensor<2xf32>
        // expected-error @+1 {{D37: sets @B in the handler of requests for @A}}
        pd.set @B, %a : tensor<2xf32>
        dist.yield
      }
      // expected-note @+1 {{which is asked for by itself}}
      dist.handle push @B (%from: tensor<1xi64>) {
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @trainer on @w {
  pd.program @main {
    // expected-note @+1 {{which is asked for by itself}}
    %b = dist.pull @server::@B on @ps : tensor<2x2xf32>
  }
}
dist.role @server on @s {
  pd.var @A : tensor<2x2xf32>
  pd.var @B : tensor<2x2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle lookup @A (%ids: tensor<?x1xi64>) {
        %a = pd.get @A : tensor<2x2xf32>
        // expected-error @+1 {{D37: sets @B in the handler of requests for @A}}
        pd.set @B, %a : tensor<2x2xf32>
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2x2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      // expected-error @+1 {{D18: the ids of a lookup are tensor<?x1xi64>, not 'tensor<4x1xi64>'}}
      dist.handle lookup @A (%ids: tensor<4x1xi64>) {
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server {dist.sending = {thread_pool_size = 2 : i64}}
dist.role @server on @s {
  pd.var @A : tensor<2x2xf32>
  pd.program @main {
    // expected-error @+1 {{D38: gradients wait for the round of all trainers, and "ps" has them wait in queues too}}
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
// expected-error @+1 {{D38: merges 20 gradients, which its queues never hold}}
dist.comm @ps on @w over [dp] rpc @server {dist.sending = {max_merge_var_num = 20 : i64}}
dist.role @server on @s {
  pd.var @A : tensor<2x2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @A (%from: tensor<1xi64>) {
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
// expected-error @+1 {{D38: trainers of these servers wait for their own pushes in every step}}
dist.comm @ps on @w over [dp] rpc @server {dist.sending = {min_send_grad_num_before_recv = 2 : i64}}
dist.role @server on @s {
  pd.var @A : tensor<2x2xf32>
  pd.program @main {
    dist.serve on @ps mode half_async {
      dist.handle push @A (%from: tensor<1xi64>) {
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
// expected-error @+1 {{D38: gradients are corrected by what their trainer has pulled last}}
dist.comm @ps on @w over [dp] rpc @server {dist.sending = {independent_recv_thread}}
dist.role @server on @s {
  pd.var @A : tensor<2x2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @A (%from: tensor<1xi64>) {
        %a = pd.get @A {dist.as_pulled} : tensor<2x2xf32>
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server {dist.sending = {thread_pool_size = 2 : i64}}
// expected-error @+1 {{D38: has other queues than "ps", which asks the same servers}}
dist.comm @more on @w over [dp] rpc @server
dist.role @server on @s {
  pd.var @A : tensor<2x2xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @A (%from: tensor<1xi64>) {
        dist.yield
      }
    }
  }
}
// -----
dist.mesh @w [dp = 2]
dist.mesh @s [ps = 3]
dist.comm @ps on @w over [dp] rpc @server
dist.role @trainer on @w {
  pd.program @main {
    %a = pd.fill_constant -> Out("a") {dtype = 5 : i32, shape = array<i64: 2, 2>, value = 1.0 : f32} : () -> tensor<2x2xf32>
    // expected-error @+1 {{D38: waits for the round of all trainers, and not in a queue}}
    dist.push %a to @server::@A merge mean on @ps {dist.at_once} : tensor<2x2xf32>
  }
}
dist.role @server on @s {
  pd.var @A : tensor<2x2xf32>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.yield
      }
    }
  }
}
