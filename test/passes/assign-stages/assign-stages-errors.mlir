// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp,micro" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp by=luck" 2>&1 | FileCheck %s --check-prefix=BY
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp by=cost" 2>&1 | FileCheck %s --check-prefix=COST

// AXES: error: assign-stages: give axes one axis, that of the stages
// BY: error: assign-stages: by is 'luck'; it is annotations or cost
// COST: error: {{.*}}has 0 ops in its forward part that can be cut, too few for 2 parts: ask for fewer stages

pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<2xf32>
  // expected-error @below {{its device is 'cpu'; stages are gpu:0, gpu:1 and so on: annotate it so, or have stages chosen by cost (--stages N)}}
  %a = pd.tanh X(%w) -> Out("a") {op_device = "cpu"} : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

pd.var @w : tensor<2xf32> {parameter}
// expected-error @below {{op_device names 1 devices, and there are 2 parts (2 stages of 1): annotate as many, or have stages chosen by cost (--stages N)}}
pd.program @main {
  %w = pd.get @w : tensor<2xf32>
  %a = pd.tanh X(%w) -> Out("a") {op_device = "gpu:0"} : (tensor<2xf32>) -> tensor<2xf32>
}

// -----

pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<2xf32>
  %a = pd.tanh X(%w) -> Out("a") {op_device = "gpu:1"} : (tensor<2xf32>) -> tensor<2xf32>
  // expected-error @below {{is the first op on gpu:0, and stands behind the first one on gpu:1: number devices in the order in which a batch goes through them}}
  %b = pd.tanh X(%a) -> Out("b") {op_device = "gpu:0"} : (tensor<2xf32>) -> tensor<2xf32>
}
