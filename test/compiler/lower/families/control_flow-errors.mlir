// Family control_flow: refusals name what is missing, and what a block may not do.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: select_input: needs an argument in input slot 'X'
pd.program @branch attributes {version = 2006002 : i64} {
  %a = pd.input "a" : tensor<4xf32>
  %m = pd.input "m" : tensor<1xi32>
  %y = pd.select_input X(%a, empty) Mask(%m) -> Out("y") : (tensor<4xf32>, tensor<1xi32>) -> tensor<4xf32>
}

// CHECK: error: conditional_block: an absent Cond is not supported natively
pd.program @always attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %y, %t = pd.conditional_block "$capture"(%x) Input(%x) -> Out("y") Scope("t") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = ["x"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = ["y"]}] {
  ^bb0(%arg0: tensor<4xf32>):
    %s = pd.sin X(%arg0) -> Out("y") : (tensor<4xf32>) -> tensor<4xf32>
    pd.yield %s : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, !pd.tape)
}

// Where the branch is not taken, y stays what it was.
// CHECK: error: conditional_block: variable y that changes its kind, type or rank in the block is not supported natively
pd.program @rank attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %c = pd.input "c" : tensor<1xi1>
  %y = pd.sin X(%x) -> Out("y") : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %y1, %t = pd.conditional_block "$capture"(%x, %y) Cond(%c) Input(%x) -> Out("y") Scope("t") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = ["x", "y"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = ["y"]}] {
  ^bb0(%arg0: tensor<2x3xf32>, %arg1: tensor<2x3xf32>):
    %s = pd.reduce_sum X(%arg0) -> Out("y") {dim = array<i32: 1>} : (tensor<2x3xf32>) -> tensor<2xf32>
    pd.yield %s : tensor<2xf32>
  } : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<1xi1>, tensor<2x3xf32>) -> (tensor<2xf32>, !pd.tape)
}

// CHECK: error: while: an absent Condition is not supported natively
pd.program @forever attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %y, %t = pd.while "$capture"(%x) X(%x) -> Out("x") StepScopes("t") {sub_block = #pd.block<1>} blocks [{captures = ["x"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = ["x"]}] {
  ^bb0(%arg0: tensor<4xf32>):
    %s = pd.sin X(%arg0) -> Out("x") : (tensor<4xf32>) -> tensor<4xf32>
    pd.yield %s : tensor<4xf32>
  } : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, !pd.tape)
}

// CHECK: error: recurrent: a recurrent block without a sequence input is not supported natively
pd.program @steps attributes {version = 2006002 : i64} {
  %h = pd.input "h" : tensor<4xf32>
  %y, %t = pd.recurrent "$capture"() initial_states(%h) -> outputs("y") step_scopes("t") {ex_states = ["before"], has_states = true, states = ["y"], sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = ["before"], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%arg0: tensor<4xf32>):
    %s = pd.sin X(%arg0) -> Out("y") : (tensor<4xf32>) -> tensor<4xf32>
    pd.yield
  } : (tensor<4xf32>) -> (tensor<?x4xf32>, !pd.tape)
}

// CHECK: error: recurrent: an absent sequence input is not supported natively
pd.program @hole attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3x4xf32>
  %y, %t = pd.recurrent "$capture"() inputs(%x, empty) -> outputs("y") step_scopes("t") {ex_states = [], has_states = false, states = [], sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = ["x"], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%arg0: tensor<4xf32>):
    %s = pd.sin X(%arg0) -> Out("y") : (tensor<4xf32>) -> tensor<4xf32>
    pd.yield
  } : (tensor<3x4xf32>) -> (tensor<3x4xf32>, !pd.tape)
}

// CHECK: error: while: the block captures 2 variables, slot '$capture' has 1
pd.program @captures attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %c = pd.input "c" : tensor<1xi1>
  %y, %t = pd.while "$capture"(%x) Condition(%c) X(%x) -> Out("x") StepScopes("t") {sub_block = #pd.block<1>} blocks [{captures = ["x", "c"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = ["x"]}] {
  ^bb0(%arg0: tensor<4xf32>, %arg1: tensor<1xi1>):
    %s = pd.sin X(%arg0) -> Out("x") : (tensor<4xf32>) -> tensor<4xf32>
    pd.yield %s : tensor<4xf32>
  } : (tensor<4xf32>, tensor<1xi1>, tensor<4xf32>) -> (tensor<4xf32>, !pd.tape)
}

// CHECK: error: assert: needs an argument in input slot 'Cond'
pd.program @unconditional attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  pd.assert Cond(empty) Data(%x) : (tensor<4xf32>) -> ()
}
