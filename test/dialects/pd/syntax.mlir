// Structural ops, framework ops, attributes and types print what they parse.
// RUN: dtranspile-opt %s | dtranspile-opt | FileCheck %s
// RUN: dtranspile-opt %s --mlir-print-op-generic | dtranspile-opt | FileCheck %s

// CHECK: pd.var @fc_0.w_0 : tensor<10x4xf32> {parameter}
pd.var @fc_0.w_0 : tensor<10x4xf32> {parameter}
// CHECK: pd.var @"odd name" : tensor<1xf32>
pd.var @"odd name" : tensor<1xf32>

// CHECK: pd.program @main attributes {version = 1008005 : i64} {
pd.program @main attributes {version = 1008005 : i64} {
  // CHECK: pd.decl "x" tensor of float32 [-1, 10] lod 0 {need_check_feed = true}
  pd.decl "x" tensor of float32 [-1, 10] lod 0 {need_check_feed = true}
  // CHECK: pd.decl "scalar" tensor of float64 []
  pd.decl "scalar" tensor of float64 []
  // CHECK: pd.decl "other" tensor dtype 99 [1]
  pd.decl "other" tensor dtype 99 [1]
  // CHECK: pd.decl "tape" tape
  pd.decl "tape" tape
  // CHECK: pd.decl "new kind" kind 40 {extra = "0a"}
  pd.decl "new kind" kind 40 {extra = "0a"}

  // CHECK: %[[X:.*]] = pd.input "x" : tensor<?x10xf32>
  %x = pd.input "x" : tensor<?x10xf32>
  // CHECK: %[[W:.*]] = pd.get @fc_0.w_0 : tensor<10x4xf32>
  %w = pd.get @fc_0.w_0 : tensor<10x4xf32>
  // CHECK: %[[H:.*]] = pd.mul X(%[[X]]) Y(%[[W]]) -> Out("h") {x_num_col_dims = 1 : i32} : (tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<?x4xf32>
  %h = pd.mul X(%x) Y(%w) -> Out("h") {x_num_col_dims = 1 : i32} : (tensor<?x10xf32>, tensor<10x4xf32>) -> tensor<?x4xf32>
  // Absent, empty and @EMPTY@ are three things.
  // CHECK: pd.sum X(%[[H]], empty, %[[H]]) -> Out("h") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  %s = pd.sum X(%h, empty, %h) -> Out("h") : (tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: pd.elementwise_add_grad "Out@GRAD"(%{{.*}}) X(%{{.*}}) Y(%{{.*}}) -> "X@GRAD"("g") "Y@GRAD"(empty)
  %g = pd.elementwise_add_grad "Out@GRAD"(%s) X(%h) Y(%h) -> "X@GRAD"("g") "Y@GRAD"(empty) : (tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK: pd.opaque "my_op" In() -> Out("o") {a = #pd.block<1>, b = #pd.ref<"x">, c = #pd.scalar<3 : i64>, d = array<i1: true, false>, e = ["p", ""]}
  %o = pd.opaque "my_op" In() -> Out("o") {a = #pd.block<1>, b = #pd.ref<"x">, c = #pd.scalar<3 : i64>, d = array<i1: true, false>, e = ["p", ""]} : () -> !pd.raw<"READER">
  // CHECK: pd.opaque "bare" : () -> ()
  pd.opaque "bare" : () -> ()
  // CHECK: pd.opaque "nothing" with {is_target = true} : () -> ()
  pd.opaque "nothing" with {is_target = true} : () -> ()
  // CHECK: pd.undef "list" : !pd.array<tensor<?x4xf32>, 0>
  %l = pd.undef "list" : !pd.array<tensor<?x4xf32>, 0>
  // CHECK: pd.undef "ids" : !pd.lod<tensor<?x1xi64>, 1>
  %i = pd.undef "ids" : !pd.lod<tensor<?x1xi64>, 1>
  // CHECK: pd.undef "rows" : !pd.rows<tensor<100x8xf32>>
  %r = pd.undef "rows" : !pd.rows<tensor<100x8xf32>>
  // CHECK: pd.set @fc_0.w_0, %[[W]] : tensor<10x4xf32>
  pd.set @fc_0.w_0, %w : tensor<10x4xf32>

  %c = pd.undef "c" : tensor<1xi1>
  // CHECK: pd.while "$capture"(%[[H]]) Condition(%{{.*}}) X() -> Out("h") StepScopes("tape") {sub_block = #pd.block<1>} blocks [{captures = ["h"], idx = 1 : i32, written = ["h"]}] {
  // CHECK-NEXT: ^bb0(%[[A:.*]]: tensor<?x4xf32>):
  // CHECK-NEXT: %[[R:.*]] = pd.relu X(%[[A]]) -> Out("h") : (tensor<?x4xf32>) -> tensor<?x4xf32>
  // CHECK-NEXT: pd.yield %[[R]] : tensor<?x4xf32>
  // CHECK-NEXT: } : (tensor<?x4xf32>, tensor<1xi1>) -> (tensor<?x4xf32>, !pd.tape)
  %n:2 = pd.while "$capture"(%h) Condition(%c) X() -> Out("h") StepScopes("tape") {sub_block = #pd.block<1>} blocks [{captures = ["h"], idx = 1 : i32, written = ["h"]}] {
  ^bb0(%a: tensor<?x4xf32>):
    %q = pd.relu X(%a) -> Out("h") : (tensor<?x4xf32>) -> tensor<?x4xf32>
    pd.yield %q : tensor<?x4xf32>
  } : (tensor<?x4xf32>, tensor<1xi1>) -> (tensor<?x4xf32>, !pd.tape)
}
