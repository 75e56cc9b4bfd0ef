// Where not everything would be right the program stays as it is, and declare-sites names the ops.
// RUN: dtranspile-opt %s --split-input-file --form-job="axes=dp:4 comm-axes=dp" --cut-batch="axes=dp" --reduce-counts="axes=dp" --declare-sites | FileCheck %s
// RUN: dtranspile-opt %s --split-input-file --form-job="axes=dp:1 comm-axes=dp" --cut-batch="axes=dp" --reduce-counts="axes=dp" | FileCheck %s --check-prefix=ONE
// ONE-NOT: @counts

// A ratio and a sum over the samples have no factor in common.
// CHECK: dist.contracts = [{{.*}}elementwise_div{{.*}}tag = "parts"
// CHECK-NOT: @counts
// CHECK-NOT: pd.scale
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %m = pd.input "m" : tensor<?x1xf32>
  %s = pd.reduce_sum X(%x) -> Out("sum") {reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  %c = pd.reduce_sum X(%m) -> Out("count") {reduce_all = true} : (tensor<?x1xf32>) -> tensor<1xf32>
  %q = pd.elementwise_div X(%s) Y(%c) -> Out("ratio") : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %l = pd.elementwise_add X(%q) Y(%s) -> Out("loss") {op_role = 256 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
  %g = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
}

// -----

// So many elements are features, and no counts.
// CHECK: dist.contracts = [{{.*}}tag = "parts"
// CHECK-NOT: @counts
pd.program @main {
  %x = pd.input "x" : tensor<?x1025xf32>
  %m = pd.reduce_mean X(%x) -> Out("means") {dim = array<i32: 0>} : (tensor<?x1025xf32>) -> tensor<1025xf32>
  %d = pd.elementwise_div X(%x) Y(%m) -> Out("normal") : (tensor<?x1025xf32>, tensor<1025xf32>) -> tensor<?x1025xf32>
  %l = pd.mean X(%d) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1025xf32>) -> tensor<1xf32>
  %g = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
}

// -----

// A loss of the fixed kind has nothing to add up.
// CHECK: pd.mean
// CHECK-NOT: dist.all_reduce
pd.program @main {
  %x = pd.input "x" : tensor<?x1xf32>
  %l = pd.mean X(%x) -> Out("loss") {op_role = 256 : i32} : (tensor<?x1xf32>) -> tensor<1xf32>
  %g = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
}
