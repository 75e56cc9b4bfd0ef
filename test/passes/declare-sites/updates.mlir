// Updates on gradients that are not reduced are what local SGD declares: no sites.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp" --declare-relations="axes=dp" --declare-sites | FileCheck %s

// CHECK: tag = "local_sgd"
// CHECK-NOT: "parts"
// CHECK: dist.role
pd.var @w : tensor<1xf32> {parameter}
pd.var @m : tensor<1xf32>
pd.var @n : tensor<1xf32>
pd.var @b : tensor<1xf32>
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %m = pd.get @m : tensor<1xf32>
  %n = pd.get @n : tensor<1xf32>
  %b = pd.get @b : tensor<1xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<?x1xf32>) -> tensor<1xf32>
  %u:3 = pd.adamax Param(%w) Grad(%g) LearningRate(%lr) Moment(%m) InfNorm(%n) Beta1Pow(%b) -> ParamOut("w") MomentOut("m") InfNormOut("n") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>)
  pd.set @w, %u#0 : tensor<1xf32>
  pd.set @m, %u#1 : tensor<1xf32>
  pd.set @n, %u#2 : tensor<1xf32>
}
pd.program @startup {
  %0 = pd.uniform_random -> Out("w") {shape = array<i64: 1>, dtype = 5 : i32} : () -> tensor<1xf32>
  pd.set @w, %0 : tensor<1xf32>
}
