// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --amp="use_pure_fp16=true use_fp16_guard=false use_dynamic_loss_scaling=false init_loss_scaling=1"
// RUN: not dtranspile-opt %s --split-input-file --amp="use_pure_fp16=true use_pure_bf16=true" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: not dtranspile-opt %s --split-input-file --amp="use_pure_fp16=true use_dynamic_loss_scaling=false init_loss_scaling=1" 2>&1 | FileCheck %s --check-prefix=GUARD

// BOTH: error: amp: use_pure_fp16 is of float16; leave use_pure_bf16 and amp_dtype=bfloat16 out, or it
// GUARD: warning: amp: no op that can compute in half precision stands under fp16_guard; use_fp16_guard=false takes all of them

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
// expected-error @below {{amp: start-up rounds parameters to half precision: the program needs a pd.program @startup}}
pd.program @main attributes {version = 2004000 : i64} {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.relu X(%w) -> Out("h") {op_role = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %u : tensor<4xf32>
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 2004000 : i64} {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.relu X(%w) -> Out("h") {op_role = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{amp: parameter 'w' is updated by adagrad, which has no form with a copy in float32; leave use_pure_fp16 and use_pure_bf16 out}}
  %u:2 = pd.adagrad Grad(%w) LearningRate(%lr) Moment(%w) Param(%w) -> MomentOut("m") ParamOut("w") {epsilon = 1.0e-6 : f32, op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  pd.set @w, %u#1 : tensor<4xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 1008005 : i64} {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.relu X(%w) -> Out("h") {op_role = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  // expected-error @below {{amp: parameter 'w' is updated by sgd of 1.x, which has no form with a copy in float32}}
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %u : tensor<4xf32>
}
pd.program @startup {
}

// -----

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main attributes {version = 2004000 : i64} {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %h = pd.relu X(%w) -> Out("h") {op_role = 0 : i32} : (tensor<4xf32>) -> tensor<4xf32>
  %u = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %u : tensor<4xf32>
}
// expected-error @below {{amp: start-up does not set once and for all 'w', which use_pure_fp16 and use_pure_bf16 keep in two types; leave them out}}
pd.program @startup {
}
