// The lists are those of the version that saved the program: layer_norm was gray until 2.5, and is
// black since. Statistics and what scales them stay float32.
// RUN: dtranspile-opt %s --split-input-file --amp="init_loss_scaling=1 use_dynamic_loss_scaling=false" | FileCheck %s
// RUN: dtranspile-opt %s --split-input-file --amp="amp_dtype=bfloat16" 2>&1 | FileCheck %s --check-prefix=BF16

// CHECK: %[[M:.*]] = pd.matmul_v2 {{.*}} -> tensor<?x8xf16>
// CHECK: pd.layer_norm Bias(%[[P:.*]]) Scale(%[[P]]) X(%[[M]]) {{.*}} -> (tensor<?xf32>, tensor<?xf32>, tensor<?x8xf16>)
// CHECK: %[[M:.*]] = pd.matmul_v2 {{.*}} -> tensor<?x8xf16>
// CHECK: %[[F:.*]] = pd.cast X(%[[M]]) -> Out("m.cast_fp32")
// CHECK: pd.layer_norm {{.*}}X(%[[F]]) {{.*}} -> (tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>)
// BF16: pd.matmul_v2 {{.*}} -> tensor<?x8xbf16>
// BF16: pd.layer_norm {{.*}} -> (tensor<?xf32>, tensor<?xf32>, tensor<?x8xbf16>)
// A branch is float32 inside and out, and so is what it takes.
// CHECK: %[[M:.*]] = pd.matmul_v2 {{.*}} -> tensor<?x8xf16>
// CHECK: %[[F:.*]] = pd.cast X(%[[M]]) -> Out("m.cast_fp32")
// CHECK: pd.conditional_block "$capture"(%[[F]]) Cond(%{{.*}}) Input(%[[F]])

pd.var @w : tensor<8x8xf32> {parameter}
pd.var @p : tensor<8xf32> {parameter}
pd.program @main attributes {version = 2004000 : i64} {
  %x = pd.input "x" : tensor<?x8xf32>
  %w = pd.get @w : tensor<8x8xf32>
  %p = pd.get @p : tensor<8xf32>
  %m = pd.matmul_v2 X(%x) Y(%w) -> Out("m") : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %y:3 = pd.layer_norm Bias(%p) Scale(%p) X(%m) -> Mean("mean") Variance("variance") Y("y") {begin_norm_axis = 1 : i32, epsilon = 1.0e-5 : f32} : (tensor<8xf32>, tensor<8xf32>, tensor<?x8xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>)
}

// -----

pd.var @w : tensor<8x8xf32> {parameter}
pd.var @p : tensor<8xf32> {parameter}
pd.program @main attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<?x8xf32>
  %w = pd.get @w : tensor<8x8xf32>
  %p = pd.get @p : tensor<8xf32>
  %m = pd.matmul_v2 X(%x) Y(%w) -> Out("m") : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %y:3 = pd.layer_norm Bias(%p) Scale(%p) X(%m) -> Mean("mean") Variance("variance") Y("y") {begin_norm_axis = 1 : i32, epsilon = 1.0e-5 : f32} : (tensor<8xf32>, tensor<8xf32>, tensor<?x8xf32>) -> (tensor<?xf32>, tensor<?xf32>, tensor<?x8xf32>)
}

// -----

pd.var @w : tensor<8x8xf32> {parameter}
pd.program @main attributes {version = 2006002 : i64} {
  %c = pd.input "c" : tensor<1xi1>
  %x = pd.input "x" : tensor<?x8xf32>
  %w = pd.get @w : tensor<8x8xf32>
  %m = pd.matmul_v2 X(%x) Y(%w) -> Out("m") : (tensor<?x8xf32>, tensor<8x8xf32>) -> tensor<?x8xf32>
  %t = pd.conditional_block "$capture"(%m) Cond(%c) Input(%m) -> Out() Scope("tape") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = ["m"], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
  ^bb0(%a: tensor<?x8xf32>):
    %s = pd.matmul_v2 X(%a) Y(%a) -> Out("s") {trans_y = true} : (tensor<?x8xf32>, tensor<?x8xf32>) -> tensor<?x?xf32>
    pd.yield
  } : (tensor<?x8xf32>, tensor<1xi1>, tensor<?x8xf32>) -> !pd.tape
}
