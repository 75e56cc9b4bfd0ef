// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --local-sgd="axes=dp" --declare-relations="axes=dp" | FileCheck %s

// An update without a learning rate is an update.
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @w : tensor<2xf32> {dist.rel = #dist.rel<"w">, parameter}
// CHECK-NEXT: pd.var @"w@SNAPSHOT" : tensor<2xf32> {dist.rel = #dist.rel<"w">}
// CHECK: pd.adadelta
// CHECK: dist.all_reduce sum
pd.var @w : tensor<2xf32> {parameter}
pd.var @squares : tensor<2xf32>
pd.var @updates : tensor<2xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x2xf32>
  %w = pd.get @w : tensor<2xf32>
  %s = pd.get @squares : tensor<2xf32>
  %d = pd.get @updates : tensor<2xf32>
  %g = pd.reduce_mean X(%x) -> Out("w@GRAD") {dim = array<i32: 0>, op_role = 1 : i32} : (tensor<?x2xf32>) -> tensor<2xf32>
  %u:3 = pd.adadelta Param(%w) Grad(%g) AvgSquaredGrad(%s) AvgSquaredUpdate(%d) -> ParamOut("w") AvgSquaredGradOut("squares") AvgSquaredUpdateOut("updates") {op_role = 2 : i32} : (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>)
  pd.set @w, %u#0 : tensor<2xf32>
  pd.set @squares, %u#1 : tensor<2xf32>
  pd.set @updates, %u#2 : tensor<2xf32>
}
pd.program @startup {}
