// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2 min_block_size=1" --ps-split="axes=dp servers=2"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=dp:2 comm-axes=none" --ps-split="axes=dp" 2>&1 | FileCheck %s --check-prefix=PLACE

// PLACE: error: ps-split: has no place on the servers; run ps-place first

// A trainer needs what servers do.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %d = pd.scale X(%lr) -> Out("decayed") {bias = 0.0 : f32, bias_after_scale = true, op_role = 16 : i32, scale = 0.5 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  // expected-error @+1 {{takes 'decayed', which the update part computes: it is on servers, and trainers pull parameters only}}
  %y = pd.elementwise_mul X(%x) Y(%d) -> Out("y") {axis = -1 : i32} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %g = pd.square_grad "Out@GRAD"(%y) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%d) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// Both sides set a counter.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %half = pd.scale X(%lr) -> Out("lr") {bias = 0.0 : f32, bias_after_scale = true, scale = 0.5 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  // expected-error @+1 {{sets 'lr', which the update part reads: servers would not see it}}
  pd.set @lr, %half : tensor<1xf32>
  %y = pd.elementwise_mul X(%x) Y(%half) -> Out("y") {axis = -1 : i32} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %g = pd.square_grad "Out@GRAD"(%y) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// A block's value is not kept from one loop to the next.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{gives 'regular', of which a norm over servers is made and which is used after that norm too}}
  %r = pd.elementwise_add X(%g) Y(%w) -> Out("regular") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %q = pd.squared_l2_norm X(%r) -> Out("norm") {op_role = 2 : i32} : (tensor<4xf32>) -> tensor<1xf32>
  %c = pd.elementwise_mul X(%r) Y(%q) -> Out("clipped") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%c) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// The parameter after its update.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.var @last : tensor<4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
  // expected-error @+1 {{reads 'w' after its update: trainers have the new value from the next step on}}
  %v = pd.get @w : tensor<4xf32>
  %s = pd.tanh X(%v) -> Out("last") : (tensor<4xf32>) -> tensor<4xf32>
  pd.set @last, %s : tensor<4xf32>
}
