// The factor follows from how the loss depends on the batch: 1/N after the seed for means and losses per part, nothing for sums.
// RUN: dtranspile-opt %s --split-input-file --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --scale-loss="axes=dp" | FileCheck %s
// RUN: dtranspile-opt %s --split-input-file --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --scale-loss="axes=dp scale_strategy=reference" | FileCheck %s --check-prefix=REFERENCE

// Along one axis of two the factor is that of the axis.
// RUN: dtranspile-opt %s --split-input-file --form-job="axes=pp:3,dp:2 comm-axes=dp" --cut-batch="axes=dp" --scale-loss="axes=dp" | FileCheck %s --check-prefix=ONE

// ONE-LABEL: dist.role @trainer
// ONE: scale = 5.000000e-01 : f32

// CHECK-LABEL: dist.role @trainer
// CHECK: %[[SEED:.*]] = pd.fill_constant
// CHECK-NEXT: %[[SCALED:.*]] = pd.scale X(%[[SEED]]) -> Out("loss@GRAD") {{.*}}op_role = 1 : i32, scale = 2.500000e-01 : f32}
// CHECK-NEXT: pd.mean_grad "Out@GRAD"(%[[SCALED]])
// CHECK-NOT: pd.scale
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %l = pd.mean X(%x) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
  %g = pd.mean_grad "Out@GRAD"(%s) X(%x) -> "X@GRAD"("x@GRAD") {op_role = 1 : i32} : (tensor<1xf32>, tensor<?x1xf32>) -> tensor<?x1xf32>
}

// -----

// A sum over the batch: the factor is 1; the framework divides all the same.
// CHECK-LABEL: dist.role @trainer
// CHECK-NOT: pd.scale
// REFERENCE: scale = 2.500000e-01 : f32
// REFERENCE: dist.role @trainer
// REFERENCE: scale = 2.500000e-01 : f32
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %l = pd.reduce_sum X(%x) -> Out("loss") {reduce_all = true, op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
}

// -----

// A mean plus a term that no rank sees differently (weight decay in the loss).
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.scale {{.*}}scale = 2.500000e-01 : f32}
pd.var @w : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %w = pd.get @w : tensor<1xf32>
  %d = pd.square X(%w) -> Out("decay") : (tensor<1xf32>) -> tensor<1xf32>
  %m = pd.mean X(%x) -> Out("mean") : (tensor<?x1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_add X(%m) Y(%d) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
}

// -----

// A ratio of sums is computed per part; gradients are averaged over parts.
// CHECK-LABEL: dist.role @trainer
// CHECK: pd.scale {{.*}}scale = 2.500000e-01 : f32}
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %a = pd.reduce_sum X(%x) -> Out("a") {reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  %b = pd.square X(%a) -> Out("b") : (tensor<1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_div X(%a) Y(%b) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
}
