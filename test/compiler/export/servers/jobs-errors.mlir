// Jobs of servers that are none of the framework's, by name: their roles, tables and rounds.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --export-servers="role=server endpoints=h0:1,h1:2"

// Nobody serves.
// expected-error @+1 {{export: the job has no role that serves others}}
module {
  dist.mesh @workers [dp = 2]
  dist.role @trainer on @workers {
    pd.program @main {}
  }
}

// -----

// Nobody asks.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
// expected-error @+1 {{export: nobody asks this role}}
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

// One endpoint too few.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 3]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
// expected-error @+1 {{export: 3 servers need as many endpoints, not 2}}
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

// Servers on a grid.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1, row = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  // expected-error @+1 {{export: 'w' is cut along one of several axes of the servers: the framework's servers stand in one row}}
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

// No program.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
// expected-error @+1 {{export: has no pd.program @main}}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
}

// -----

// Something else than serving.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    // expected-error @+1 {{export: stands beside dist.serve, and the framework's servers do nothing else}}
    %z = pd.fill_constant -> Out("z") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xf32>
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

// An op of a job that the framework has none for.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @v : tensor<1xf32>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        %z = pd.fill_constant -> Out("z") {dtype = 5 : i32, shape = array<i64: 2>, value = 0.0 : f32} : () -> tensor<2xf32>
        // expected-error @+1 {{export: dist.slice has no translation into operators of the framework's servers}}
        %y = dist.slice %z dim 0 layout <even(2)> over [ps] : tensor<2xf32> -> tensor<1xf32>
        pd.set @v, %y : tensor<1xf32>
        %q = pd.get @v : tensor<1xf32>
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%q) -> Out("w") : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// A branch that reads blocks.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @v : tensor<1xf32>
  pd.var @early : tensor<1xi1>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        %c = pd.get @early : tensor<1xi1>
        // expected-error @+1 {{export: 'w' is cut into blocks: the framework's servers see one of them at a time; read and set it inside of dist.foreach_block}}
        %s = pd.conditional_block Cond(%c) Input() -> Out() Scope("scope") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
          %a = pd.get @w : tensor<?x4xf32>
          %b = pd.squared_l2_norm X(%a) -> Out("n") {op_role = 2 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
          pd.set @v, %b : tensor<1xf32>
          pd.yield
        } : (tensor<1xi1>) -> !pd.tape
        %q = pd.get @v : tensor<1xf32>
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%q) -> Out("w") : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// A start-up that cuts in other blocks.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
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
  pd.program @startup {
    %a = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 5, 4>, value = 0.0 : f32} : () -> tensor<5x4xf32>
    // expected-error @+1 {{export: is cut otherwise than 'w'}}
    %b = dist.slice %a dim 0 layout <blocks(5, per 2, first 0)> over [ps] : tensor<5x4xf32> -> tensor<?x4xf32>
    pd.set @w, %b : tensor<?x4xf32>
  }
}

// -----

// A start-up that reads blocks.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @v : tensor<1xf32>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        %q = pd.get @v : tensor<1xf32>
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%w) Y(%q) -> Out("w") : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
  pd.program @startup {
    %a = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 5, 4>, value = 0.0 : f32} : () -> tensor<5x4xf32>
    %b = dist.slice %a dim 0 layout <blocks(5, per 3, first 0)> over [ps] : tensor<5x4xf32> -> tensor<?x4xf32>
    pd.set @w, %b : tensor<?x4xf32>
    // expected-error @+1 {{export: start-up reads 'w', or sets it inside of control flow: servers have blocks of it; set it at the top, once}}
    %w = pd.get @w : tensor<?x4xf32>
    %n = pd.squared_l2_norm X(%w) -> Out("n") : (tensor<?x4xf32>) -> tensor<1xf32>
    pd.set @v, %n : tensor<1xf32>
  }
}
