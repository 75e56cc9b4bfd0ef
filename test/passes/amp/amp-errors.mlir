// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --amp="custom_white_list=tanh"
// RUN: not dtranspile-opt %s --split-input-file --amp="amp_dtype=float8" 2>&1 | FileCheck %s --check-prefix=TYPE
// RUN: not dtranspile-opt %s --split-input-file --amp="custom_white_list=tanh custom_black_list=tanh" 2>&1 | FileCheck %s --check-prefix=LISTS
// RUN: not dtranspile-opt %s --split-input-file --amp="custom_black_list=nothing custom_black_varnames=nobody" 2>&1 | FileCheck %s --check-prefix=UNUSED

// RUN: not dtranspile-opt %s --split-input-file --amp="init_loss_scaling=0" 2>&1 | FileCheck %s --check-prefix=SCALE

// SCALE: error: amp: init_loss_scaling is 0.000000e+00; a factor of the loss is above 0
// TYPE: error: amp: amp_dtype is 'float8'; float16 and bfloat16 are known
// LISTS: error: amp: 'tanh' stands in custom_white_list and in custom_black_list; take it out of one
// UNUSED: warning: custom_black_list: the program has no op 'nothing'
// UNUSED: warning: custom_black_varnames: the program has no variable 'nobody'

// expected-error @below {{there is no pd.program @main; this pass goes before form-job}}
module {
}

// -----

pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  // expected-error @below {{amp: the program has mixed precision already; leave amp out, or save the program without it}}
  %y = pd.cast X(%x) -> Out("y") {in_dtype = 5 : i32, out_dtype = 4 : i32} : (tensor<1xf32>) -> tensor<1xf16>
}

// -----

pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  %s = pd.input "s" : tensor<1xf32>
  %t = pd.tanh X(%x) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
  // expected-error @below {{amp: the program has mixed precision already}}
  %y, %f = pd.check_finite_and_unscale X(%x) Scale(%s) -> Out("y") FoundInfinite("f") : (tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xi1>)
}

// -----

// expected-error @below {{amp: loss scaling begins with init_loss_scaling: the program needs a pd.program @startup}}
pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  %t = pd.tanh X(%x) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
}

// -----

// expected-error @below {{amp: no op has the roles Backward and Loss: nothing seeds the gradients; is this a training program?}}
pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  %t = pd.tanh X(%x) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.program @main {
  %x = pd.input "x" : tensor<2xf32>
  %t = pd.tanh X(%x) -> Out("t") : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error @below {{amp: seeds gradients with 'tensor<2xf32>'; a loss that is scaled is one float32 number}}
  %d = pd.fill_constant -> Out("t@GRAD") {dtype = 5 : i32, shape = array<i64: 2>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<2xf32>
}
pd.program @startup {
}

// -----

// expected-error @below {{amp: no parameter is updated; is this a training program?}}
pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  %t = pd.tanh X(%x) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
  %d = pd.fill_constant -> Out("t@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
}
pd.program @startup {
}

// -----

// What the backward part does to gradients is to be linear.
pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %t = pd.tanh X(%w) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
  %d = pd.fill_constant -> Out("t@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  // expected-error @below {{amp: the backward part has clip, which is not known to give k times as much for k times the gradient; leave it out of the program, or use_dynamic_loss_scaling=false with init_loss_scaling=1}}
  %c = pd.clip X(%d) -> Out("t@GRAD") {min = -1.0 : f32, max = 1.0 : f32, op_role = 1 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  %g = pd.tanh_grad Out(%t) "Out@GRAD"(%c) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %t = pd.tanh X(%w) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
  %d = pd.fill_constant -> Out("t@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.tanh_grad Out(%t) "Out@GRAD"(%d) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  // expected-error @below {{amp: updates parameter 'w', but no op with role Backward lists it in op_role_var}}
  %u = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %t = pd.tanh X(%w) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
  %d = pd.fill_constant -> Out("t@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.tanh_grad Out(%t) "Out@GRAD"(%d) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
  %new = pd.get @w : tensor<1xf32>
  // expected-error @below {{amp: takes 'w' as the update has left it, which a step that overflows leaves out}}
  %n = pd.scale X(%new) -> Out("norm") : (tensor<1xf32>) -> tensor<1xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
  %t = pd.tanh X(%w) -> Out("t") : (tensor<1xf32>) -> tensor<1xf32>
  %d = pd.fill_constant -> Out("t@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.tanh_grad Out(%t) "Out@GRAD"(%d) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %u = pd.sgd Grad(%g) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  pd.set @w, %u : tensor<1xf32>
  // expected-error @below {{amp: takes 'w' of the update, which a step that overflows leaves out}}
  %n = pd.scale X(%u) -> Out("norm") : (tensor<1xf32>) -> tensor<1xf32>
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
  %e = pd.lookup_table Ids(%ids) W(%w) -> Out("e") {is_sparse = true} : (tensor<?x1xi64>, tensor<4x2xf32>) -> tensor<?x2xf32>
  %t = pd.tanh X(%e) -> Out("t") : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %l = pd.mean X(%e) -> Out("loss") {op_role = 256 : i32} : (tensor<?x2xf32>) -> tensor<1xf32>
  %d = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %de = pd.mean_grad "Out@GRAD"(%d) X(%e) -> "X@GRAD"("e@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x2xf32>) -> tensor<?x2xf32>
  // expected-error @below {{amp: the gradient of parameter 'w' is no dense tensor, which is looked at for what is not finite (is_sparse=False makes SelectedRows dense)}}
  %g = pd.lookup_table_grad Ids(%ids) "Out@GRAD"(%de) W(%w) -> "W@GRAD"("w@GRAD") {is_sparse = true, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xi64>, tensor<?x2xf32>, tensor<4x2xf32>) -> !pd.rows<tensor<4x2xf32>>
  %u = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (!pd.rows<tensor<4x2xf32>>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @w, %u : tensor<4x2xf32>
}
pd.program @startup {
}
