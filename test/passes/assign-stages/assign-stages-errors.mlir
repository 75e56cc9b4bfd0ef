// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp,micro" 2>&1 | FileCheck %s --check-prefix=AXES
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp by=luck" 2>&1 | FileCheck %s --check-prefix=BY
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp by=cost" 2>&1 | FileCheck %s --check-prefix=COST
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=pp:2,micro:4 comm-axes=micro" --assign-stages="axes=pp virtual_stages=0" 2>&1 | FileCheck %s --check-prefix=PARTS

// AXES: error: assign-stages: give axes one axis, that of the stages
// BY: error: assign-stages: by is 'luck'; it is annotations or cost
// COST: error: {{.*}}has 0 ops in its forward part that can be cut, too few for 2 parts: ask for fewer stages
// PARTS: error: assign-stages: virtual_stages is 0

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

// -----

// A branch, and an op of another device in it.
pd.var @w : tensor<2xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %due = pd.input "due" : tensor<1xi1>
  %a = pd.elementwise_add X(%x) Y(%w) -> Out("a") {axis = -1 : i32, op_device = "gpu:0"} : (tensor<?x2xf32>, tensor<2xf32>) -> tensor<?x2xf32>
  %s = pd.conditional_block "$capture"() Cond(%due) Input() -> Out() Scope("s") {is_scalar_condition = true, op_device = "gpu:0", sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
    // expected-error @below {{stands in a block of an op on gpu:0 and is on gpu:1: control flow runs on one stage}}
    %c = pd.fill_constant -> Out("c") {dtype = 5 : i32, op_device = "gpu:1", shape = array<i64: 2>, value = 1.0 : f32} : () -> tensor<2xf32>
    pd.yield
  } : (tensor<1xi1>) -> !pd.tape
  %b = pd.tanh X(%a) -> Out("b") {op_device = "gpu:1"} : (tensor<?x2xf32>) -> tensor<?x2xf32>
}
