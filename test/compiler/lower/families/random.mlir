// Family random. The generator of the program's version: 0 is that of 1.x, 1 that of 2.x.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program draws
// CHECK-NEXT: call dt_random_stream(; 0 0)
// CHECK-NEXT: call dt_uniform_random(; 1 7 0 0 -1 1 1) -> u float32[2x3]
// CHECK-NEXT: call dt_random_stream()
// CHECK-NEXT: call dt_random_stream(; 1 1)
// CHECK-NEXT: call dt_dropout(u float32[2x3], -; 0 0 0 2006002 0.5 'upscale_in_train') -> y float32[2x3], m uint8[2x3]
pd.program @draws attributes {version = 2006002 : i64} {
  %u = pd.uniform_random -> Out("u") {dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 7 : i32, shape = array<i64: 2, 3>} : () -> tensor<2x3xf32>
  %y, %m = pd.dropout X(%u) -> Out("y") Mask("m") {dropout_implementation = "upscale_in_train", dropout_prob = 0.5 : f32} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>)
}

// CHECK: program old
// CHECK-NEXT: call dt_random_stream(; 0 0)
// CHECK-NEXT: call dt_uniform_random(; 0 7 0 0 -1 1 1) -> u float32[2x3]
pd.program @old attributes {version = 1008005 : i64} {
  %u = pd.uniform_random -> Out("u") {dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 7 : i32, shape = array<i64: 2, 3>} : () -> tensor<2x3xf32>
}

// A call before each op says whose numbers it draws: the op of the reference that it stands for,
// its own number in the program, the axes along which ranks differ.
// CHECK: program streams
// CHECK-NEXT: call dt_random_stream(; 5 0 'dp' 'mp')
// CHECK-NEXT: call dt_dropout(
// CHECK-NEXT: call dt_random_stream()
// CHECK-NEXT: call dt_random_stream(; -2 1)
// CHECK-NEXT: call dt_dropout(
pd.program @streams attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<2x3xf32>
  %y, %m = pd.dropout X(%x) -> Out("y") Mask("m") {dropout_implementation = "upscale_in_train", dropout_prob = 0.5 : f32} with {dist.src = 5 : i64, dist.streams = ["dp", "mp"]} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>)
  %z, %n = pd.dropout X(%y) -> Out("z") Mask("n") {dropout_implementation = "upscale_in_train", dropout_prob = 0.5 : f32} with {dist.streams = []} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xui8>)
}
