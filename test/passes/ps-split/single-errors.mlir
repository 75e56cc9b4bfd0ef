// What servers cannot do that see one gradient at a time.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2 min_block_size=1" --ps-split="axes=dp servers=2 serve=async"

// A norm over gradients.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{gives 'norm', a sum over gradients or parameters, which servers that apply every push by itself never have together: use sync_mode, or clip by value}}
  %q = pd.squared_l2_norm X(%g) -> Out("norm") {op_role = 2 : i32} : (tensor<4xf32>) -> tensor<1xf32>
  %c = pd.elementwise_mul X(%g) Y(%q) -> Out("clipped") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%c) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// The rate of this step and that of the step before.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %half = pd.scale X(%lr) -> Out("lr") {bias = 0.0 : f32, bias_after_scale = true, op_role = 16 : i32, scale = 0.5 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  // expected-error @+1 {{sets 'lr', of which updates take the value before this step and the one after it it: servers that apply every push by itself cannot tell these apart; use sync_mode}}
  pd.set @lr, %half : tensor<1xf32>
  %both = pd.elementwise_add X(%lr) Y(%half) -> Out("both") {axis = -1 : i32, op_role = 16 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%both) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// A rate that two updates take before it is set.
pd.var @w : tensor<4xf32> {parameter}
pd.var @b : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %b = pd.get @b : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %h = pd.square_grad "Out@GRAD"(%x) X(%b) -> "X@GRAD"("b@GRAD") {op_role = 1 : i32, op_role_var = ["b", "b@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
  %m = pd.sgd Grad(%h) LearningRate(%lr) Param(%b) -> ParamOut("b") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @b, %m : tensor<4xf32>
  %half = pd.scale X(%lr) -> Out("lr") {bias = 0.0 : f32, bias_after_scale = true, op_role = 2 : i32, scale = 0.5 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  // expected-error @+1 {{sets 'lr', of which updates take the value before this step for several parameters}}
  pd.set @lr, %half : tensor<1xf32>
}

// -----

// Nothing is pushed for it.
// expected-error @+1 {{is updated without a gradient: no push would run its update; use sync_mode}}
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %n = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// A rate from between two that set it.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %high = pd.fill_constant -> Out("lr") {dtype = 5 : i32, op_role = 16 : i32, shape = array<i64: 1>, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @lr, %high : tensor<1xf32>
  // expected-error @+1 {{belongs to a variable that is set more than once in a step, and updates take a value from between: servers that apply every push by itself keep the last one only; use sync_mode}}
  %lr = pd.get @lr : tensor<1xf32>
  %low = pd.scale X(%high) -> Out("lr") {bias = 0.0 : f32, bias_after_scale = true, op_role = 16 : i32, scale = 0.5 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @lr, %low : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// Noise.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{draws random numbers in an update: servers that apply every push by itself know no steps, and would draw others than a single device; use sync_mode, or an optimizer without noise}}
  %n = pd.dpsgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {batch_size = 16.0 : f32, clip = 10.0 : f32, op_role = 2 : i32, sigma = 1.0 : f32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// A counter of the updates that the forward part looks at.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  // expected-error @+1 {{reads 'lr', which the update part sets too: it is on servers, and trainers pull parameters only}}
  %lr = pd.get @lr : tensor<1xf32>
  %y = pd.elementwise_mul X(%x) Y(%lr) -> Out("y") {axis = -1 : i32} : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  %d = pd.scale X(%lr) -> Out("lr") {bias = 0.0 : f32, bias_after_scale = true, op_role = 16 : i32, scale = 0.5 : f32} : (tensor<1xf32>) -> tensor<1xf32>
  pd.set @lr, %d : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%y) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%d) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}
