// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --scale-loss="axes=dp"

// The loss is a sum along mp and a mean along dp: 2 is the factor of one of them only.
dist.mesh @world [dp = 2, mp = 2]
dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
module @source {
  pd.program @main {
    %x = pd.input "x" : tensor<4x4xf32>
    %s = pd.reduce_sum X(%x) -> Out("s") {dim = array<i32: 1>} : (tensor<4x4xf32>) -> tensor<4xf32>
    %l = pd.mean X(%s) -> Out("loss") {op_role = 256 : i32} : (tensor<4xf32>) -> tensor<1xf32>
    %g = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} : () -> tensor<1xf32>
  }
}
dist.role @trainer on @world {
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: dp>} : tensor<2x4xf32>
    %p = dist.slice %x dim 1 layout <even(4)> over [mp] : tensor<2x4xf32> -> tensor<2x2xf32>
    %s = pd.reduce_sum X(%p) -> Out("s") {dim = array<i32: 1>} with {dist.src = 0 : i64} : (tensor<2x2xf32>) -> tensor<2xf32>
    // expected-error @+1 {{the loss is 2 times the reference's when its parts are added up, and has parts along axes that the pass is not told of too: name all of them in axes}}
    %l = pd.mean X(%s) -> Out("loss") {op_role = 256 : i32} with {dist.src = 1 : i64} : (tensor<2xf32>) -> tensor<1xf32>
    %g = pd.fill_constant -> Out("loss@GRAD") {dtype = 5 : i32, shape = array<i64: 1>, op_role = 257 : i32} with {dist.src = 2 : i64} : () -> tensor<1xf32>
  }
}

// -----

dist.mesh @world [dp = 2]
// expected-error @+1 {{has no pd.program @main}}
dist.role @trainer on @world {
  pd.program @startup {}
}
