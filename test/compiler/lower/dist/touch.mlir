// Rows of variables that lie by row numbers, of a program of 1.8, are made when they are first
// touched: drawn by an engine that can begin at any of them, or constant. Not where two variables
// take rows of one value, zeros (whose pages are not written), and blocks.
// RUN: dtranspile-lower %s | FileCheck %s

// CHECK: program main startup
// CHECK-NEXT: draw dt_uniform_random to W float32[2051x32] layout (cyclic axes ps dim 0 extent 4101 whole 4101 32) slots 0 0 0 1 attrs i2, r1, r1, i1, i1, i1, r1, i1, i0, i0 ints 4101 32 7 0 1 1008005 reals -1 1 1
// CHECK-NEXT: draw dt_gaussian_random to G float32[2048x32] layout (cyclic axes ps dim 0 extent 4096 whole 4096 32) slots 0 0 0 1 attrs i2, r1, r1, i1, i1, i0, i0 ints 4096 32 0 1008005 reals 0 1
// CHECK-NEXT: draw dt_truncated_gaussian_random to T float32[2048x32] layout (cyclic axes ps dim 0 extent 4096 whole 4096 32) slots 0 1 attrs {{.*}} ints 4096 32 7 1008005
// CHECK-NEXT: draw constant to M float32[2048x32] layout (cyclic axes ps dim 0 extent 4096 whole 4096 32) reals 0.1
// CHECK-NOT: draw
// CHECK: kernel fill_constant() -> fill_constant.piece float32[2048x32]
// CHECK-NEXT: slice fill_constant.piece float32[2048x32] -> Z.piece float32[1024x32]
// CHECK: call dt_uniform_random(-, -; 2048 32 7 0 1 1008005 0 -1 1 1) -> uniform_random.piece float32[2048x32]
// CHECK: slice uniform_random.piece float32[2048x32] -> A.piece float32[1024x32]
// CHECK: call dt_uniform_random(-, -; 2048 32 7 0 1 1008005 0 -1 1 1) -> uniform_random.piece
// CHECK-NEXT: slice {{.*}} -> B.piece float32[2048x32] layout (blocks
// CHECK-NOT: draw
module attributes {dist.class = "server", dist.role = "server"} {
  dist.mesh @sv [ps = 2]
  dist.mesh @wk [dp = 2]
  dist.comm @ps on @wk over [dp] rpc @server
  pd.var @W : tensor<?x32xf32> {dist.rel = #dist.rel<"W", ps: S(0, cyclic(4101))>}
  pd.var @G : tensor<?x32xf32> {dist.rel = #dist.rel<"G", ps: S(0, cyclic(4096))>}
  pd.var @T : tensor<?x32xf32> {dist.rel = #dist.rel<"T", ps: S(0, cyclic(4096))>}
  pd.var @M : tensor<?x32xf32> {dist.rel = #dist.rel<"M", ps: S(0, cyclic(4096))>}
  pd.var @Z : tensor<?x32xf32> {dist.rel = #dist.rel<"Z", ps: S(0, cyclic(4096))>}
  pd.var @A : tensor<?x32xf32> {dist.rel = #dist.rel<"A", ps: S(0, cyclic(4096))>}
  pd.var @A2 : tensor<?x32xf32> {dist.rel = #dist.rel<"A2", ps: S(0, cyclic(4096))>}
  pd.var @B : tensor<?x32xf32> {dist.rel = #dist.rel<"B", ps: S(0, blocks(4096, per 2048, first 0))>}
  pd.program @startup attributes {version = 1008005 : i64} {
    %w = pd.uniform_random -> Out("w") {diag_num = 0 : i32, diag_step = 1 : i32, dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 7 : i32, shape = array<i64: 4101, 32>} : () -> tensor<4101x32xf32>
    %w0 = dist.slice %w dim 0 layout <cyclic(4101)> over [ps] : tensor<4101x32xf32> -> tensor<?x32xf32>
    pd.set @W, %w0 : tensor<?x32xf32>
    %g = pd.gaussian_random -> Out("g") {dtype = 5 : i32, mean = 0.0 : f32, seed = 0 : i32, shape = array<i64: 4096, 32>, std = 1.0 : f32} : () -> tensor<4096x32xf32>
    %g0 = dist.slice %g dim 0 layout <cyclic(4096)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @G, %g0 : tensor<?x32xf32>
    %t = pd.truncated_gaussian_random -> Out("t") {dtype = 5 : i32, mean = 0.0 : f32, seed = 7 : i32, shape = array<i32: 4096, 32>, std = 1.0 : f32} : () -> tensor<4096x32xf32>
    %t0 = dist.slice %t dim 0 layout <cyclic(4096)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @T, %t0 : tensor<?x32xf32>
    %m = pd.fill_constant -> Out("m") {dtype = 5 : i32, shape = array<i64: 4096, 32>, str_value = "0.1", value = 0.1 : f32} : () -> tensor<4096x32xf32>
    %m0 = dist.slice %m dim 0 layout <cyclic(4096)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @M, %m0 : tensor<?x32xf32>
    %z = pd.fill_constant -> Out("z") {dtype = 5 : i32, shape = array<i64: 4096, 32>, value = 0.0 : f32} : () -> tensor<4096x32xf32>
    %z0 = dist.slice %z dim 0 layout <cyclic(4096)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @Z, %z0 : tensor<?x32xf32>
    %a = pd.uniform_random -> Out("a") {diag_num = 0 : i32, diag_step = 1 : i32, dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 7 : i32, shape = array<i64: 4096, 32>} : () -> tensor<4096x32xf32>
    %a0 = dist.slice %a dim 0 layout <cyclic(4096)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @A, %a0 : tensor<?x32xf32>
    %a1 = dist.slice %a dim 0 layout <cyclic(4096)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @A2, %a1 : tensor<?x32xf32>
    %b = pd.uniform_random -> Out("b") {diag_num = 0 : i32, diag_step = 1 : i32, dtype = 5 : i32, max = 1.0 : f32, min = -1.0 : f32, seed = 7 : i32, shape = array<i64: 4096, 32>} : () -> tensor<4096x32xf32>
    %b0 = dist.slice %b dim 0 layout <blocks(4096, per 2048, first 0)> over [ps] : tensor<4096x32xf32> -> tensor<?x32xf32>
    pd.set @B, %b0 : tensor<?x32xf32>
  }
  pd.program @main attributes {version = 1008005 : i64} {
    dist.serve on @ps mode sync {
      dist.handle round { dist.yield }
    }
  }
}
