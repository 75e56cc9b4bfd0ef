// What the framework has no programs for, by name.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --export-servers="role=server endpoints=h0:1,h1:2"

// A norm over the parameters of both.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.comm @all on @servers over [ps] group
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
        %z = pd.fill_constant -> Out("z") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.0 : f32} : () -> tensor<1xf32>
        %q = dist.foreach_block @w (%k) iter(%a = %z : tensor<1xf32>) -> (tensor<1xf32>) {
          %g = dist.merged @w : tensor<?x4xf32>
          %n = pd.squared_l2_norm X(%g) -> Out("n") : (tensor<?x4xf32>) -> tensor<1xf32>
          %s = pd.sum X(%a, %n) -> Out("s") : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
          dist.yield %s : tensor<1xf32>
        }
        // expected-error @+1 {{export: dist.all_reduce among 2 servers: the framework's servers and trainers talk to each other, not among themselves}}
        %t = dist.all_reduce sum (%q) on @all : (tensor<1xf32>) -> tensor<1xf32>
        dist.yield
      }
    }
  }
}

// -----

// Asynchronous modes.
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
    // expected-error @+1 {{export: mode half_async has no translation yet; sync and async have}}
    dist.serve on @ps mode half_async {
    }
  }
}

// -----

// Steps that are counted.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge each on @ps : tensor<5x4xf32>
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    dist.serve on @ps mode async {
      // expected-error @+1 {{export: counts steps, and the framework's servers without rounds run a schedule of the rate once, when they start; train with a rate that stays, or with rounds}}
      dist.handle push @w (%from: tensor<1xi64>) {
        dist.yield
      }
    }
  }
}

// -----

// What was pulled is taken.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge each on @ps : tensor<5x4xf32>
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    dist.serve on @ps mode async {
      // expected-error @+1 {{export: takes what its trainer has pulled (enable_dc_asgd), which has no translation yet}}
      dist.handle push @w (%from: tensor<1xi64>) {
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %b = pd.get @w {dist.as_pulled} : tensor<?x4xf32>
          %n = pd.elementwise_sub X(%b) Y(%g) -> Out("w") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// A rate that is computed anew beside the update.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge each on @ps : tensor<5x4xf32>
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @w (%from: tensor<1xi64>) {
        %lr = pd.get @lr : tensor<1xf32>
        // expected-error @+1 {{export: is computed beside the updates, and the framework's servers without rounds run the update of the gradient that has come, and nothing else; use rounds}}
        %half = pd.scale X(%lr) -> Out("half") {bias = 0.0 : f32, bias_after_scale = true, scale = 0.5 : f32} : (tensor<1xf32>) -> tensor<1xf32>
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.sgd Grad(%g) LearningRate(%half) Param(%w) -> ParamOut("w") : (tensor<?x4xf32>, tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// Gradients that wait in queues.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
// expected-error @+1 {{export: gradients wait in queues of the trainer (max_merge_var_num, send_queue_size and their like): exported programs run without the framework's communicator, and send each of them at once; leave these fields at their defaults}}
dist.comm @ps on @workers over [dp] rpc @server {dist.sending = {send_queue_size = 2 : i64}}
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    dist.push %g to @server::@w merge each on @ps : tensor<5x4xf32>
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.program @main {
    dist.serve on @ps mode async {
    }
  }
}

// -----

// A cut variable outside of the loops over its blocks.
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
  pd.var @all : tensor<1xf32>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        // expected-error @+1 {{export: 'w' is merged outside of dist.foreach_block: the framework's servers see one block at a time}}
        %g = dist.merged @w : tensor<?x4xf32>
        %n = pd.squared_l2_norm X(%g) -> Out("n") : (tensor<?x4xf32>) -> tensor<1xf32>
        pd.set @all, %n : tensor<1xf32>
        dist.foreach_block @w (%k) {
          %w = pd.get @w : tensor<?x4xf32>
          %m = pd.elementwise_mul X(%w) Y(%n) -> Out("w") : (tensor<?x4xf32>, tensor<1xf32>) -> tensor<?x4xf32>
          pd.set @w, %m : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}

// -----

// Whole on every server.
dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<5x4xf32>
    // expected-error @+1 {{export: 'w' lies whole on every server: the framework asks one server for a block; cut it into blocks}}
    dist.push %g to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<5x4xf32>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {

        dist.yield
      }
    }
  }
}

// -----

// Cut by other dims than rows.
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
  // expected-error @+1 {{export: 'w' is cut otherwise than into blocks of rows, which the framework's servers hold}}
  pd.var @w : tensor<5x?xf32> {dist.rel = #dist.rel<"w", ps: S(1, blocks(4, per 2, first 0))>}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {

        dist.yield
      }
    }
  }
}

// -----

// Start-up that is no part of a whole value.
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
    %w = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 3, 4>, value = 0.0 : f32} : () -> tensor<?x4xf32>
    // expected-error @+1 {{export: start-up sets 'w', which is cut into blocks, to something else than a dist.slice of its whole value}}
    pd.set @w, %w : tensor<?x4xf32>
  }
}

// -----

// A role beside them.
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
}
// expected-error @+1 {{export: jobs of servers and trainers are exported; @others is a role beside them}}
dist.role @others on @workers {
  pd.program @main {}
}

// -----

// What a branch of the update would have set.
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
        %f = pd.fill_constant -> Out("f") {dtype = 2 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi32>
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          // expected-error @+1 {{export: selects what a round sets (select-updates, of amp and lookahead), and the framework's updates work in place}}
          %n = pd.select_input Mask(%f) X(%w, %g) -> Out("w") {op_role = 2 : i32} : (tensor<1xi32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}
