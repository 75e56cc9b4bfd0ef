// Servers that apply every push by itself: no barriers, one name for the gradients of all trainers, a block per gradient.
// RUN: dtranspile-opt %s --export-servers="role=trainer rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=TRAINER
// RUN: dtranspile-opt %s --export-servers="role=server rank=0 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s --check-prefix=SERVER

// TRAINER: pd.program @main
// TRAINER: %[[GB:.*]] = pd.square_grad {{.*}} -> "X@GRAD"("b@GRAD")
// TRAINER-NEXT: %[[SB:.*]] = pd.send X(%[[GB]]) -> Out("__control_var@0") {epmap = ["h0:1"]
// TRAINER: %[[P:.*]]:2 = pd.split_byref X({{.*}}) -> Out("w@GRAD.block0", "w@GRAD.block1")
// TRAINER-NEXT: %[[SW:.*]] = pd.send X(%[[P]]#0, %[[P]]#1)
// TRAINER-NOT: barrier
// TRAINER: %[[B:.*]] = pd.recv X(%[[SB]]) -> Out("b") {epmap = ["h0:1"], op_role = 4 : i32, op_role_var = ["b", "b@GRAD"]
// TRAINER-NEXT: pd.set @b, %[[B]]
// TRAINER-NEXT: %[[W:.*]]:2 = pd.recv X(%[[SW]]) -> Out("w.block0", "w.block1")
// TRAINER-NEXT: %[[ALL:.*]] = pd.concat X(%[[W]]#0, %[[W]]#1) -> Out("w")
// TRAINER-NEXT: pd.set @w, %[[ALL]]
// TRAINER-NOT: barrier
// TRAINER: pd.program @startup
// TRAINER: pd.recv X() -> Out("b")
// TRAINER: pd.fetch_barrier X() -> Out("__control_var@0")

// SERVER-DAG: pd.var @"b@GRAD" : tensor<4xf32>
// SERVER-DAG: pd.var @"w@GRAD.block0" : tensor<3x4xf32>
// SERVER: pd.listen_and_serv
// SERVER-SAME: Fanin = 2 : i32
// SERVER-SAME: dc_asgd = false, distributed_mode = 2 : i32
// SERVER-SAME: grad_to_block_id = ["b@GRAD:1", "w@GRAD.block0:2"], lr_decay_block_id = -1 : i32
// SERVER-NOT: pd.sum
// SERVER-NOT: 5.000000e-01
// SERVER: pd.get @"b@GRAD"
// SERVER: pd.sgd {{.*}} -> ParamOut("b")
// SERVER: pd.get @"w@GRAD.block0"
// SERVER: pd.sgd {{.*}} -> ParamOut("w.block0")

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
    dist.push %gb to @server::@b merge each on @ps : tensor<4xf32>
    %gw = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<5x4xf32>, tensor<5x4xf32>) -> tensor<5x4xf32>
    dist.push %gw to @server::@w merge each on @ps : tensor<5x4xf32>
    %nb = dist.pull @server::@b on @ps : tensor<4xf32>
    pd.set @b, %nb : tensor<4xf32>
    %nw = dist.pull @server::@w on @ps : tensor<5x4xf32>
    pd.set @w, %nw : tensor<5x4xf32>
  }
  pd.program @startup {
    %b = dist.pull @server::@b on @ps : tensor<4xf32>
    pd.set @b, %b : tensor<4xf32>
    %w = dist.pull @server::@w on @ps : tensor<5x4xf32>
    pd.set @w, %w : tensor<5x4xf32>
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?x4xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(5, per 3, first 0))>, parameter}
  pd.var @b : tensor<?xf32> {dist.rel = #dist.rel<"b", ps: S(0, blocks(4, per 4, first 0))>, parameter}
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    dist.serve on @ps mode async {
      dist.handle push @b (%from: tensor<1xi64>) {
        %lr = pd.get @lr : tensor<1xf32>
        dist.foreach_block @b (%k) {
          %g = dist.merged @b : tensor<?xf32>
          %b = pd.get @b : tensor<?xf32>
          %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
          pd.set @b, %n : tensor<?xf32>
          dist.yield
        }
        dist.yield
      }
      dist.handle push @w (%from: tensor<1xi64>) {
        %lr = pd.get @lr : tensor<1xf32>
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?x4xf32>
          %w = pd.get @w : tensor<?x4xf32>
          %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<?x4xf32>, tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
          pd.set @w, %n : tensor<?x4xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
  pd.program @startup {
    %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 0.1 : f32} : () -> tensor<1xf32>
    pd.set @lr, %lr : tensor<1xf32>
  }
}
