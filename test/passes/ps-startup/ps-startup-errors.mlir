// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2" --ps-split="axes=dp servers=2" --ps-startup="axes=dp"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=dp:2 comm-axes=none" --ps-startup="axes=dp" 2>&1 | FileCheck %s --check-prefix=SPLIT

// SPLIT: error: has no parameter servers; run ps-place and ps-split first

// expected-error @+1 {{servers begin with what start-up computes: the job needs a pd.program @startup}}
module {
  pd.var @w : tensor<4xf32> {parameter}
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    %x = pd.input "x" : tensor<4xf32>
    %w = pd.get @w : tensor<4xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    pd.set @w, %n : tensor<4xf32>
  }
}

// -----

// A variable that every trainer draws and goes on with.
module {
  pd.var @w : tensor<4xf32> {parameter}
  pd.var @lr : tensor<1xf32>
  pd.var @walk : tensor<4xf32>
  pd.program @main {
    %w = pd.get @w : tensor<4xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %k = pd.get @walk : tensor<4xf32>
    %m = pd.square X(%k) -> Out("walk") : (tensor<4xf32>) -> tensor<4xf32>
    // expected-error @+1 {{sets 'walk', which start-up draws: every trainer would begin with another value}}
    pd.set @walk, %m : tensor<4xf32>
    %g = pd.square_grad "Out@GRAD"(%m) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    pd.set @w, %n : tensor<4xf32>
  }
  pd.program @startup {
    %k = pd.uniform_random -> Out("walk") {dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 0 : i32, shape = array<i64: 4>} : () -> tensor<4xf32>
    pd.set @walk, %k : tensor<4xf32>
  }
}

// -----

// Start-up reads a parameter back.
module {
  pd.var @w : tensor<4xf32> {parameter}
  pd.var @copy : tensor<4xf32>
  pd.var @lr : tensor<1xf32>
  pd.program @main {
    %x = pd.input "x" : tensor<4xf32>
    %w = pd.get @w : tensor<4xf32>
    %c = pd.get @copy : tensor<4xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    pd.set @w, %n : tensor<4xf32>
    %a = pd.elementwise_add X(%c) Y(%n) -> Out("copy") {axis = -1 : i32, op_role = 2 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    pd.set @copy, %a : tensor<4xf32>
  }
  pd.program @startup {
    // expected-error @+1 {{start-up reads 'w' back, or sets it inside of control flow: servers have blocks of it only}}
    %w = pd.get @w : tensor<4xf32>
    pd.set @copy, %w : tensor<4xf32>
  }
}

// -----

// A number that trainers draw, and only read.
module {
  pd.var @w : tensor<4xf32> {parameter}
  pd.var @lr : tensor<1xf32>
  // expected-error @+1 {{is drawn by start-up and is no tensor with a dim 0: servers cannot hold it for the trainers}}
  pd.var @noise : tensor<f32>
  pd.program @main {
    %x = pd.input "x" : tensor<4xf32>
    %w = pd.get @w : tensor<4xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %k = pd.get @noise : tensor<f32>
    %y = pd.elementwise_mul X(%x) Y(%k) -> Out("y") {axis = -1 : i32} : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
    %g = pd.square_grad "Out@GRAD"(%y) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    pd.set @w, %n : tensor<4xf32>
  }
  pd.program @startup {
    %k = pd.uniform_random -> Out("noise") {dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 0 : i32, shape = array<i64>} : () -> tensor<f32>
    pd.set @noise, %k : tensor<f32>
  }
}

// -----

// A parameter begins as a variable that servers do not have.
module {
  pd.var @w : tensor<4xf32> {parameter}
  pd.var @lr : tensor<1xf32>
  pd.var @first : tensor<4xf32>
  pd.program @main {
    %x = pd.input "x" : tensor<4xf32>
    %w = pd.get @w : tensor<4xf32>
    %lr = pd.get @lr : tensor<1xf32>
    %f = pd.get @first : tensor<4xf32>
    %y = pd.elementwise_mul X(%x) Y(%f) -> Out("y") {axis = -1 : i32} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %g = pd.square_grad "Out@GRAD"(%y) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
    %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
    pd.set @w, %n : tensor<4xf32>
  }
  pd.program @startup {
    %c = pd.fill_constant -> Out("first") {dtype = 5 : i32, shape = array<i64: 4>, value = 1.0 : f32} : () -> tensor<4xf32>
    pd.set @first, %c : tensor<4xf32>
    // expected-error @+1 {{start-up reads or sets 'first' for a variable of the servers, and they do not have it}}
    %f = pd.get @first : tensor<4xf32>
    %t = pd.tanh X(%f) -> Out("w") : (tensor<4xf32>) -> tensor<4xf32>
    pd.set @w, %t : tensor<4xf32>
  }
}
