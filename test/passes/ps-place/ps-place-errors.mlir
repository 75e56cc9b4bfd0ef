// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=0" 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp min_block_size=0" 2>&1 | FileCheck %s --check-prefix=SIZE
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp split_method=Hash" 2>&1 | FileCheck %s --check-prefix=METHOD

// NONE: error: ps-place: servers is less than 1
// SIZE: error: ps-place: min_block_size is less than 1
// METHOD: error: ps-place: split_method is 'Hash'; RoundRobin and HashName are known

// expected-error @+1 {{updates no parameter: servers would have nothing to do; is this a training program?}}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
}

// -----

pd.var @w : tensor<f32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<f32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @+1 {{parameter 'w' has no dim: servers hold blocks of dim 0; give it the shape [1]}}
  %n = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<f32>, tensor<1xf32>, tensor<f32>) -> tensor<f32>
  pd.set @w, %n : tensor<f32>
}

// -----

pd.var @w : tensor<0x4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<0x4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @+1 {{parameter 'w' has no elements, and so no block to serve}}
  %n = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<0x4xf32>, tensor<1xf32>, tensor<0x4xf32>) -> tensor<0x4xf32>
  pd.set @w, %n : tensor<0x4xf32>
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @+1 {{updates parameter 'w' and has no role Optimize at the top of the program: servers take over such ops only}}
  %n = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 1 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %g = pd.input "g" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.square X(%g) -> Out("h") {op_role = 1 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{takes 'h', which square of the trainers computes and is no gradient of a parameter}}
  %n = pd.sgd Grad(%h) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// Two parameters that may lie on different servers.
pd.var @w : tensor<4xf32> {parameter}
pd.var @u : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %g = pd.input "g" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %u = pd.get @u : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h:2 = pd.elementwise_add_grad "Out@GRAD"(%g) X(%w) Y(%u) -> "X@GRAD"("w@GRAD") "Y@GRAD"("u@GRAD") {axis = -1 : i32, op_role = 1 : i32, op_role_var = ["w", "w@GRAD", "u", "u@GRAD"]} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  // expected-error @+1 {{takes values of 'w' and of 'u', which may lie on different servers}}
  %s = pd.elementwise_add X(%h#0) Y(%h#1) -> Out("s") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%s) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
  %m = pd.sgd Grad(%h#1) LearningRate(%lr) Param(%u) -> ParamOut("u") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @u, %m : tensor<4xf32>
}

// -----

// State of another shape.
pd.var @w : tensor<4xf32> {parameter}
pd.var @c : tensor<2xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %g = pd.input "g" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.square_grad "Out@GRAD"(%g) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // expected-error @+1 {{sets 'c', which belongs to 'w' and has another shape}}
  %c = pd.slice Input(%h) -> Out("c") {axes = array<i32: 0>, decrease_axis = array<i32>, ends = array<i32: 2>, infer_flags = array<i32>, op_role = 2 : i32, starts = array<i32: 0>} : (tensor<4xf32>) -> tensor<2xf32>
  pd.set @c, %c : tensor<2xf32>
  %n = pd.sgd Grad(%h) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// An op of SelectedRows that no server knows to work block by block.
pd.var @w : tensor<4x2xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %i = pd.input "i" : tensor<?x1xi64>
  %g = pd.input "g" : tensor<?x2xf32>
  %w = pd.get @w : tensor<4x2xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.lookup_table_grad Ids(%i) "Out@GRAD"(%g) W(%w) -> "W@GRAD"("w@GRAD") {is_sparse = true, op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xi64>, tensor<?x2xf32>, tensor<4x2xf32>) -> !pd.rows<tensor<4x2xf32>>
  // expected-error @+1 {{takes the SelectedRows gradient of 'w', which servers add up to a dense one: clip_by_norm does something else with that}}
  %c = pd.clip_by_norm X(%h) -> Out("c") {max_norm = 1.0 : f32, op_role = 2 : i32} : (!pd.rows<tensor<4x2xf32>>) -> !pd.rows<tensor<4x2xf32>>
  %n = pd.sgd Grad(%c) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (!pd.rows<tensor<4x2xf32>>, tensor<1xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  pd.set @w, %n : tensor<4x2xf32>
}
