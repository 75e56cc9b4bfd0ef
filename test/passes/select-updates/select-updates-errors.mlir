// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --select-updates

// Would draw in every step.
pd.var @w : tensor<4xf32> {parameter}
pd.program @main {
  %due = pd.fill_constant -> Out("due") {dtype = 0 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi1>
  %s = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("s") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    // expected-error @below {{select-updates: stands in a branch of the update and does more than to give values: it cannot run where the branch is not taken, and servers take over no branches}}
    %d = pd.uniform_random -> Out("w") {dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 0 : i32, shape = array<i64: 4>} : () -> tensor<4xf32>
    pd.set @w, %d : tensor<4xf32>
    pd.yield
  } : (tensor<1xi1>) -> !pd.tape
}

// -----

// A divisor may be zero where the branch is not taken.
pd.var @n : tensor<1xi64>
pd.program @main {
  %due = pd.fill_constant -> Out("due") {dtype = 0 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi1>
  %s = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("s") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    %n = pd.get @n : tensor<1xi64>
    // expected-error @below {{select-updates: stands in a branch of the update and divides integers}}
    %r = pd.elementwise_mod X(%n) Y(%n) -> Out("n") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xi64>, tensor<1xi64>) -> tensor<1xi64>
    pd.set @n, %r : tensor<1xi64>
    pd.yield
  } : (tensor<1xi1>) -> !pd.tape
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.program @main {
  %due = pd.fill_constant -> Out("due") {dtype = 0 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi1>
  %s = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("s") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    %c = pd.fill_constant -> Out("c") {dtype = 0 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi1>
    // expected-error @below {{select-updates: stands in a branch of the update and has blocks of its own}}
    %t = pd.conditional_block "$capture"() Cond(%c) Input() -> Out() Scope("t") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<2>} blocks [{captures = [], idx = 2 : i32, locals = [], parent = 1 : i32, saved = [], written = []}] {
      pd.yield
    } : (tensor<1xi1>) -> !pd.tape
    pd.yield
  } : (tensor<1xi1>) -> !pd.tape
}

// -----

// Rows have no choice between two values.
pd.var @r : !pd.rows<tensor<?x4xf32>>
pd.program @main {
  %due = pd.fill_constant -> Out("due") {dtype = 0 : i32, shape = array<i64: 1>, value = 1.0 : f32} : () -> tensor<1xi1>
  %s = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("s") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    %r = pd.get @r : !pd.rows<tensor<?x4xf32>>
    // expected-error @below {{select-updates: sets 'r', which is no dense tensor, in a branch of the update}}
    pd.set @r, %r : !pd.rows<tensor<?x4xf32>>
    pd.yield
  } : (tensor<1xi1>) -> !pd.tape
}
