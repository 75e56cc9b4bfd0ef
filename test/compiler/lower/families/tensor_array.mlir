// Family tensor_array. Lists are objects of the runtime, updated where they are.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program list
// CHECK-NEXT: call dt_list_clear() -> l list of float32[4]
// CHECK-NEXT: call dt_write_to_array(x float32[4], i int64[1], l list of float32[4]) -> l list of float32[4]
// CHECK-NEXT: call dt_lod_array_length(l list of float32[4]) -> n int64[1]
// CHECK-NEXT: call dt_read_from_array(l list of float32[4], i int64[1], -) -> y float32[4]
pd.program @list attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %i = pd.input "i" : tensor<1xi64>
  %l = pd.undef "l" : !pd.array<tensor<4xf32>, 0>
  %l1 = pd.write_to_array "$Out"(%l) X(%x) I(%i) -> Out("l") : (!pd.array<tensor<4xf32>, 0>, tensor<4xf32>, tensor<1xi64>) -> !pd.array<tensor<4xf32>, 0>
  %n = pd.lod_array_length X(%l1) -> Out("n") : (!pd.array<tensor<4xf32>, 0>) -> tensor<1xi64>
  %y = pd.read_from_array X(%l1) I(%i) -> Out("y") : (!pd.array<tensor<4xf32>, 0>, tensor<1xi64>) -> tensor<4xf32>
}
