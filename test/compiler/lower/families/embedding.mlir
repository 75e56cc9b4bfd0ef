// Family embedding. Rows by index, and their inverse.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program lookup
// CHECK-NEXT: call dt_lookup_table(w float32[10x4], i int64[3]; -1 'lookup_table_v2') -> y float32[3x4]
// CHECK-NEXT: call dt_one_hot(i int64[3], -; 10 0 'one_hot_v2') -> o float32[3x10]
pd.program @lookup attributes {version = 2006002 : i64} {
  %w = pd.input "w" : tensor<10x4xf32>
  %i = pd.input "i" : tensor<3xi64>
  %y = pd.lookup_table_v2 Ids(%i) W(%w) -> Out("y") {padding_idx = -1 : i64} : (tensor<3xi64>, tensor<10x4xf32>) -> tensor<3x4xf32>
  %o = pd.one_hot_v2 X(%i) -> Out("o") {depth = 10 : i32, dtype = 5 : i32} : (tensor<3xi64>) -> tensor<3x10xf32>
}

// CHECK: program part
// CHECK-NEXT: call dt_lookup_table(w float32[5x4], i int64[3]; 5 10 'c_embedding') -> y float32[3x4]
pd.program @part attributes {version = 2006002 : i64} {
  %w = pd.input "w" : tensor<5x4xf32>
  %i = pd.input "i" : tensor<3xi64>
  %y = pd.c_embedding W(%w) Ids(%i) -> Out("y") {start_index = 5 : i64, vocab_size = 10 : i64} : (tensor<5x4xf32>, tensor<3xi64>) -> tensor<3x4xf32>
}
