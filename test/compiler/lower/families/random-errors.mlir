// Family random: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: truncated_gaussian_random: a shape that only the run knows is not supported natively
pd.program @open attributes {version = 2006002 : i64} {
  %y = pd.truncated_gaussian_random -> Out("y") {dtype = 5 : i32, shape = array<i32: -1, 3>} : () -> tensor<?x3xf32>
}

// CHECK: error: uniform_random_batch_size_like: cannot copy extent 2 of Input [4, 3] to 0 of shape [?, 5]
pd.program @like attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %y = pd.uniform_random_batch_size_like Input(%x) -> Out("y") {dtype = 5 : i32, input_dim_idx = 2 : i32, shape = array<i32: -1, 5>} : (tensor<4x3xf32>) -> tensor<?x5xf32>
}

// CHECK: error: sampling_id: needs a matrix in X, not [3]
pd.program @vector attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<3xf32>
  %y = pd.sampling_id X(%x) -> Out("y") : (tensor<3xf32>) -> tensor<1xi64>
}

// CHECK: error: random_crop: cannot crop X [4, 3] to [2, 2, 2]
pd.program @crop attributes {version = 2006002 : i64} {
  %x = pd.input "x" : tensor<4x3xf32>
  %s = pd.input "s" : tensor<1xi64>
  %y, %s1 = pd.random_crop X(%x) Seed(%s) -> Out("y") SeedOut("s1") {shape = array<i32: 2, 2, 2>} : (tensor<4x3xf32>, tensor<1xi64>) -> (tensor<2x2x2xf32>, tensor<1xi64>)
}

// CHECK: error: dropout_grad: Mask of shape [3] does not fit [4x2]
pd.program @mask attributes {version = 2006002 : i64} {
  %m = pd.input "m" : tensor<3xui8>
  %g = pd.input "g" : tensor<4x2xf32>
  %y = pd.dropout_grad Mask(%m) "Out@GRAD"(%g) -> "X@GRAD"("y") {dropout_implementation = "upscale_in_train", dropout_prob = 0.5 : f32} : (tensor<3xui8>, tensor<4x2xf32>) -> tensor<4x2xf32>
}

// CHECK: error: flash_attn: return_softmax is not supported natively
pd.program @probabilities attributes {version = 2006002 : i64} {
  %q = pd.input "q" : tensor<1x2x2x4xf32>
  %o, %s, %l, %d = pd.flash_attn q(%q) k(%q) v(%q) -> out("o") softmax("s") softmax_lse("l") seed_offset("d") {return_softmax = true} : (tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>, tensor<1x2x2x4xf32>) -> (tensor<1x2x2x4xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2xf32>, tensor<2xi64>)
}
