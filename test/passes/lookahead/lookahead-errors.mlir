// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --lookahead

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
// expected-error @below {{lookahead keeps slow weights from start-up on: the program needs a pd.program @startup}}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
}

// -----

pd.program @startup {
}
// expected-error @below {{lookahead: no parameter is updated; is this a training program?}}
pd.program @main {
}

// -----

// expected-error @below {{lookahead: parameter 'w' is no tensor of float32 or float64 with known extents}}
pd.var @w : tensor<?xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @w : tensor<?xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<?xf32>, tensor<1xf32>, tensor<?xf32>) -> tensor<?xf32>
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @below {{lookahead: parameter 'w' has a master copy, which would have to move too; leave lookahead out}}
  %u:2 = pd.sgd Grad(%w) LearningRate(%lr) MasterParam(%w) Param(%w) -> MasterParamOut("m") ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
}

// -----

// expected-error @below {{lookahead: parameter 'w' has slow weights already; leave lookahead out}}
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.var @"w@SLOW" : tensor<4xf32>
pd.program @startup {
}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @startup {
}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  %c = pd.less_than X(%g) Y(%w) -> Out("small") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
  // expected-error @below {{lookahead: parameter 'w' is updated in a block of the program's own, which chooses the steps that update: which of them count is not shown; save the program with the update outside of control flow}}
  %b = pd.conditional_block "$capture"(%g) Cond(%c) Input(%g) -> Out() Scope("scope") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = ["w@GRAD"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%h: tensor<1xf32>):
    %v = pd.get @w : tensor<1xf32>
    %n = pd.elementwise_sub X(%v) Y(%h) -> Out("w") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    pd.set @w, %n : tensor<1xf32>
    pd.yield
  } : (tensor<1xf32>, tensor<1xi1>, tensor<1xf32>) -> !pd.tape
}
