// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --gradient-merge="gradient_merge_k_steps=2"
// RUN: not dtranspile-opt %s --split-input-file --gradient-merge 2>&1 | FileCheck %s

// CHECK: error: gradient-merge: gradient_merge_k_steps is 1; at least 2 steps are merged

// expected-error @below {{gradient_merge adds gradients up from zero on: the program needs a pd.program @startup}}
pd.program @main {
}

// -----

// expected-error @below {{gradient_merge: no parameter is updated; is this a training program?}}
pd.program @main {
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  // expected-error @below {{gradient_merge: updates parameter 'w', but no op with role Backward lists it in op_role_var}}
  %u = pd.sgd Grad(%w) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.var @last : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  // expected-error @below {{gradient_merge: sets variable 'last' outside of the update: merged steps would set it once each, a batch as large sets it once}}
  %g = pd.scale X(%w) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @last, %g : tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %r = pd.scale X(%w) -> Out("rate") {op_role = 16 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  // expected-error @below {{gradient_merge: takes 'rate' of the update or the schedule, which runs in every k-th step only}}
  %g = pd.scale X(%r) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  %w = pd.get @w : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  // expected-error @below {{gradient_merge: takes 'x' of one step; an update of merged steps has only their gradients, variables and constants}}
  %u = pd.sgd Grad(%g) LearningRate(%x) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
  %new = pd.get @w : tensor<1xf32>
  // expected-error @below {{gradient_merge: takes 'w' as the update has left it, which runs in every k-th step only}}
  %n = pd.scale X(%new) -> Out("norm") : (tensor<1xf32>) -> tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<4x2xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4x2xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %ids = pd.input "ids" : tensor<?x1xi64>
  %d = pd.input "d" : tensor<?x2xf32>
  // expected-error @below {{gradient_merge: the gradient of parameter 'w' is no dense tensor of known extents}}
  %g = pd.lookup_table_grad Ids(%ids) "Out@GRAD"(%d) W(%w) -> "W@GRAD"("w@GRAD") {is_sparse = true, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xi64>, tensor<?x2xf32>, tensor<4x2xf32>) -> !pd.rows<tensor<4x2xf32>>
  %u = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (!pd.rows<tensor<4x2xf32>>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @w, %u : tensor<4x2xf32>
}
pd.program @startup {
}

// -----

// expected-error @below {{there is no pd.program @main; this pass goes before form-job}}
module {
}

// -----

// The framework's GradientMergeOptimizer, as settle-roles leaves it.
pd.var @w : tensor<1xf32> {parameter}
pd.var @sum : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %s = pd.get @sum : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  // expected-error @below {{gradient_merge: the program merges gradients itself; leave gradient_merge out, or save the program without the framework's GradientMergeOptimizer}}
  %m = pd.elementwise_add X(%g) Y(%s) -> Out("sum") {axis = -1 : i32, grad_merge_cond_name = "due", op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @sum, %m : tensor<1xf32>
  %u = pd.sgd Grad(%m) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %g = pd.scale X(%w) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>) -> tensor<1xf32>
  %c = pd.less_than X(%g) Y(%w) -> Out("small") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xi1>
  // expected-error @below {{gradient_merge: decides by gradients whether to run: it is not shown that merged steps decide as a batch as large does}}
  %b = pd.conditional_block "$capture"(%g) Cond(%c) Input(%g) -> Out() Scope("scope") {is_scalar_condition = true, op_role = 2 : i32, sub_block = #pd.block<1>} blocks [{captures = ["w@GRAD"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%h: tensor<1xf32>):
    %v = pd.get @w : tensor<1xf32>
    %n = pd.elementwise_sub X(%v) Y(%h) -> Out("w") {axis = -1 : i32, op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    pd.set @w, %n : tensor<1xf32>
    pd.yield
  } : (tensor<1xf32>, tensor<1xi1>, tensor<1xf32>) -> !pd.tape
}
pd.program @startup {
}
