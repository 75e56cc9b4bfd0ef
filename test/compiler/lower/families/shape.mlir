// Family shape. What only renames elements is a view; the others are calls.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program views
// CHECK-NEXT: kernel relu(r float32[2x12] of x) -> y float32[2x12]
pd.program @views attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xf32>
  %r, %rs = pd.reshape2 X(%x) -> Out("r") XShape("rs") {shape = array<i32: 2, 12>} : (tensor<4x6xf32>) -> (tensor<2x12xf32>, tensor<0x4x6xf32>)
  %y = pd.relu X(%r) -> Out("y") : (tensor<2x12xf32>) -> tensor<2x12xf32>
}

// CHECK: program moves
// CHECK-NEXT: call dt_transpose(x float32[4x6]; 1 0) -> t float32[6x4]
// CHECK-NEXT: call dt_concat(t float32[6x4], t float32[6x4], -; 0) -> c float32[12x4]
pd.program @moves attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x6xf32>
  %t, %ts = pd.transpose2 X(%x) -> Out("t") XShape("ts") {axis = array<i32: 1, 0>} : (tensor<4x6xf32>) -> (tensor<6x4xf32>, tensor<0x4x6xf32>)
  %c = pd.concat X(%t, %t) -> Out("c") {axis = 0 : i32} : (tensor<6x4xf32>, tensor<6x4xf32>) -> tensor<12x4xf32>
}
