// A rate that two branches of the round set, of which one is taken: both stand before the update, in the block of the schedule.
// RUN: dtranspile-opt %s --export-servers="role=server endpoints=h0:1" 2>/dev/null | FileCheck %s

// CHECK: pd.listen_and_serv {{.*}}lr_decay_block_id = 1 : i32, {{.*}}optimize_blocks = #pd.blocks<[1, 4]>
// CHECK-SAME: idx = 1 : i32, locals = [], parent = 0 : i32
// CHECK-SAME: idx = 4 : i32, locals = [], parent = 3 : i32
// CHECK: pd.conditional_block {{.*}}-> Out("rate") {{.*}}sub_block = #pd.block<2>
// CHECK-SAME: idx = 2 : i32, {{.*}}parent = 1 : i32
// CHECK: pd.conditional_block {{.*}}-> Out("rate") {{.*}}sub_block = #pd.block<3>
// CHECK-SAME: idx = 3 : i32, {{.*}}parent = 1 : i32
// CHECK: pd.sgd
// CHECK-NOT: conditional_block

dist.mesh @workers [dp = 1]
dist.mesh @servers [ps = 1]
dist.comm @ps on @workers over [dp] rpc @server
dist.role @trainer on @workers {
  pd.program @main {
    %g = pd.input "w@GRAD" : tensor<4xf32>
    dist.push %g to @server::@w merge mean on @ps : tensor<4xf32>
    dist.phase push on @ps
    %n = dist.pull @server::@w on @ps : tensor<4xf32>
    dist.phase pull on @ps
  }
}
dist.role @server on @servers {
  pd.var @w : tensor<?xf32> {dist.rel = #dist.rel<"w", ps: S(0, blocks(4, per 4, first 0))>}
  pd.var @rate : tensor<1xf32>
  pd.var @early : tensor<1xi1>
  pd.program @main {
    dist.serve on @ps mode sync {
      dist.handle round {
        %c = pd.get @early : tensor<1xi1>
        %s0:2 = pd.conditional_block Cond(%c) Input() -> Out("rate") Scope("scope") {is_scalar_condition = true, op_role = 16 : i32, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
          %a = pd.fill_constant -> Out("rate") {dtype = 5 : i32, op_role = 16 : i32, shape = array<i64: 1>, value = 0.1 : f32} : () -> tensor<1xf32>
          pd.set @rate, %a : tensor<1xf32>
          pd.yield
        } : (tensor<1xi1>) -> (tensor<1xf32>, !pd.tape)
        %d = pd.logical_not X(%c) -> Out("late") {op_role = 16 : i32} : (tensor<1xi1>) -> tensor<1xi1>
        %s1:2 = pd.conditional_block Cond(%d) Input() -> Out("rate") Scope("scope") {is_scalar_condition = true, op_role = 16 : i32, sub_block = #pd.block<2>} blocks [{captures = [], idx = 2 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
          %b = pd.fill_constant -> Out("rate") {dtype = 5 : i32, op_role = 16 : i32, shape = array<i64: 1>, value = 0.2 : f32} : () -> tensor<1xf32>
          pd.set @rate, %b : tensor<1xf32>
          pd.yield
        } : (tensor<1xi1>) -> (tensor<1xf32>, !pd.tape)
        %r = pd.get @rate : tensor<1xf32>
        dist.foreach_block @w (%k) {
          %g = dist.merged @w : tensor<?xf32>
          %w = pd.get @w : tensor<?xf32>
          %new = pd.sgd Grad(%g) LearningRate(%r) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
          pd.set @w, %new : tensor<?xf32>
          dist.yield
        }
        dist.yield
      }
    }
  }
}
