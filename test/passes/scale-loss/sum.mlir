// Nothing is divided, and the job says how many times the reference's its gradients are; of a loss that is a sum they are the reference's.
// RUN: dtranspile-opt %s --split-input-file --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --scale-loss="axes=dp scale_strategy=sum" | FileCheck %s

// CHECK: dist.contracts = [{{.*}}gradients are 4 times those of the reference", tag = "gradient_sum"}]
// CHECK-LABEL: dist.role @trainer
// CHECK-NOT: pd.scale
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %l = pd.mean X(%x) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.mean_grad "Out@GRAD"(%s) X(%x) -> "X@GRAD"("x@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
}

// -----

// CHECK-NOT: gradient_sum
// CHECK: dist.role @trainer
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %l = pd.reduce_sum X(%x) -> Out("loss") {op_role = 256 : i32, reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.reduce_sum_grad "Out@GRAD"(%s) X(%x) -> "X@GRAD"("x@GRAD") {op_role = 1 : i32, reduce_all = true} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
}
