// An update that draws: on the server that has the parameter whole, from the stream that one device draws from.
// RUN: dtranspile-opt %s --form-job="axes=dp:2 comm-axes=none" --cut-batch="axes=dp" --ps-place="axes=dp servers=2 min_block_size=1" --ps-split="axes=dp servers=2" | FileCheck %s

// CHECK-LABEL: dist.role @pserver
// CHECK: pd.var @w : tensor<4xf32> {{.*}}blocks(4, per 4, first 0)
// CHECK: dist.foreach_block @w
// CHECK-NEXT: dist.merged @w
// CHECK: pd.dpsgd {{.*}}dist.streams = []

pd.var @w : tensor<4xf32> {parameter}
pd.var @lr : tensor<1xf32>
pd.program @main {
  %x = pd.input "x" : tensor<4xf32>
  %w = pd.get @w : tensor<4xf32>
  %lr = pd.get @lr : tensor<1xf32>
  %g = pd.square_grad "Out@GRAD"(%x) X(%w) -> "X@GRAD"("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %n = pd.dpsgd Grad(%g) LearningRate(%lr) Param(%w) -> ParamOut("w") {batch_size = 16.0 : f32, clip = 10.0 : f32, op_role = 2 : i32, sigma = 1.0 : f32} : (tensor<4xf32>, tensor<1xf32>, tensor<4xf32>) -> tensor<4xf32>
  pd.set @w, %n : tensor<4xf32>
}
