// Family optimizer. New values stand in the memory of the old ones.
// RUN: dtranspile-lower %s | FileCheck %s

pd.var @w : tensor<4xf32> {parameter}
pd.var @v : tensor<4xf32>
// CHECK: program momentum
// CHECK-NEXT: kernel momentum(v float32[4], g float32[4], w float32[4], lr float32[1]) -> v float32[4], w float32[4]
pd.program @momentum attributes {version = 2006002 : i64} {
  %g = pd.input "g" : tensor<4xf32>
  %lr = pd.input "lr" : tensor<1xf32>
  %w = pd.get @w : tensor<4xf32>
  %v = pd.get @v : tensor<4xf32>
  %w1, %v1 = pd.momentum Param(%w) Grad(%g) Velocity(%v) LearningRate(%lr) -> ParamOut("w") VelocityOut("v") {mu = 0.9 : f32, use_nesterov = false} : (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<1xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  pd.set @w, %w1 : tensor<4xf32>
  pd.set @v, %v1 : tensor<4xf32>
}
