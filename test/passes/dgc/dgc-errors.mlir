// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp dgc_min_size=8"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --reduce-gradients="axes=dp" --dgc="axes=dp sparsity=0.5,0" 2>&1 | FileCheck %s
// CHECK: error: dgc: sparsity '0' is no share of elements, from 0 to below 1; and 0, which is dense, stands before the others

pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  // expected-error @below {{dgc: corrects the momentum of momentum updates; this is sgd}}
  %u = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>) -> tensor<2x4xf32>
  pd.set @w, %u : tensor<2x4xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  // expected-error @below {{dgc: the gradient of parameter 'w' is rescaled, or updates a master copy, which dgc does not do}}
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, rescale_grad = 0.5 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  // expected-error @below {{dgc: the gradient of parameter 'w' is regularised by 'l1_decay' in the update itself, of which l2_decay alone is known; let ops of the program add the decay}}
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, regularization_method = "l1_decay", op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  %old = pd.scale X(%v) -> Out("old") {op_role = 2 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // expected-error @below {{dgc: the gradient of parameter 'w' updates what is no variable in slot Velocity}}
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%old) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  // expected-error @below {{dgc: the gradient of parameter 'w' goes through square after it is summed, which needs all elements of all replicas; clip_by_norm can be done by each replica, and a decay be added by it}}
  %s = pd.square X(%g) -> Out("s") {op_role = 1 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %u:2 = pd.momentum Grad(%s) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<2x4xf32> {parameter}
pd.var @velocity : tensor<2x4xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2x4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<2x4xf32>
  %v = pd.get @velocity : tensor<2x4xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x2x4xf32>) -> tensor<2x4xf32>
  %s = pd.square X(%g) -> Out("s") {op_role = 2 : i32} : (tensor<2x4xf32>) -> tensor<2x4xf32>
  // expected-error @below {{dgc: the gradient of parameter 'w' is used by others than the update, or is no sum over the replicas}}
  %u:2 = pd.momentum Grad(%g) LearningRate(%lr) Param(%w) Velocity(%v) -> ParamOut("w") VelocityOut("velocity") {mu = 0.9 : f32, op_role = 2 : i32} : (tensor<2x4xf32>, tensor<1xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  pd.set @w, %u#0 : tensor<2x4xf32>
  pd.set @velocity, %u#1 : tensor<2x4xf32>
}
pd.program @startup {
}
