// What only the step knows travels alone: reduced where ranks agree on it, else gathered.
// RUN: dtranspile-opt %s --specialize 2>/dev/null | dtranspile-lower - | FileCheck %s

// CHECK: program main
// CHECK-NEXT:   call dt_where_index(m bool[4]) -> i int64[?x1]
// CHECK-NEXT:   call dt_lookup_table_grad(w float32[9x2], ids int64[3x1], d float32[3x2]; -1) -> g rows of float32[9x2]
// CHECK-NEXT:   start all_gather comm 0 inputs i int64[?x1] outputs i#1 int64[?x1] ticket 0
// CHECK-NEXT:   wait 0
// CHECK-NEXT:   start all_gather comm 0 inputs g rows of float32[9x2] outputs g#1 rows of float32[9x2] ticket 1
// CHECK-NEXT:   wait 1
// CHECK-NEXT:   start all_reduce comm 0 inputs g rows of float32[9x2] outputs g#2 rows of float32[9x2] ticket 2
// CHECK-NEXT:   wait 2
// CHECK-NEXT:   kernel relu(i#1 int64[?x1]) -> a int64[?x1]
// CHECK-NEXT:   call dt_merge_selected_rows(g#1 rows of float32[9x2]) -> b rows of float32[9x2]
// CHECK-NEXT:   call dt_values_of_rows(b rows of float32[9x2]) -> b2 float32[?x2]
// CHECK-NEXT:   call dt_merge_selected_rows(g#2 rows of float32[9x2]) -> r rows of float32[9x2]
// CHECK-NEXT:   call dt_values_of_rows(r rows of float32[9x2]) -> r2 float32[?x2]

dist.mesh @m [a = 2]
dist.comm @c on @m over [a] group
dist.role @trainer on @m {
  pd.program @main {
    %m = pd.input "m" : tensor<4xi1>
    %w = pd.input "w" : tensor<9x2xf32>
    %ids = pd.input "ids" : tensor<3x1xi64>
    %d = pd.input "d" : tensor<3x2xf32>
    %i = pd.where_index Condition(%m) -> Out("i") : (tensor<4xi1>) -> tensor<?x1xi64>
    %g = pd.lookup_table_grad Ids(%ids) "Out@GRAD"(%d) W(%w) -> "W@GRAD"("g") {is_sparse = true} : (tensor<3x1xi64>, tensor<3x2xf32>, tensor<9x2xf32>) -> !pd.rows<tensor<9x2xf32>>
    %a = dist.all_gather (%i) on @c dim 0 ragged : (tensor<?x1xi64>) -> tensor<?x1xi64>
    %b = dist.all_gather (%g) on @c dim 0 ragged : (!pd.rows<tensor<9x2xf32>>) -> !pd.rows<tensor<9x2xf32>>
    %r = dist.all_reduce sum (%g) on @c : (!pd.rows<tensor<9x2xf32>>) -> !pd.rows<tensor<9x2xf32>>
    %a1 = pd.relu X(%a) -> Out("a") : (tensor<?x1xi64>) -> tensor<?x1xi64>
    %b1 = pd.merge_selected_rows X(%b) -> Out("b") : (!pd.rows<tensor<9x2xf32>>) -> !pd.rows<tensor<9x2xf32>>
    %b2 = pd.get_tensor_from_selected_rows X(%b1) -> Out("b2") : (!pd.rows<tensor<9x2xf32>>) -> tensor<9x2xf32>
    %r1 = pd.merge_selected_rows X(%r) -> Out("r") : (!pd.rows<tensor<9x2xf32>>) -> !pd.rows<tensor<9x2xf32>>
    %r2 = pd.get_tensor_from_selected_rows X(%r1) -> Out("r2") : (!pd.rows<tensor<9x2xf32>>) -> tensor<9x2xf32>
  }
}
