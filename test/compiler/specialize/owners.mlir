// An owner per parameter: guards without communication stay, so that there is one class for any
// number of ranks. Located values and variables keep their places.
// RUN: sed s/RANKS/8/ %s > %t8.mlir
// RUN: dtranspile-opt %t8.mlir --specialize 2>&1 | FileCheck %s -DRANKS=8
// RUN: sed s/RANKS/100000/ %s > %tmany.mlir
// RUN: dtranspile-opt %tmany.mlir --specialize 2>&1 | FileCheck %s -DRANKS=100000
// RUN: dtranspile-opt %tmany.mlir --specialize="rank=1" | FileCheck %s --check-prefix=OWNER
// RUN: dtranspile-opt %tmany.mlir --specialize="rank=2" | FileCheck %s --check-prefix=OTHER

// CHECK: remark: class trainer has [[RANKS]] ranks
// CHECK-NOT: remark
// CHECK: pd.var @w : tensor<2xf32> {dist.at = #dist.sel<sharding = 1>}
// CHECK: %[[O:.*]] = dist.on <sharding = 1> -> (!dist.at<tensor<2xf32>, sharding = 1>) {
// CHECK: pd.get @w
// CHECK: %[[B:.*]] = dist.broadcast(%[[O]]) on @s from <sharding = 1> : (!dist.at<tensor<2xf32>, sharding = 1>) -> tensor<2xf32>
// CHECK: %[[G:.*]] = dist.reduce sum(%{{.*}}) on @s to <sharding = 1> : (tensor<2xf32>) -> !dist.at<tensor<2xf32>, sharding = 1>
// CHECK: dist.on <sharding = 1> with (%{{.*}} = %[[G]] : !dist.at<tensor<2xf32>, sharding = 1>) {
// CHECK: pd.set @w
// CHECK: %{{.*}} = dist.on <sharding = 1> -> (tensor<2xf32>) {
// CHECK: } else {

// OWNER: pd.var @w : tensor<2xf32>{{$}}
// OWNER: %[[O:.*]] = pd.get @w
// OWNER: %[[B:.*]] = dist.broadcast(%[[O]])
// OWNER: %[[G:.*]] = dist.reduce sum(%{{.*}}) on @s to <sharding = 1> : (tensor<2xf32>) -> tensor<2xf32>
// OWNER: pd.elementwise_sub X(%{{.*}}) Y(%[[G]])
// OWNER: pd.set @w
// OWNER-NOT: dist.on

// OTHER-NOT: pd.var
// OTHER: %[[U:.*]] = pd.undef "w"
// OTHER: dist.broadcast(%[[U]])
// OTHER: dist.reduce
// OTHER-NOT: pd.set

dist.mesh @m [sharding = RANKS]
dist.comm @s on @m over [sharding] group
dist.role @trainer on @m {
  pd.var @w : tensor<2xf32> {dist.at = #dist.sel<sharding = 1>}
  pd.program @main {
    %own = dist.on <sharding = 1> -> (!dist.at<tensor<2xf32>, sharding = 1>) {
      pd.decl "w" tensor of float32 [2]
      %w = pd.get @w : tensor<2xf32>
      dist.yield %w : tensor<2xf32>
    }
    %all = dist.broadcast (%own) on @s from <sharding = 1> : (!dist.at<tensor<2xf32>, sharding = 1>) -> tensor<2xf32>
    %d = pd.tanh X(%all) -> Out("d") : (tensor<2xf32>) -> tensor<2xf32>
    %g = dist.reduce sum (%d) on @s to <sharding = 1> : (tensor<2xf32>) -> !dist.at<tensor<2xf32>, sharding = 1>
    dist.on <sharding = 1> with (%own_g = %g : !dist.at<tensor<2xf32>, sharding = 1>) {
      %w = pd.get @w : tensor<2xf32>
      %n = pd.elementwise_sub X(%w) Y(%own_g) -> Out("w") : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      pd.set @w, %n : tensor<2xf32>
      dist.yield
    }
    %part = dist.on <sharding = 1> -> (tensor<2xf32>) {
      dist.yield %all : tensor<2xf32>
    } else {
      %zero = pd.fill_constant -> Out("zero") {dtype = 5 : i32, shape = array<i64: 2>, value = 0.0 : f32} : () -> tensor<2xf32>
      dist.yield %zero : tensor<2xf32>
    }
    %known = dist.assume %part is <"part", sharding: P(sum)> because "one of the terms is not zero" : tensor<2xf32>
    %u = pd.square X(%known) -> Out("u") : (tensor<2xf32>) -> tensor<2xf32>
  }
}
