// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --scale-loss="axes=dp"
// RUN: not dtranspile-opt %s --split-input-file --form-job="axes=dp:4 comm-axes=dp" --scale-loss="axes=dp scale_strategy=customized" 2>&1 | FileCheck %s --check-prefix=WORD

// WORD: error: scale-loss: scale_strategy is 'customized'; avg, sum and reference are known

// expected-error @+1 {{no op has the roles Backward and Loss}}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
}

// -----

pd.var @w : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %m = pd.reduce_sum X(%x) -> Out("sum") {reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  // expected-error @+1 {{the loss adds a sum over the batch and a term of another kind (a mean, or one that does not depend on the batch): no one factor makes summed gradients those of one device; make all terms means, or choose scale_strategy reference}}
  %l = pd.elementwise_add X(%m) Y(%w) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
}
