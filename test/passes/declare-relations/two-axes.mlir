// What a sum over one axis made equal still differs along the other: variables are declared so, and draws follow.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --declare-relations="axes=a,b" | FileCheck %s
// One axis at a time: what was said of the other stays.
// RUN: dtranspile-opt %s --split-input-file --verify-diagnostics --declare-relations="axes=a" --declare-relations="axes=b" | FileCheck %s

// CHECK-LABEL: dist.role @trainer
// CHECK: pd.var @metric : tensor<1xf32> {dist.rel = #dist.rel<"metric", b: X(local_state)>}
// CHECK: pd.var @whole : tensor<1xf32> {dist.rel = #dist.rel<"whole">}
// CHECK: pd.var @earlier : tensor<1xf32> {dist.rel = #dist.rel<"earlier", b: X(local_state)>}
// CHECK: pd.var @own : tensor<1xf32> {dist.rel = #dist.rel<"own", a: X(local_state), b: X(local_state)>}
// CHECK: pd.dropout X({{.*}}) -> Out("all") {{.*}}dist.streams = ["a", "b"]}
// CHECK: pd.dropout X({{.*}}) -> Out("half") {{.*}}dist.streams = ["b"]}
// CHECK: pd.dropout X({{.*}}) -> Out("none") {{.*}}dist.streams = []}
dist.mesh @world [a = 2, b = 3, one = 1]
dist.comm @on_a on @world over [a] group {carries = "gradients"}
dist.comm @on_b on @world over [b] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @metric : tensor<1xf32> {dist.rel = #dist.rel<"metric">}
  pd.var @whole : tensor<1xf32> {dist.rel = #dist.rel<"whole">}
  pd.var @earlier : tensor<1xf32> {dist.rel = #dist.rel<"earlier">}
  pd.var @own : tensor<1xf32> {dist.rel = #dist.rel<"own">}
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: a, b, one>} : tensor<?x3xf32>
    %d:2 = pd.dropout X(%x) -> Out("all") Mask("all.mask") : (tensor<?x3xf32>) -> (tensor<?x3xf32>, tensor<?x3xui8>)
    // What the variable holds from the step before is handed on.
    %before = pd.get @metric : tensor<1xf32>
    pd.set @earlier, %before : tensor<1xf32>
    %m = pd.mean X(%x) -> Out("m") : (tensor<?x3xf32>) -> tensor<1xf32>
    pd.set @own, %m : tensor<1xf32>
    %m_a = dist.all_reduce sum(%m) on @on_a : (tensor<1xf32>) -> tensor<1xf32>
    pd.set @metric, %m_a : tensor<1xf32>
    %h:2 = pd.dropout X(%m_a) -> Out("half") Mask("half.mask") : (tensor<1xf32>) -> (tensor<1xf32>, tensor<1xui8>)
    %p = dist.all_reduce sum(%m_a) on @on_b : (tensor<1xf32>) -> !dist.pending<tensor<1xf32>>
    %m_ab = dist.wait %p : (!dist.pending<tensor<1xf32>>) -> tensor<1xf32>
    %n:2 = pd.dropout X(%m_ab) -> Out("none") Mask("none.mask") : (tensor<1xf32>) -> (tensor<1xf32>, tensor<1xui8>)
    pd.set @whole, %m_ab : tensor<1xf32>
  }
}

// -----

// A gradient that is summed over one axis of two.
dist.mesh @world [a = 2, b = 3]
dist.comm @on_a on @world over [a] group {carries = "gradients"}
dist.role @trainer on @world {
  pd.var @w : tensor<1xf32> {parameter, dist.rel = #dist.rel<"w">}
  pd.program @main {
    %x = pd.input "x" {dist.batch = #dist.batch<0: a, b>} : tensor<?x3xf32>
    %w = pd.get @w : tensor<1xf32>
    %g = pd.mean X(%x) -> Out("w@GRAD") {op_role = 1 : i32} : (tensor<?x3xf32>) -> tensor<1xf32>
    %s = dist.all_reduce sum(%g) on @on_a : (tensor<1xf32>) -> tensor<1xf32>
    // expected-error @+1 {{updates 'w' with a value that differs between the ranks of [b]: a gradient reaches the optimizer without being reduced over these axes}}
    %w1 = pd.sgd Grad(%s) LearningRate(%w) Param(%w) -> ParamOut("w") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    pd.set @w, %w1 : tensor<1xf32>
  }
}
