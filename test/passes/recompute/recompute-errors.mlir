// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --recompute="recompute_checkpoints=h,z*"
// RUN: not dtranspile-opt %s --split-input-file --recompute 2>&1 | FileCheck %s

// CHECK: error: recompute: no op has the role Backward and computes gradients; is this a training program?
// CHECK: error: recompute: recompute_checkpoints says nothing; give names or patterns of values, sqrt or auto

// expected-error @below {{recompute: no op has the role Backward and computes gradients; is this a training program?}}
pd.program @main {
}

// -----

// expected-error @below {{recompute: no value of the forward part is called 'z*'; checkpoints are names or patterns of such values, or sqrt or auto alone}}
pd.program @main {
  %x = pd.input "x" : tensor<?x4xf32>
  %h = pd.relu X(%x) -> Out("h") {op_role = 0 : i32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
  %l = pd.mean X(%h) -> Out("loss") {op_role = 256 : i32} : (tensor<?x4xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.0 : f32, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.mean_grad "Out@GRAD"(%s) X(%h) -> "X@GRAD"("h@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
}
