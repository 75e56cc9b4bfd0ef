// Parts of a vocabulary in the ops that the framework has for them: which part is a literal of the rank.
// RUN: dtranspile-opt %s --tensor-parallel="axes=mp tensor_parallel_min_vocabulary=16" --specialize="composites=keep" --export-collective="rank=1 endpoints=h0:1,h1:2" 2>/dev/null | FileCheck %s
// The framework's lookup of a part has no padding.
// RUN: sed 's/{padding_idx = -1 : i64}/{padding_idx = 3 : i64}/' %s | not dtranspile-opt --tensor-parallel="axes=mp tensor_parallel_min_vocabulary=16" --specialize="composites=keep" --export-collective="rank=1 endpoints=h0:1,h1:2" 2>&1 | FileCheck %s --check-prefix=PADDED

// CHECK: pd.program @main
// CHECK: %[[E:.*]] = pd.c_embedding W(%{{.*}}) Ids(%{{.*}}) -> Out("e") {op_role = 0 : i32, start_index = 8 : i64, vocab_size = 16 : i64}
// CHECK: pd.c_allreduce_sum X(%[[E]]) -> Out("e") {{.*}}use_model_parallel = true
// CHECK: %{{.*}}:2 = pd.c_softmax_with_cross_entropy Logits(%{{.*}}) Label(%{{.*}}) -> Softmax("s") Loss("l") {ignore_index = -100 : i64, nranks = 2 : i32, op_role = 0 : i32, rank = 1 : i32, ring_id = 0 : i32}
// CHECK: pd.c_softmax_with_cross_entropy_grad Softmax(%{{.*}}) Label(%{{.*}}) "Loss@GRAD"(%{{.*}}) {{.*}}rank = 1 : i32
// CHECK: pd.c_embedding_grad Ids(%{{.*}}) "Out@GRAD"(%{{.*}}) W(%{{.*}}) {{.*}}start_index = 8 : i64, vocab_size = 16 : i64

// PADDED: error: export: the framework's c_embedding has no padding_idx; run the job natively, or give tensor_parallel_min_vocabulary more than the rows of this table

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
      %e = pd.lookup_table_v2 W(%w) Ids(%i) -> Out("e") {padding_idx = -1 : i64} : (tensor<16x4xf32>, tensor<?x3xi64>) -> tensor<?x3x4xf32>
      %h = pd.relu X(%e) -> Out("h") : (tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
      %o = pd.matmul_v2 X(%h) Y(%w) -> Out("o") {trans_y = true} : (tensor<?x3x4xf32>, tensor<16x4xf32>) -> tensor<?x3x16xf32>
      %s, %l = pd.softmax_with_cross_entropy Logits(%o) Label(%t) -> Softmax("s") Loss("l") : (tensor<?x3x16xf32>, tensor<?x3x1xi64>) -> (tensor<?x3x16xf32>, tensor<?x3x1xf32>)
      %m = pd.mean X(%l) -> Out("m") {op_role = 256 : i32} : (tensor<?x3x1xf32>) -> tensor<1xf32>
      %dm = pd.fill_constant -> Out("m@GRAD") {dtype = 5 : i32, op_role = 257 : i32, shape = array<i64: 1>, value = 1.000000e+00 : f32} : () -> tensor<1xf32>
      %dl = pd.mean_grad X(%l) "Out@GRAD"(%dm) -> "X@GRAD"("l@GRAD") {op_role = 1 : i32} : (tensor<?x3x1xf32>, tensor<1xf32>) -> tensor<?x3x1xf32>
      %do = pd.softmax_with_cross_entropy_grad Label(%t) "Loss@GRAD"(%dl) Softmax(%s) -> "Logits@GRAD"("o@GRAD") {op_role = 1 : i32} : (tensor<?x3x1xi64>, tensor<?x3x1xf32>, tensor<?x3x16xf32>) -> tensor<?x3x16xf32>
      %dh, %dw0 = pd.matmul_v2_grad "Out@GRAD"(%do) X(%h) Y(%w) -> "X@GRAD"("h@GRAD") "Y@GRAD"("w@GRAD@0") {op_role = 1 : i32, trans_y = true} : (tensor<?x3x16xf32>, tensor<?x3x4xf32>, tensor<16x4xf32>) -> (tensor<?x3x4xf32>, tensor<16x4xf32>)
      %de = pd.relu_grad Out(%h) "Out@GRAD"(%dh) -> "X@GRAD"("e@GRAD") {op_role = 1 : i32} : (tensor<?x3x4xf32>, tensor<?x3x4xf32>) -> tensor<?x3x4xf32>
      %dw1 = pd.lookup_table_v2_grad Ids(%i) "Out@GRAD"(%de) W(%w) -> "W@GRAD"("w@GRAD@1") {op_role = 1 : i32, padding_idx = -1 : i64} : (tensor<?x3xi64>, tensor<?x3x4xf32>, tensor<16x4xf32>) -> tensor<16x4xf32>
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
