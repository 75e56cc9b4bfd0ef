// RUN: dtranspile-opt %s --keep-source | FileCheck %s
// With another program after it, form-job keeps that as @reference.
// RUN: dtranspile-opt %s --keep-source --form-job="axes=dp:2 comm-axes=dp" | FileCheck %s --check-prefix=JOB
// RUN: not dtranspile-opt %s --keep-source --keep-source 2>&1 | FileCheck %s --check-prefix=TWICE

// CHECK: module @source {
// CHECK-NEXT: pd.var @w
// CHECK-NEXT: pd.program @main
// CHECK: pd.program @startup
// CHECK: pd.var @w
// CHECK: pd.program @main
// CHECK: pd.program @startup
// JOB: dist.mesh @world
// JOB: module @source {
// JOB: pd.var @w
// JOB: module @reference {
// JOB: pd.var @w
// JOB: dist.role @trainer
// JOB: pd.var @w {{.*}}dist.rel
// TWICE: error: the input of keep-source holds pd.var and pd.program only; is it a job already?

pd.var @w : tensor<1xf32> {parameter}
pd.program @main {
  %w = pd.get @w : tensor<1xf32>
}
pd.program @startup {
  %0 = pd.fill_constant -> Out("w") {shape = array<i64: 1>, dtype = 5 : i32, value = 0.1 : f32} : () -> tensor<1xf32>
  pd.set @w, %0 : tensor<1xf32>
}
