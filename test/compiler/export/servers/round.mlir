// Two trainers and two servers: @w is cut into two blocks, @b lies whole on server 1, the rate and its schedule on both.
// RUN: dtranspile-opt %s --export-servers="role=trainer rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=TRAINER
// RUN: dtranspile-opt %s --export-servers="role=server rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=SERVER
// RUN: dtranspile-opt %s --export-servers="role=server rank=0 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=OTHER

// The op that makes the gradient writes what is sent; cut, it is split first.
// TRAINER: pd.program @main
// TRAINER: %[[G:.*]] = pd.square_grad {{.*}} -> "X@GRAD"("b@GRAD.trainer_1") {{.*}}op_role_var = ["b", "b@GRAD.trainer_1"]
// TRAINER-NEXT: %[[SB:.*]] = pd.send X(%[[G]]) -> Out("__control_var@0") {epmap = ["h1:2"], op_role = 4 : i32, op_role_var = ["b", "b@GRAD.trainer_1"], sections = array<i64>, send_varnames = [], trainer_id = 0 : i32}
// TRAINER-NEXT: %[[GW:.*]] = pd.square_grad {{.*}} -> "X@GRAD"("w@GRAD")
// TRAINER-NEXT: %[[P:.*]]:2 = pd.split_byref X(%[[GW]]) -> Out("w@GRAD.block0.trainer_1", "w@GRAD.block1.trainer_1") {num = 0 : i32, op_role = 8 : i32, sections = array<i32: 3, 2>} : (tensor<5x4xf32>) -> (tensor<3x4xf32>, tensor<2x4xf32>)
// TRAINER-NEXT: %[[SW:.*]] = pd.send X(%[[P]]#0, %[[P]]#1) -> Out("__control_var@1") {epmap = ["h0:1", "h1:2"]
// TRAINER-NEXT: %[[SENT:.*]] = pd.send_barrier X(%[[SB]], %[[SW]]) -> Out("__control_var@2") {endpoints = ["h0:1", "h1:2"], half_async = false, op_role = 4 : i32, trainer_id = 1 : i32}
// TRAINER-NEXT: pd.recv X(%[[SENT]]) -> Out("b") {epmap = ["h1:2"]
// TRAINER-NEXT: pd.recv X(%[[SENT]]) -> Out("w.block0", "w.block1") {epmap = ["h0:1", "h1:2"]
// TRAINER-NEXT: %[[R:.*]]:3 = pd.fetch_barrier X(%[[SENT]]) -> Out("b", "w.block0", "w.block1")
// TRAINER-NEXT: pd.set @b, %[[R]]#0
// TRAINER-NEXT: %[[W:.*]] = pd.concat X(%[[R]]#1, %[[R]]#2) -> Out("w") {axis = 0 : i32, op_role = 8 : i32}
// TRAINER-NEXT: pd.set @w, %[[W]]
// TRAINER: pd.program @startup
// TRAINER: %[[B0:.*]] = pd.recv X() -> Out("b")
// TRAINER: pd.recv X() -> Out("w.block0", "w.block1")
// TRAINER: pd.fetch_barrier X() -> Out("__control_var@0")
// TRAINER: pd.concat

