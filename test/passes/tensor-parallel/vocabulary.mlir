// A table that is looked up and multiplied with, and the loss of the logits: rows on two ranks, one
// sum of what is looked up, three numbers per label.
// RUN: dtranspile-opt %s --tensor-parallel="axes=mp tensor_parallel_min_vocabulary=16" 2>&1 | FileCheck %s
// Fewer rows than asked for: whole.
// RUN: dtranspile-opt %s --tensor-parallel="axes=mp" 2>&1 | FileCheck %s --check-prefix=WHOLE
// Tasks of a pipeline take no composites: whole, with a remark.
// RUN: sed 's/mp = 2]/mp = 2, micro = 2]/' %s | dtranspile-opt --tensor-parallel="axes=mp tensor_parallel_min_vocabulary=16" 2>&1 | FileCheck %s --check-prefix=STAGES

// CHECK: pd.var @w : tensor<8x4xf32> {dist.rel = #dist.rel<"w", mp: S(0)>, parameter}
// CHECK: %[[TERM:.*]] = dist.composite "c_embedding" (W = %{{.*}} : tensor<8x4xf32>, Ids = %{{.*}} : tensor<?x3xi64>) -> (Out as "e" : tensor<?x3x4xf32>)
// CHECK: %[[C:.*]] = dist.coord "mp" : tensor<1xi64>
// CHECK: pd.elementwise_mul X(%[[C]])
// CHECK: pd.not_equal
// CHECK: pd.c_embedding {{.*}}start_index = 0 : i64, vocab_size = 16 : i64
// CHECK: %[[E:.*]] = dist.all_reduce sum(%[[TERM]]) on @mp : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
// CHECK: %[[H:.*]] = pd.relu X(%[[E]])
// CHECK: %[[L:.*]] = pd.matmul_v2 X(%[[H]]) {{.*}} -> tensor<?x3x8xf32>
// CHECK: dist.composite "c_softmax_with_cross_entropy" (Logits = %[[L]] : tensor<?x3x8xf32>, Label = %{{.*}} : tensor<?x3x1xi64>) -> (Softmax as "s" : tensor<?x3x8xf32>, Loss as "l" : tensor<?x3x1xf32>)
// CHECK: %[[LOGITS:.*]] = pd.reduce_max
// CHECK-NEXT: dist.all_reduce max(%[[LOGITS]]) on @mp : (tensor<?x3x1xf32>) -> tensor<?x3x1xf32>
// CHECK: pd.clip {{.*}}min = -6.400000e+01 : f32
// CHECK: pd.cross_entropy
// CHECK: dist.all_reduce sum(%{{.*}}, %{{.*}}) on @mp : (tensor<?x3x1xf32>, tensor<?x3x1xf32>)
// CHECK: dist.yield
// CHECK: %[[DL:.*]] = dist.composite "c_softmax_with_cross_entropy_grad"
// CHECK-NOT: dist.all_reduce
// CHECK: dist.yield
// CHECK: %[[D:.*]]:2 = pd.matmul_v2_grad "Out@GRAD"(%[[DL]]) {{.*}} -> (tensor<?x3x4xf32>, tensor<8x4xf32>)
// CHECK: dist.all_reduce sum(%[[D]]#0) on @mp
// CHECK: dist.composite "c_embedding_grad" {{.*}} -> ("W@GRAD" as "w@GRAD@1" : tensor<8x4xf32>)
// CHECK-NOT: dist.all_reduce
// CHECK: pd.sgd {{.*}} -> tensor<8x4xf32>
// CHECK: pd.program @startup
// CHECK: dist.slice %{{.*}} dim 0 layout <even(16)> over [mp] : tensor<16x4xf32> -> tensor<8x4xf32>

// WHOLE: warning: tensor-parallel: there is nothing to split: every rank computes all layers
// WHOLE: pd.var @w : tensor<16x4xf32> {parameter}
// WHOLE: pd.lookup_table_v2

// STAGES: remark: tensor-parallel: stays whole on every rank: w (is on a stage of a pipeline, whose tasks take no vocabulary in parts)
// STAGES: dist.mesh @world [dp = 1, mp = 2, micro = 2]
// STAGES: pd.var @w : tensor<16x4xf32> {parameter}
// STAGES-NOT: dist.composite

