// The factor is that of the axes that the pass is told of, by what the loss is along each of them.
// RUN: dtranspile-opt %s --form-job="axes=a:2,b:3 comm-axes=a,b" --cut-batch="axes=a,b" --scale-loss="axes=a,b" | FileCheck %s --check-prefix=BOTH
// RUN: dtranspile-opt %s --form-job="axes=a:2,b:3 comm-axes=a,b" --cut-batch="axes=a,b" --scale-loss="axes=a" --scale-loss="axes=b" | FileCheck %s --check-prefix=EACH
// A sum over the batch that is cut over one axis: along the other every rank has the whole of it, and so many times it is summed.
// RUN: dtranspile-opt %s --form-job="axes=a:2,b:3 comm-axes=a,b" --cut-batch="axes=b" --scale-loss="axes=a,b" | FileCheck %s --check-prefix=CUT

// BOTH-LABEL: dist.role @trainer
// BOTH-NOT: pd.scale

// EACH-LABEL: dist.role @trainer
// EACH-NOT: pd.scale

// CUT-LABEL: dist.role @trainer
// CUT: %[[SEED:.*]] = pd.fill_constant
// CUT-NEXT: pd.scale X(%[[SEED]]) -> Out("loss@GRAD") {{.*}}scale = 5.000000e-01 : f32}
// CUT-NOT: pd.scale
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %l = pd.reduce_sum X(%x) -> Out("loss") {reduce_all = true, op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %s = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
}