// Its own block, with moments of that size; the schedule first; the power of the decay rate with the update.
// SERVER-DAG: pd.var @b : tensor<4xf32>
// SERVER-DAG: pd.var @w.block1 : tensor<2x4xf32>
// SERVER-DAG: pd.var @w_moment : tensor<2x4xf32>
// SERVER-DAG: pd.var @"b@GRAD" : tensor<4xf32>
// SERVER: pd.program @main
// SERVER: pd.listen_and_serv "$capture"() "$capture"(%[[S0:.*]], %[[S1:.*]]) "$capture"(%[[W0:.*]], %[[W1:.*]]) X(%[[S0]], %[[S1]], %[[W0]], %[[W1]]) {Fanin = 2 : i32
// SERVER-SAME: endpoint = "h1:2", grad_to_block_id = ["b@GRAD:2", "w@GRAD.block1:3"], lr_decay_block_id = 1 : i32
// SERVER-SAME: optimize_blocks = #pd.blocks<[1, 2, 3]>
// SERVER-SAME: pserver_id = 1 : i32
// SERVER-SAME: idx = 1 : i32, locals = [], parent = 0 : i32
// SERVER-SAME: idx = 2 : i32, locals = [], parent = 1 : i32
// SERVER-SAME: idx = 3 : i32, locals = [], parent = 1 : i32
// SERVER: pd.scale X({{.*}}) -> Out("now")
// SERVER-NEXT: pd.set @now
// SERVER: ^bb0(%[[A0:.*]]: tensor<4xf32>, %[[A1:.*]]: tensor<4xf32>):
// SERVER: %[[SUM:.*]] = pd.sum X(%[[A0]], %[[A1]]) -> Out("b@GRAD") {op_role = 0 : i32, use_mkldnn = false}
// SERVER-NEXT: pd.scale X(%[[SUM]]) -> Out("b@GRAD") {op_role = 0 : i32, scale = 5.000000e-01 : f32}
// SERVER: pd.get @now
// SERVER: pd.sgd {{.*}} -> ParamOut("b")
// SERVER-NEXT: pd.set @b
// SERVER: pd.sum X({{.*}}) -> Out("w@GRAD.block1")
// SERVER: pd.adam {{.*}} -> Beta1PowOut("power") Beta2PowOut("power2") Moment1Out("w_moment") Moment2Out("w_moment2") ParamOut("w.block1")
// SERVER-NOT: pd.scale
// SERVER: pd.set @power,
// Initial values: rows of the whole, constants in the size of the block.
// SERVER: pd.program @startup
// SERVER: pd.decl "w" tensor of float32 [5, 4]
// SERVER-NOT: persistable
// SERVER: %[[ALL:.*]] = pd.uniform_random
// SERVER: pd.slice Input(%[[ALL]]) -> Out("w.block1") {axes = array<i32: 0>, ends = array<i32: 5>, op_role = 0 : i32, starts = array<i32: 3>}
// SERVER: pd.fill_constant -> Out("w_moment") {{.*}}shape = array<i64: 2, 4>

// What is not its own is not there.
// OTHER-NOT: @b :
// OTHER: pd.var @w.block0 : tensor<3x4xf32>
// OTHER-NOT: @b :
// OTHER: grad_to_block_id = ["w@GRAD.block0:2"], lr_decay_block_id = 1

