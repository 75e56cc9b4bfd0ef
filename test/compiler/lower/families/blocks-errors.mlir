// Blocks of loops, branches and recurrent ops that do not make what is asked of them; extents that nobody knows.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: while: output h, which the block does not write, is not supported natively
pd.program @w attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xf32>
  %c = pd.input "c" : tensor<1xi1>
  %n:2 = pd.while "$capture"(%x) Condition(%c) X(%x) -> Out("h") StepScopes("tape") {sub_block = #pd.block<1>} blocks [{captures = ["x"], idx = 1 : i32}] {
  ^bb0(%a: tensor<2xf32>):
    %q = pd.relu X(%a) -> Out("q") : (tensor<2xf32>) -> tensor<2xf32>
    pd.yield
  } : (tensor<2xf32>, tensor<1xi1>, tensor<2xf32>) -> (tensor<2xf32>, !pd.tape)
  %y = pd.relu X(%n#0) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
}

// CHECK: error: conditional_block: output h, which the block does not write, is not supported natively
pd.program @b attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xf32>
  %c = pd.input "c" : tensor<1xi1>
  %n:2 = pd.conditional_block "$capture"(%x) Cond(%c) Input(%x) -> Out("h") Scope("tape") {sub_block = #pd.block<1>, is_scalar_condition = true} blocks [{captures = ["x"], idx = 1 : i32}] {
  ^bb0(%a: tensor<2xf32>):
    %q = pd.relu X(%a) -> Out("q") : (tensor<2xf32>) -> tensor<2xf32>
    pd.yield
  } : (tensor<2xf32>, tensor<1xi1>, tensor<2xf32>) -> (tensor<2xf32>, !pd.tape)
  %y = pd.relu X(%n#0) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
}

// CHECK: error: conditional_block: a number of blocks other than one is not supported natively
pd.program @two attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xf32>
  %c = pd.input "c" : tensor<1xi1>
  %n = pd.conditional_block Cond(%c) Input(%x) -> Out("h") {sub_block = #pd.block<1>, is_scalar_condition = true} : (tensor<1xi1>, tensor<2xf32>) -> tensor<2xf32>
  %y = pd.relu X(%n) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
}

// CHECK: error: conditional_block_grad: a gradient whose forward block ran in an earlier turn of a loop is not supported natively
pd.program @bg attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xf32>
  %c = pd.input "c" : tensor<1xi1>
  %t = pd.undef "tape" : !pd.tape
  %n = pd.conditional_block_grad "$capture"(%x) Cond(%c) Input(%x) "Out@GRAD"(%x) Scope(%t) -> "Input@GRAD"("x@GRAD") {sub_block = #pd.block<1>, is_scalar_condition = true} blocks [{captures = ["x"], idx = 1 : i32}] {
  ^bb0(%a: tensor<2xf32>):
    %q = pd.relu X(%a) -> Out("x@GRAD") : (tensor<2xf32>) -> tensor<2xf32>
    pd.yield
  } : (tensor<2xf32>, tensor<1xi1>, tensor<2xf32>, tensor<2xf32>, !pd.tape) -> tensor<2xf32>
  %y = pd.relu X(%n) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
}

// CHECK: error: conditional_block_grad: a gradient without its forward block is not supported natively
pd.program @bg2 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xf32>
  %c = pd.input "c" : tensor<1xi1>
  %n = pd.conditional_block_grad "$capture"(%x) Cond(%c) Input(%x) "Out@GRAD"(%x) -> "Input@GRAD"("x@GRAD") {sub_block = #pd.block<1>, is_scalar_condition = true} blocks [{captures = ["x"], idx = 1 : i32}] {
  ^bb0(%a: tensor<2xf32>):
    pd.yield
  } : (tensor<2xf32>, tensor<1xi1>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = pd.relu X(%n) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
}

// CHECK: error: while_grad: a gradient without its forward loop is not supported natively
pd.program @wg attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xf32>
  %n = pd.while_grad "$capture"(%x) X(%x) Out(%x) "Out@GRAD"(%x) -> "X@GRAD"("x@GRAD") {sub_block = #pd.block<1>, original_output_grad = []} blocks [{captures = ["x"], idx = 1 : i32}] {
  ^bb0(%a: tensor<2xf32>):
    pd.yield
  } : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %y = pd.relu X(%n) -> Out("y") : (tensor<2xf32>) -> tensor<2xf32>
}

// CHECK: error: recurrent: an absent initial state is not supported natively
pd.program @r attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3x2xf32>
  %n:2 = pd.recurrent inputs(%x) initial_states(empty) -> outputs("h") step_scopes("tape") {sub_block = #pd.block<1>, ex_states = ["p"], states = ["s"], reverse = false, has_states = true, is_train = true} blocks [{captures = [], idx = 1 : i32}] {
    pd.yield
  } : (tensor<3x2xf32>) -> (tensor<3x2xf32>, !pd.tape)
  %y = pd.relu X(%n#0) -> Out("y") : (tensor<3x2xf32>) -> tensor<3x2xf32>
}

// CHECK: error: recurrent: output h, which the block does not write, is not supported natively
pd.program @r2 attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3x2xf32>
  %n:2 = pd.recurrent inputs(%x) -> outputs("h") step_scopes("tape") {sub_block = #pd.block<1>, ex_states = [], states = [], reverse = false, has_states = true, is_train = true} blocks [{captures = [], idx = 1 : i32}] {
    pd.yield
  } : (tensor<3x2xf32>) -> (tensor<3x2xf32>, !pd.tape)
  %y = pd.relu X(%n#0) -> Out("y") : (tensor<3x2xf32>) -> tensor<3x2xf32>
}

// CHECK: error: recurrent_grad: a gradient without its forward block is not supported natively
pd.program @rg attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3x2xf32>
  %n = pd.recurrent_grad inputs(%x) "outputs@GRAD"(%x) -> "inputs@GRAD"("x@GRAD") {sub_block = #pd.block<1>, ex_states = [], states = [], reverse = false, has_states = true, is_train = true} blocks [{captures = [], idx = 1 : i32}] {
    pd.yield
  } : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = pd.relu X(%n) -> Out("y") : (tensor<3x2xf32>) -> tensor<3x2xf32>
}

// CHECK: error: cannot be run natively: no lowering for 1 op type(s): my_loop
pd.program @kind attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3x2xf32>
  %n = pd.opaque "my_loop" X(%x) -> Out("h") {sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32}] {
    pd.yield
  } : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = pd.relu X(%n) -> Out("y") : (tensor<3x2xf32>) -> tensor<3x2xf32>
}

// CHECK: error: feed x has extents of -1, which those of its data are; give them with --feeds or --feed
pd.program @open attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<?x2xf32>
  %y = pd.relu X(%x) -> Out("y") : (tensor<?x2xf32>) -> tensor<?x2xf32>
}

// CHECK: error: fill_constant: output y is too large: not supported
pd.program @large attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<1xf32>
  %y = pd.fill_constant -> Out("y") {shape = array<i64: 4611686018427387904>, dtype = 5 : i32} : () -> tensor<4611686018427387904xf32>
}
