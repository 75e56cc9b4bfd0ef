// RUN: dtranspile-opt %s --verify-diagnostics --form-job="axes=dp:4 comm-axes=dp" --local-sgd="axes=dp"

pd.var @w : tensor<1xf32> {parameter}
pd.program @startup {
}
pd.program @main {
  %x = pd.input "x" : tensor<1xf32>
  %c = pd.input "c" : tensor<1xi1>
  %t = pd.conditional_block "$capture"(%x) Cond(%c) -> Scope("tape") {sub_block = #pd.block<1>, is_scalar_condition = true} blocks [{captures = ["x"], idx = 1 : i32}] {
  ^bb0(%a: tensor<1xf32>):
    %w = pd.get @w : tensor<1xf32>
    // expected-error @+1 {{local_sgd: parameter 'w' is updated inside a sub-block; not supported}}
    %w1 = pd.sgd Grad(%a) LearningRate(%a) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    pd.set @w, %w1 : tensor<1xf32>
    pd.yield
  } : (tensor<1xf32>, tensor<1xi1>) -> !pd.tape
}