dist.mesh @workers [dp = 2]
dist.mesh @servers [ps = 2]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.var @w : tensor<5x4xf32> {parameter}
  pd.var @b : tensor<4xf32> {parameter}
  pd.program @main {
    %x = pd.input "x" : tensor<5x4xf32>
    %y = pd.input "y" : tensor<4xf32>
    %w = pd.get @w : tensor<5x4xf32>
    %b = pd.get @b : tensor<4xf32>
    %gb = pd.square_grad "Out@GRAD"(%y) X(%b) -> "X@GRAD"("b@GRAD") {op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    dist.push %gb to @server::@b merge mean on @ps : tensor<4xf32>
    %gw = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    dist.push %gw to @server::@w merge mean on @ps : tensor<5x4xf32>
    dist.phase push on @ps
    %nb = dist.pull @server::@b on @ps : tensor<4xf32>
    pd.set @b, %nb : tensor<4xf32>
    %nw = dist.pull @server::@w on @ps : tensor<5x4xf32>
    pd.set @w, %nw : tensor<5x4xf32>
    dist.phase pull on @ps
  }
  pd.program @startup {
    %nb = dist.pull @server::@b on @ps : tensor<4xf32>
    pd.set @b, %nb : tensor<4xf32>
    %nw = dist.pull @server::@w on @ps : tensor<5x4xf32>
    pd.set @w, %nw : tensor<5x4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {parameter, dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @w_moment : tensor<?x4xf32> {dist.rel = #dist.rel<"w_moment", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @w_moment2 : tensor<?x4xf32> {dist.rel = #dist.rel<"w_moment2", ps: S(0, blocks(5, per 3, first 0))>}
  pd.var @b : tensor<?xf32> {parameter, dist.rel = #dist.rel<"b", ps: S(0, blocks(4, per 4, first 1))>}
  pd.var @power : tensor<1xf32> {dist.rel = #dist.rel<"power">}
  pd.var @power2 : tensor<1xf32> {dist.rel = #dist.rel<"power2">}
  pd.var @rate : tensor<1xf32> {dist.rel = #dist.rel<"rate">}
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        %rate = pd.get @rate : tensor<1xf32>
        %now = pd.scale X(%rate) -> Out("now") {op_role = 16 : i32, scale = 0.5 : f32} : (tensor<1xf32>) -> tensor<1xf32>
        %p = pd.get @power : tensor<1xf32>
        %p2 = pd.get @power2 : tensor<1xf32>
        dist.foreach_block @b (%k) {
          %g = dist.merged @b : tensor<?xf32>
          %b = pd.get @b : tensor<?xf32>
          %new = pd.sgd Grad(%g) LearningRate(%now) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
          pd.set @b, %new : tensor<?xf32>
          dist.yield
        }
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %m = pd.get @w_moment : tensor<?x4xf32>
          %v = pd.get @w_moment2 : tensor<?x4xf32>
          %q1, %q2, %nm, %nv, %new = pd.adam Beta1Pow(%p) Beta2Pow(%p2) Grad(%g) LearningRate(%now) Moment1(%m) Moment2(%v) Param(%w) -> Beta1PowOut("power") Beta2PowOut("power2") Moment1Out("w_moment") Moment2Out("w_moment2") ParamOut("w") {beta1 = 0.9 : f32, beta2 = 0.99 : f32, epsilon = 1.0e-08 : f32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<?x4xf32>, tensor<1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>)
          pd.set @w, %new : tensor<?x4xf32>
          pd.set @w_moment, %nm : tensor<?x4xf32>
          pd.set @w_moment2, %nv : tensor<?x4xf32>
          dist.yield
        }
        %np = pd.scale X(%p) -> Out("power") {op_role = 2 : i32, scale = 0.9 : f32} : (tensor<1xf32>) -> tensor<1xf32>
        pd.set @power, %np : tensor<1xf32>
        %np2 = pd.scale X(%p2) -> Out("power2") {op_role = 2 : i32, scale = 0.99 : f32} : (tensor<1xf32>) -> tensor<1xf32>
        pd.set @power2, %np2 : tensor<1xf32>
        dist.yield
      }
    }
  }
  pd.program @startup {
    %rate = pd.fill_constant -> Out("rate") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.5 : f32} : () -> tensor<1xf32>
    pd.set @rate, %rate : tensor<1xf32>
    %power = pd.fill_constant -> Out("power") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.9 : f32} : () -> tensor<1xf32>
    pd.set @power, %power : tensor<1xf32>
    %power2 = pd.fill_constant -> Out("power2") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.99 : f32} : () -> tensor<1xf32>
    pd.set @power2, %power2 : tensor<1xf32>
    %b = pd.fill_constant -> Out("b") {dtype = 5 : i32, shape = array<i64: 4>, value = 0.0 : f32} : () -> tensor<4xf32>
    %bs = dist.slice %b dim 0 layout <blocks(4, per 4, first 1)> over [ps] : tensor<4xf32> -> tensor<?xf32>
    pd.set @b, %bs : tensor<?xf32>
    %w = pd.uniform_random -> Out("w") {dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 20 : i32, shape = array<i64: 5, 4>} : () -> tensor<5x4xf32>
    %ws = dist.slice %w dim 0 layout <blocks(5, per 3, first 0)> over [ps] : tensor<5x4xf32> -> tensor<?x4xf32>
    pd.set @w, %ws : tensor<?x4xf32>
    %m = pd.fill_constant -> Out("w_moment") {dtype = 5 : i32, shape = array<i64: 5, 4>, value = 0.0 : f32} : () -> tensor<5x4xf32>
    %ms = dist.slice %m dim 0 layout <blocks(5, per 3, first 0)> over [ps] : tensor<5x4xf32> -> tensor<?x4xf32>
    pd.set @w_moment, %ms : tensor<?x4xf32>
    %v = pd.fill_constant -> Out("w_moment2") {dtype = 5 : i32, shape = array<i64: 5, 4>, value = 0.0 : f32} : () -> tensor<5x4xf32>
    %vs = dist.slice %v dim 0 layout <blocks(5, per 3, first 0)> over [ps] : tensor<5x4xf32> -> tensor<?x4xf32>
    pd.set @w_moment2, %vs : tensor<?x4xf32>
  }
}
