// What the framework's trainers cannot ask of servers, by name.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --export-servers="role=trainer endpoints=h0:1"

// Every gradient for itself.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    // expected-error @+1 {{export: `merge each` belongs to asynchronous modes, and these servers have rounds; push with mean or sum}}
    dist.push %g to @server::@w merge each on @ps : tensor<5x4xf32>
    dist.phase push on @ps
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

// Rows of a table.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    %i = pd.input "i" : tensor<2x1xi64>
    // expected-error @+1 {{export: dist.lookup stands in no lookup_table: pull the table}}
    %r = dist.lookup %i in @server::@w on @ps : tensor<2x1xi64> -> tensor<2x4xf32>
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

// Pushes without end.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  // expected-error @+1 {{export: its pushes have no end: the framework's servers wait for it}}
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
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

// Pulls without end.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.phase push on @ps
    // expected-error @+1 {{export: its phase has no end: the framework's servers wait for the end of the pulls}}
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
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

// Two pushes of one table.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    // expected-error @+1 {{export: 'w' is pushed twice in a step}}
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
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

// A value that is not there yet.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    // expected-error @+1 {{export: takes 'w' before the end of the pulls, where the framework's trainers have it; move it after dist.phase pull}}
    %s = pd.relu X(%n) -> Out("s") : (tensor<5x4xf32>) -> tensor<5x4xf32>
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

// Trainers among themselves.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.comm @all on @workers over [dp] group
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    // expected-error @+1 {{export: dist.all_reduce among 2 trainers}}
    %s = dist.all_reduce sum (%g) on @all : (tensor<5x4xf32>) -> tensor<5x4xf32>
    dist.push %s to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
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