module {
  dist.mesh @world [dp = 1, mp = 2]
  dist.comm @mp on @world over [mp] group {carries = "layers"}
  dist.role @trainer on @world {
    pd.var @w : tensor<16x4xf32> {parameter}
    pd.var @lr : tensor<1xf32>
    pd.program @main {
      %i = pd.input "i" : tensor<?x3xi64>
      %t = pd.input "t" : tensor<?x3x1xi64>
      %w = pd.get @w : tensor<16x4xf32>
      %lr = pd.get @lr : tensor<1xf32>
      %e = pd.lookup_table_v2 W(%w) Ids(%i) -> Out("e") {padding_idx = 3 : i64} : (tensor<16x4xf32>, tensor<?x3xi64>) -> tensor<?x3x4xf32>
      %h = pd.relu X(%e) -> Out("h") : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
      %o = pd.matmul_v2 X(%h) Y(%w) -> Out("o") {trans_y = true} : (tensor<?x3x4xf32>, tensor<16x4xf32>) -> tensor<?x3x16xf32>
      %s, %l = pd.softmax_with_cross_entropy Logits(%o) Label(%t) -> Softmax("s") Loss("l") : (tensor<?x3x16xf32>, tensor<?x3x1xi64>) -> (tensor<?x3x16xf32>, tensor<?x3x1xf32>)
      %m = pd.mean X(%l) -> Out("m") {op_role = 256 : i32} : (tensor<?x3x1xf32>) -> tensor<1xf32>
      %dm = pd.fill_constant -> Out("m@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
      %dl = pd.mean_grad X(%l) "Out@GRAD"(%dm) -> "X@GRAD"("l@GRAD") {op_role = 1 : i32} : (tensor<?x3x1xf32>, tensor<1xf32>) -> tensor<?x3x1xf32>
      %do = pd.softmax_with_cross_entropy_grad Label(%t) "Loss@GRAD"(%dl) Softmax(%s) -> "Logits@GRAD"("o@GRAD") {op_role = 1 : i32} : (tensor<?x3x1xi64>, tensor<?x3x1xf32>, tensor<?x3x16xf32>) -> tensor<?x3x16xf32>
      %dh, %dw0 = pd.matmul_v2_grad "Out@GRAD"(%do) X(%h) Y(%w) -> "X@GRAD"("h@GRAD") "Y@GRAD"("w@GRAD@0") {op_role = 1 : i32, trans_y = true} : (tensor<?x3x16xf32>, tensor<?x3x4xf32>, tensor<16x4xf32>) -> (tensor<?x3x4xf32>, tensor<16x4xf32>)
      %de = pd.relu_grad Out(%h) "Out@GRAD"(%dh) -> "X@GRAD"("e@GRAD") {op_role = 1 : i32} : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
      %dw1 = pd.lookup_table_v2_grad Ids(%i) "Out@GRAD"(%de) W(%w) -> "W@GRAD"("w@GRAD@1") {op_role = 1 : i32, padding_idx = 3 : i64} : (tensor<?x3xi64>, tensor<?x3x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %dw = pd.sum X(%dw0, %dw1) -> Out("w@GRAD") {op_role = 1 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<16x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
      %n = pd.sgd Param(%w) Grad(%dw) LearningRate(%lr) -> ParamOut("w") {op_role = 2 : i32, op_role_var = ["w", "w@GRAD"]} : (tensor<16x4xf32>, tensor<16x4xf32>, tensor<1xf32>) -> tensor<16x4xf32>
      pd.set @w, %n : tensor<16x4xf32>
    }
    pd.program @startup {
      %w = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 16, 4>, value = 0.000000e+00 : f32} : () -> tensor<16x4xf32>
      pd.set @w, %w : tensor<16x4xf32>
      %lr = pd.fill_constant -> Out("lr") {dtype = 5 : i32, shape = array<i64: 1>, value = 1.000000e-01 : f32} : () -> tensor<1xf32>
      pd.set @lr, %lr : tensor<1xf32>
    }
  }
}
