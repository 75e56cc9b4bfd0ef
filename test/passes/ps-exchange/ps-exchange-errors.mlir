// What trainers cannot exchange.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2 min_block_size=1 serve=geo" --ps-exchange="axes=dp servers=2"

// Nothing to begin with.
pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
// expected-error @below {{ps-exchange: trainers begin with what servers draw at start-up: the job needs a pd.program @startup}}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %n = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}

// -----

// No training program.
pd.var @w : tensor<4xf32> {parameter}
// expected-error @+1 {{updates no parameter: servers would have nothing to do; is this a training program?}}
pd.program @main {
  %w = pd.get @w : tensor<4xf32>
}
pd.program @startup {
}

// -----

// A parameter without dims.
pd.var @w : tensor<f32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %w = pd.get @w : tensor<f32>
  %lr = pd.get @lr : tensor<1xf32>
  // expected-error @+1 {{parameter 'w' has no dim: servers hold blocks of dim 0; give it the shape [1]}}
  %n = pd.sgd Grad(%w) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<f32>, tensor<1xf32>, tensor<f32>) -> tensor<f32>
  pd.set @w, %n : tensor<f32>
}
pd.program @startup {
}
