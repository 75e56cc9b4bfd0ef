// Rows of a vocabulary, and classes of a loss, of rank 1: nothing of the rank is left.
// RUN: dtranspile-opt %s --lift-parallel-ops="tensor_parallel_degree=2" | FileCheck %s

// CHECK: pd.var @table : tensor<20x4xf32> {held_in_parts = 0 : i64, parameter}
// CHECK: pd.var @w : tensor<4x20xf32> {held_in_parts = 1 : i64, parameter}
// CHECK: %[[E:.*]] = pd.lookup_table_v2 W({{.*}}) Ids({{.*}}) -> Out("e") {{.*}} : (tensor<20x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
// CHECK: %[[L:.*]] = pd.matmul_v2 X(%[[E]])
// CHECK: pd.softmax_with_cross_entropy Logits(%[[L]]) Label({{.*}}) -> Softmax("p") Loss("c") {{.*}}ignore_index = -1 : i32{{.*}} : (tensor<?x20xf32>, tensor<?x1xi64>) -> (tensor<?x20xf32>, tensor<?x1xf32>)
module {
  pd.var @table : tensor<10x4xf32> {parameter}
  pd.var @w : tensor<4x10xf32> {parameter}
  pd.program @main {
    %ids = pd.input "ids" : tensor<?xi64>
    %label = pd.input "label" : tensor<?x1xi64>
    %table = pd.get @table : tensor<10x4xf32>
    %e = pd.c_embedding W(%table) Ids(%ids) -> Out("e") {start_index = 10 : i64, vocab_size = 20 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
    %s = pd.mp_allreduce_sum X(%e) -> Out("s") {ring_id = 3 : i32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %i = pd.c_identity X(%s) -> Out("i") {ring_id = 3 : i32} : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %w = pd.get @w : tensor<4x10xf32>
    %l = pd.matmul_v2 X(%i) Y(%w) -> Out("logits") : (tensor<?x4xf32>, tensor<4x10xf32>) -> tensor<?x10xf32>
    %c:2 = pd.c_softmax_with_cross_entropy Logits(%l) Label(%label) -> Softmax("p") Loss("c") {ignore_index = -1 : i64, nranks = 2 : i32, rank = 1 : i32, ring_id = 3 : i32} : (tensor<?x10xf32>, tensor<?x1xi64>) -> (tensor<?x10xf32>, tensor<?x1xf32>)
    %m = pd.mean X(%c#1) -> Out("m") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  }
}
