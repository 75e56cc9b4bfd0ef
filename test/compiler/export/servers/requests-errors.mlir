// Requests that the framework's trainers cannot make, by name.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --export-servers="role=trainer endpoints=h0:1"

// A push in a branch.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %c = pd.input "c" : tensor<1xi1>
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    %s = pd.conditional_block "$capture"(%g) Cond(%c) Input(%g) -> Out() Scope("s") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = ["w@GRAD"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    ^bb0(%h: tensor<5x4xf32>):
      // expected-error @+1 {{export: dist.push inside of control flow: the framework's servers wait for every trainer in every step}}
      dist.push %h to @server::@w merge mean on @ps : tensor<5x4xf32>
      pd.yield
    } : (tensor<5x4xf32>, tensor<1xi1>, tensor<5x4xf32>) -> !pd.tape
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// Two pulls of one table.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    // expected-error @+1 {{export: 'w' is pulled twice in a step}}
    %m = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// A lookup in what is no table.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %i = pd.input "i" : tensor<?x1xi64>
    // expected-error @+1 {{export: @server::@u is no table of the servers}}
    %t = dist.remote @server::@u : tensor<5x4xf32>
    %x = dist.composite "lookup_table" (W = %t : tensor<5x4xf32>, Ids = %i : tensor<?x1xi64>) -> (Out as "x" : tensor<?x4xf32>) attrs {is_sparse = true} {
    ^bb0(%w: tensor<5x4xf32>, %ids: tensor<?x1xi64>):
      %rows = dist.lookup %ids in @server::@u as "x" on @ps : tensor<?x1xi64> -> tensor<?x4xf32>
      dist.yield %rows : tensor<?x4xf32>
    }
  }
  pd.program @startup {
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @u : tensor<5x4xf32>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// A lookup by trainers without start-up.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %i = pd.input "i" : tensor<?x1xi64>
    // expected-error @+1 {{export: 'w' is looked up, and the trainers have no start-up program to fake it}}
    %t = dist.remote @server::@w : tensor<5x4xf32>
    %x = dist.composite "lookup_table" (W = %t : tensor<5x4xf32>, Ids = %i : tensor<?x1xi64>) -> (Out as "x" : tensor<?x4xf32>) attrs {is_sparse = true} {
    ^bb0(%w: tensor<5x4xf32>, %ids: tensor<?x1xi64>):
      %rows = dist.lookup %ids in @server::@w as "x" on @ps : tensor<?x1xi64> -> tensor<?x4xf32>
      dist.yield %rows : tensor<?x4xf32>
    }
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// A lookup with two results.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %i = pd.input "i" : tensor<?x1xi64>
    %t = dist.remote @server::@w : tensor<5x4xf32>
    // expected-error @+1 {{export: is no lookup}}
    %x:2 = dist.composite "lookup_table" (W = %t : tensor<5x4xf32>, Ids = %i : tensor<?x1xi64>) -> (Out as "x" : tensor<?x4xf32>, Rows as "y" : tensor<?x4xf32>) attrs {is_sparse = true} {
    ^bb0(%w: tensor<5x4xf32>, %ids: tensor<?x1xi64>):
      %rows = dist.lookup %ids in @server::@w as "x" on @ps : tensor<?x1xi64> -> tensor<?x4xf32>
      dist.yield %rows, %rows : tensor<?x4xf32>, tensor<?x4xf32>
    }
  }
  pd.program @startup {
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// A lookup in a branch.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %c = pd.input "c" : tensor<1xi1>
    %i = pd.input "i" : tensor<?x1xi64>
    %s = pd.conditional_block "$capture"(%i) Cond(%c) Input(%i) -> Out() Scope("s") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = ["i"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    ^bb0(%j: tensor<?x1xi64>):
      // expected-error @+1 {{export: 'w' is looked up inside of control flow: the framework's trainers ask at the top of a program; pull the table}}
      %t = dist.remote @server::@w : tensor<5x4xf32>
      %x = dist.composite "lookup_table" (W = %t : tensor<5x4xf32>, Ids = %j : tensor<?x1xi64>) -> (Out as "x" : tensor<?x4xf32>) attrs {is_sparse = true} {
      ^bb0(%w: tensor<5x4xf32>, %ids: tensor<?x1xi64>):
        %rows = dist.lookup %ids in @server::@w as "x" on @ps : tensor<?x1xi64> -> tensor<?x4xf32>
        dist.yield %rows : tensor<?x4xf32>
      }
      pd.yield
    } : (tensor<?x1xi64>, tensor<1xi1>, tensor<?x1xi64>) -> !pd.tape
  }
  pd.program @startup {
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%g) -> Out("w") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}
