// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --form-job="axes=dp:4 comm-axes=dp sync_batch_norm=true" --cut-batch="axes=dp" --sync-batch-norm="axes=dp"

pd.var @p : tensor<3xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %p = pd.get @p : tensor<3xf32>
  %c = pd.input "c" : tensor<1xi1>
  %t = pd.conditional_block "$capture"(%x, %p) Cond(%c) -> Scope("tape") {sub_block = #pd.block<1>, is_scalar_condition = true} blocks [{captures = ["x", "p"], idx = 1 : i32}] {
  ^bb0(%a: tensor<?x3xf32>, %b: tensor<3xf32>):
    // expected-error @+1 {{sync-batch-norm: batch norm inside a sub-block is not supported}}
    %y:5 = pd.batch_norm X(%a) Scale(%b) Bias(%b) Mean(%b) Variance(%b) -> Y("y") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    pd.yield
  } : (tensor<?x3xf32>, tensor<3xf32>, tensor<1xi1>) -> !pd.tape
}

// -----

pd.var @p : tensor<3xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?xf32>
  %p = pd.get @p : tensor<3xf32>
  %z = pd.opaque "load" -> Out("z") : () -> tensor<*xf32>
  // expected-error @+1 {{sync-batch-norm: X is no tensor of at least two dims}}
  %y:5 = pd.batch_norm X(%z) Scale(%p) Bias(%p) Mean(%p) Variance(%p) -> Y("y") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") : (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>) -> (tensor<*xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
}

// -----

pd.var @p : tensor<3xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %m = pd.input "m" : tensor<1xf32>
  %p = pd.get @p : tensor<3xf32>
  // expected-error @+1 {{sync-batch-norm: a momentum given as a tensor is not supported}}
  %y:5 = pd.batch_norm X(%x) Scale(%p) Bias(%p) Mean(%p) Variance(%p) MomentumTensor(%m) -> Y("y") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<1xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
}

// -----

pd.var @p : tensor<3xf16> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %p = pd.get @p : tensor<3xf16>
  // expected-error @+1 {{sync-batch-norm: statistics of less precision than X are not supported}}
  %y:5 = pd.batch_norm X(%x) Scale(%p) Bias(%p) Mean(%p) Variance(%p) -> Y("y") MeanOut("mean") VarianceOut("variance") SavedMean("sm") SavedVariance("sv") : (tensor<?x3xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>) -> (tensor<?x3xf32>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>, tensor<3xf16>)
}

// -----

pd.var @p : tensor<3xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %p = pd.get @p : tensor<3xf32>
  // expected-error @+1 {{sync-batch-norm: the gradient does not read the saved statistics}}
  %g:3 = pd.batch_norm_grad X(%x) Scale(%p) Bias(%p) SavedMean(empty) SavedVariance(empty) "Y@GRAD"(%x) -> "X@GRAD"("x@GRAD") "Scale@GRAD"("s@GRAD") "Bias@GRAD"("b@GRAD") {op_role = 1 : i32} : (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<3xf32>, tensor<3xf32>)
}
