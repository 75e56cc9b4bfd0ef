// Family tensor_array: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: tensor_array_to_tensor: has no axis 2 in items [4, 3]
pd.program @axis attributes {version = 1008005 : i64} {
  %l = pd.undef "l" : !pd.array<tensor<4x3xf32>, 0>
  %y, %i = pd.tensor_array_to_tensor X(%l) -> Out("y") OutIndex("i") {axis = 2 : i32, use_stack = false} : (!pd.array<tensor<4x3xf32>, 0>) -> (tensor<4x3xf32>, tensor<?xi32>)
}

// CHECK: error: rnn_memory_helper: an argument that is SelectedRows or a list is not supported natively
pd.program @memory attributes {version = 1008005 : i64} {
  %l = pd.undef "l" : !pd.array<tensor<4x3xf32>, 0>
  %y = pd.rnn_memory_helper X(%l) -> Out("y") : (!pd.array<tensor<4x3xf32>, 0>) -> tensor<4x3xf32>
}

// CHECK: error: feed l is no tensor: not supported
pd.program @feed attributes {version = 1008005 : i64} {
  %l = pd.input "l" : !pd.array<tensor<4x3xf32>, 0>
  %n = pd.lod_array_length X(%l) -> Out("n") : (!pd.array<tensor<4x3xf32>, 0>) -> tensor<1xi64>
}

// CHECK: error: lod_array_length: needs an argument in input slot 'X'
pd.program @nothing attributes {version = 1008005 : i64} {
  %n = pd.lod_array_length X(empty) -> Out("n") : () -> tensor<1xi64>
}

// CHECK: error: merge_lod_tensor: needs an argument in input slot 'InFalse'
pd.program @merge attributes {version = 1008005 : i64} {
  %x = pd.input "x" : !pd.lod<tensor<?x2xf32>, 1>
  %m = pd.input "m" : tensor<4x1xi1>
  %y = pd.merge_lod_tensor X(%x) Mask(%m) InTrue(empty) InFalse(empty) -> Out("y") : (!pd.lod<tensor<?x2xf32>, 1>, tensor<4x1xi1>) -> !pd.lod<tensor<?x2xf32>, 1>
}
