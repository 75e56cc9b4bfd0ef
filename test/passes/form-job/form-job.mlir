// RUN: dtranspile-opt %s --form-job="axes=dp:4 comm-axes=dp" | FileCheck %s
// RUN: dtranspile-opt %s --form-job="axes=inter:2,intra:4 comm-axes=inter,intra nccl_comm_num=2 sync_batch_norm=true use_hierarchical_allreduce=true" | FileCheck %s --check-prefix=LEVELS
// RUN: dtranspile-opt %s --form-job="axes=pp:2,dp:4 comm-axes=dp" | FileCheck %s --check-prefix=SOME
// Not a digit more for 100,000 ranks than the number itself.
// RUN: dtranspile-opt %s --form-job="axes=dp:100000 comm-axes=dp" | FileCheck %s --check-prefix=MANY

// CHECK: dist.mesh @world [dp = 4]
// CHECK-NEXT: dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
// CHECK-NOT: dist.comm
// CHECK: module @source {
// CHECK-NEXT: pd.var @w : tensor<3x1xf32> {parameter}
// CHECK-NEXT: pd.program @main
// CHECK-NOT: dist.
// CHECK: dist.role @trainer on @world {
// CHECK-NEXT: pd.var @w : tensor<3x1xf32> {dist.rel = #dist.rel<"w">, parameter}
// Feeds are cut by cut-batch.
// CHECK-NOT: dist.batch
// CHECK: pd.mul {{.*}} with {dist.src = 0 : i64}
// CHECK: pd.relu {{.*}} with {dist.src = 1 : i64}
// CHECK: pd.program @startup
// CHECK: pd.fill_constant {{.*}} with {dist.src = 0 : i64}

// LEVELS: dist.mesh @world [inter = 2, intra = 4]
// LEVELS-NEXT: dist.comm @statistics on @world over [inter, intra] group {carries = "statistics"}
// LEVELS-NEXT: dist.comm @grad0 on @world over [inter, intra] group {carries = "gradients"}
// LEVELS-NEXT: dist.comm @grad1 on @world over [inter, intra] group {carries = "gradients"}
// LEVELS-NEXT: dist.comm @intra0 on @world over [intra] group {carries = "gradients within"}
// LEVELS-NEXT: dist.comm @inter0 on @world over [inter] group {carries = "gradients between"}
// LEVELS-NEXT: dist.comm @intra1 on @world over [intra] group
// LEVELS-NEXT: dist.comm @inter1 on @world over [inter] group

// Communicators over some of the axes of the mesh.
// SOME: dist.mesh @world [pp = 2, dp = 4]
// SOME-NEXT: dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
// SOME-NEXT: module @source

// MANY: dist.mesh @world [dp = 100000]
// MANY-NEXT: dist.comm @grad0 on @world over [dp] group
// MANY-NEXT: module @source

pd.var @w : tensor<3x1xf32> {parameter}
pd.program @main {
  %x = pd.input "x" : tensor<?x3xf32>
  %l = pd.input "words" : !pd.lod<tensor<?x1xi64>, 1>
  %f = pd.input "fixed" : tensor<2x4xf32>
  %w = pd.get @w : tensor<3x1xf32>
  %y = pd.mul X(%x) Y(%w) -> Out("y") : (tensor<?x3xf32>, tensor<3x1xf32>) -> tensor<?x1xf32>
  %z = pd.relu X(%y) -> Out("z") : (tensor<?x1xf32>) -> tensor<?x1xf32>
}
pd.program @startup {
  %0 = pd.fill_constant -> Out("w") {shape = array<i64: 3, 1>, dtype = 5 : i32, value = 0.5 : f32} : () -> tensor<3x1xf32>
  pd.set @w, %0 : tensor<3x1xf32>
}
