// Family optimizer: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

pd.var @w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32>
// CHECK: error: merged_momentum: multi_precision is not supported natively
pd.program @master attributes {version = 2006002 : i64} {
  %g = pd.input "g" : tensor<4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %w1, %v1, %m1 = pd.merged_momentum Param(%w) Grad(%g) Velocity(%v) LearningRate(%lr) MasterParam(%w) -> ParamOut("w") VelocityOut("v") MasterParamOut("m") {mu = 0.9 : f32, multi_precision = true} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>)
  pd.set @w, %w1 : tensor<4xf32>
  pd.set @v, %v1 : tensor<4xf32>
}

// CHECK: error: sgd: has Grad [2] for Param [4]; make them alike
pd.program @unlike attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2xf32>
  %g = pd.assign X(%x) -> Out("g") : (tensor<2xf32>) -> tensor<?xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<4xf32>
  %w1 = pd.sgd Param(%w) Grad(%g) LearningRate(%lr) -> ParamOut("w") : (tensor<4xf32>, tensor<?xf32>, tensor<1xf32>) -> tensor<4xf32>
  pd.set @w, %w1 : tensor<4xf32>
}
