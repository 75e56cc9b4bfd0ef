// DC-ASGD: gradients are corrected by how far the parameter has come since the trainer has pulled it.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2 min_block_size=1" --ps-split="axes=dp servers=2 serve=async enable_dc_asgd=true" | FileCheck %s
// RUN: not dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --ps-place="axes=dp servers=2 min_block_size=1" --ps-split="axes=dp servers=2 enable_dc_asgd=true" 2>&1 | FileCheck %s --check-prefix=SYNC
// SYNC: ps-split: enable_dc_asgd corrects gradients that come late, and in rounds none does

// CHECK: {sites = ["w"], statement = "{{.*}}", tag = "delay_compensation"}
// CHECK: dist.handle push @w
// CHECK: dist.foreach_block @w
// CHECK-DAG: [[G:%[0-9]+]] = dist.merged @w : tensor<?xf32>
// CHECK-DAG: [[W:%[0-9]+]] = pd.get @w : tensor<?xf32>
// CHECK: [[B:%[0-9]+]] = pd.get @w {dist.as_pulled} : tensor<?xf32>
// CHECK-NEXT: [[D:%[0-9]+]] = pd.elementwise_sub X([[W]]) Y([[B]])
// CHECK-NEXT: [[DG:%[0-9]+]] = pd.elementwise_mul X([[D]]) Y([[G]])
// CHECK-NEXT: [[DGG:%[0-9]+]] = pd.elementwise_mul X([[DG]]) Y([[G]])
// CHECK-NEXT: [[C:%[0-9]+]] = pd.elementwise_add X([[G]]) Y([[DGG]])
// CHECK-NEXT: pd.sgd Grad([[C]])

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.sgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}
