// Family amp: refusals name what is missing.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// The lists of gradients go in and out position by position.
// CHECK: error: check_finite_and_unscale: needs an argument in input slot 'X'
pd.program @hole attributes {version = 2006002 : i64} {
  %a = pd.input "a" : tensor<4xf32>
  %s = pd.input "s" : tensor<1xf32>
  %x, %y, %found = pd.check_finite_and_unscale X(%a, empty) Scale(%s) -> Out("x", "y") FoundInfinite("found") : (tensor<4xf32>, tensor<1xf32>) -> (tensor<4xf32>, tensor<2x3xf32>, tensor<1xi1>)
}

// CHECK: error: update_loss_scaling: has output 'Out' without the state that it replaces
pd.program @longer attributes {version = 2006002 : i64} {
  %a = pd.input "a" : tensor<4xf32>
  %f = pd.input "f" : tensor<1xi1>
  %s = pd.input "s" : tensor<1xf32>
  %g = pd.input "g" : tensor<1xi32>
  %b = pd.input "b" : tensor<1xi32>
  %x, %y, %s1, %g1, %b1 = pd.update_loss_scaling X(%a) FoundInfinite(%f) PrevLossScaling(%s) InGoodSteps(%g) InBadSteps(%b) -> Out("x", "y") LossScaling("s1") OutGoodSteps("g1") OutBadSteps("b1") {decr_every_n_nan_or_inf = 2 : i32, decr_ratio = 0.5 : f32, incr_every_n_steps = 2 : i32, incr_ratio = 2.0 : f32} : (tensor<4xf32>, tensor<1xi1>, tensor<1xf32>, tensor<1xi32>, tensor<1xi32>) -> (tensor<4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xi32>, tensor<1xi32>)
}

// CHECK: error: check_finite_and_unscale: needs an argument in input slot 'Scale'
pd.program @scale attributes {version = 2006002 : i64} {
  %a = pd.input "a" : tensor<4xf32>
  %x, %found = pd.check_finite_and_unscale X(%a) Scale(empty) -> Out("x") FoundInfinite("found") : (tensor<4xf32>) -> (tensor<4xf32>, tensor<1xi1>)
}
