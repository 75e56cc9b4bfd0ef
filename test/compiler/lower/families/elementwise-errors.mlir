// Family elementwise: refusals name what is not supported.
// RUN: not dtranspile-lower --form-only %s 2>&1 | FileCheck %s

// CHECK: error: fused_elemwise_activation: functor_list [gelu, elementwise_add] is not supported natively
pd.program @functor attributes {version = 1008005 : i64} {
  %x = pd.input "x" : tensor<4xf32>
  %y = pd.input "y" : tensor<4xf32>
  %z, %m = pd.fused_elemwise_activation X(%x) Y(%y) -> Out("z") IntermediateOut("m") {functor_list = ["gelu", "elementwise_add"]} : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
}
