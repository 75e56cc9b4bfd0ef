// Initial values of which servers keep rows are made in pieces, each cut as soon as it is there; not
// those that are wanted as a whole too, small ones, and those with a diagonal.
// RUN: dtranspile-lower %s | FileCheck %s

// A piece goes on with the numbers of the one before (1 behind the version).
// CHECK: program main startup
// CHECK-NEXT: call dt_gaussian_random(-, -; 2048 32 7 2006002 0 0 1) -> gaussian_random.piece float32[2048x32]
// CHECK-NEXT: slice gaussian_random.piece float32[2048x32] -> C.piece float32[1024x32] layout (cyclic axes ps dim 0 extent 2048 whole 2048 32)
// CHECK-NEXT: call dt_gaussian_random(-, -; 2048 32 7 2006002 1 0 1) -> gaussian_random.piece#1 float32[2048x32]
// CHECK-NEXT: slice gaussian_random.piece#1 float32[2048x32] -> C.piece#1 float32[1024x32] layout (cyclic axes ps dim 0 extent 2048 whole 2048 32)
// CHECK-NEXT: call dt_gaussian_random(-, -; 5 32 7 2006002 1 0 1) -> gaussian_random.piece#2 float32[5x32]
// CHECK-NEXT: slice gaussian_random.piece#2 float32[5x32] -> C.piece#2 float32[3x32] layout (cyclic axes ps dim 0 extent 5 whole 5 32)

// A constant is made once for all pieces of a size. Blocks of several pieces, of which each is on
// one server.
// CHECK-NEXT: kernel fill_constant() -> fill_constant.piece float32[2048x32]
// CHECK-NEXT: slice fill_constant.piece float32[2048x32] -> A.piece float32[2048x32] layout (blocks axes ps dim 0 extent 2048 per 2048 first 1 whole 2048 32)
// CHECK-NEXT: kernel fill_constant() -> fill_constant.piece#1 float32[1024x32]
// CHECK-NEXT: slice fill_constant.piece#1 float32[1024x32] -> A.piece#1 float32[1024x32] layout (blocks axes ps dim 0 extent 1024 per 1024 first 1 whole 1024 32)
// CHECK-NEXT: kernel fill_constant() -> fill_constant.piece#2 float32[1000x32]
// CHECK-NEXT: slice fill_constant.piece#2 float32[1000x32] -> A.piece#2 float32[1000x32] layout (blocks axes ps dim 0 extent 1000 per 1000 whole 1000 32)

// CHECK-NEXT: call dt_uniform_random(-, -; 4096 32 7 0 1 2006002 -1 1 1) -> w float32[4096x32]
// CHECK-NEXT: call dt_uniform_random(-, -; 8 32 7 0 1 2006002 -1 1 1) -> s float32[8x32]
// CHECK-NEXT: call dt_uniform_random(-, -; 4096 32 7 2 1 2006002 -1 1 1) -> d float32[4096x32]
// CHECK-NEXT: slice w float32[4096x32] -> W float32[2048x32]
// CHECK-NEXT: slice s float32[8x32] -> S float32[4x32]
// CHECK-NEXT: slice d float32[4096x32] -> D float32[2048x32]
// CHECK-NOT: slice
module attributes {dist.class = "server", dist.role = "server"} {
  dist.mesh @sv [ps = 2]
  dist.mesh @wk [dp = 2]
  dist.comm @ps on @wk over [dp] rpc @server
  pd.var @C : tensor<?x32xf32> {dist.rel = #dist.rel<"C", ps: S(0, cyclic(4101))>}
  pd.var @A : tensor<?x32xf32> {dist.rel = #dist.rel<"A", ps: S(0, blocks(4072, per 3072, first 1))>}
  pd.var @W : tensor<?x32xf32> {dist.rel = #dist.rel<"W", ps: S(0, cyclic(4096))>}
  pd.var @S : tensor<?x32xf32> {dist.rel = #dist.rel<"S", ps: S(0, cyclic(8))>}
  pd.var @D : tensor<?x32xf32> {dist.rel = #dist.rel<"D", ps: S(0, cyclic(4096))>}
  pd.var @whole : tensor<4096x32xf32>
  pd.program @startup attributes {version = 2006002 : i64} {
    %c = pd.gaussian_random -> Out("c") {dtype = 5 : i32, mean = 0.0 : f32, seed = 7 : i32, shape = array<i64: 4101, 32>, std = 1.0 : f32} : () -> tensor<4101x32xf32>
    %a = pd.fill_constant -> Out("a") {dtype = 5 : i32, shape = array<i64: 4072, 32>, value = 0.0 : f32} : () -> tensor<4072x32xf32>
    %w = pd.uniform_random -> Out("w") {diag_num = 0 : i32, diag_step = 1 : i32, dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 7 : i32, shape = array<i64: 4096, 32>} : () -> tensor<4096x32xf32>
    %s = pd.uniform_random -> Out("s") {diag_num = 0 : i32, diag_step = 1 : i32, dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 7 : i32, shape = array<i64: 8, 32>} : () -> tensor<8x32xf32>
    %d = pd.uniform_random -> Out("d") {diag_num = 2 : i32, diag_step = 1 : i32, dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 7 : i32, shape = array<i64: 4096, 32>} : () -> tensor<4096x32xf32>
    %c0 = dist.slice %c dim 0 layout <cyclic(4101)> over [ps] : tensor<4101x32xf32> -> tensor<?x32xf32>
    pd.set @C, %c0 : tensor<?x32xf32>
    %a0 = dist.slice %a dim 0 layout <blocks(4072, per 3072, first 1)> over [ps] : tensor<4072x32xf32> -> tensor<?x32xf32>
    pd.set @A, %a0 : tensor<?x32xf32>
    %w0 = dist.slice %w dim 0 layout <cyclic(4096)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @W, %w0 : tensor<?x32xf32>
    %s0 = dist.slice %s dim 0 layout <cyclic(8)> over [ps] : tensor<8x32xf32> -> tensor<?x32xf32>
    pd.set @S, %s0 : tensor<?x32xf32>
    %d0 = dist.slice %d dim 0 layout <cyclic(4096)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @D, %d0 : tensor<?x32xf32>
    pd.set @whole, %w : tensor<4096x32xf32>
  }
  pd.program @main attributes {version = 2006002 : i64} {
    dist.serve on @ps mode sync {
      dist.handle round { dist.yield }
    }
  }
}
