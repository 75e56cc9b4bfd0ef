// RUN: dtranspile-opt %s --tensor-parallel="axes=mp" --split-input-file --verify-diagnostics
// RUN: not dtranspile-opt %s --tensor-parallel="axes=dp,mp" --split-input-file 2>&1 | FileCheck %s --check-prefix=AXES
// Sequences in parts need layers in parts, and go with what composes only.
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 sequence_parallel=true})" 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 tensor_parallel=true tensor_parallel_degree=2 input_parallel=mp sequence_parallel=true})" 2>&1 | FileCheck %s --check-prefix=INPUT
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=4 tensor_parallel=true tensor_parallel_degree=2 pipeline=true stages=2 sequence_parallel=true})" 2>&1 | FileCheck %s --check-prefix=STAGES

// ALONE: error: sequence_parallel and tensor_parallel_degree: sequences lie in parts on the ranks that a layer is split over; add --tensor-parallel --tensor-parallel-degree N
// INPUT: error: sequence_parallel and input_parallel mp: it has not been shown on programs that are split already; leave one of them out
// STAGES: error: {{.*}}pipeline{{.*}}sequence_parallel{{.*}}stages would have to hand on parts of activations
// AXES: error: tensor-parallel: layers are split over one axis, and axes names [dp, mp]

// expected-error @below {{is no job: it has no dist.role; run form-job first}}
module {
}

// -----

// expected-error @below {{no communicator over [mp] carries layers; form-job makes them}}
module {
  dist.mesh @world [dp = 1, mp = 4]
  dist.comm @grad0 on @world over [dp] group {carries = "gradients"}
  dist.role @trainer on @world {
    pd.program @main {}
  }
}

// -----

module {
  dist.mesh @world [dp = 1, mp = 4]
  dist.comm @mp on @world over [mp] group {carries = "layers"}
  dist.role @trainer on @world {
    // expected-warning @below {{tensor-parallel: there is nothing to split: every rank computes all layers}}
    pd.program @main {}
  }
}

// -----

// Two heads for four ranks.
module {
  dist.mesh @world [dp = 1, mp = 4]
  dist.comm @mp on @world over [mp] group {carries = "layers"}
  dist.role @trainer on @world {
    pd.var @w1 : tensor<8x16xf32> {parameter}
    pd.var @w2 : tensor<16x4xf32> {parameter}
    pd.program @main {
      %x = pd.input "x" : tensor<?x8xf32>
      %w1 = pd.get @w1 : tensor<8x16xf32>
      %w2 = pd.get @w2 : tensor<16x4xf32>
      %h = pd.matmul_v2 X(%x) Y(%w1) -> Out("h") : (tensor<?x8xf32>, tensor<8x16xf32>) -> tensor<?x16xf32>
      // expected-error @below {{tensor_parallel_degree is 4, and this reshape makes 2 heads of what a product gives, which lie on ranks as they are; take a degree that divides 2}}
      %r:2 = pd.reshape2 X(%h) -> Out("r") XShape("rs") {shape = array<i32: 0, 2, 8>} : (tensor<?x16xf32>) -> (tensor<?x2x8xf32>, tensor<0x?x16xf32>)
      %b:2 = pd.reshape2 X(%r#0) -> Out("b") XShape("bs") {shape = array<i32: 0, 16>} : (tensor<?x2x8xf32>) -> (tensor<?x16xf32>, tensor<0x?x2x8xf32>)
      %y = pd.matmul_v2 X(%b#0) Y(%w2) -> Out("y") : (tensor<?x16xf32>, tensor<16x4xf32>) -> tensor<?x4xf32>
    }
    pd.program @startup {
      %w1 = pd.fill_constant -> Out("w1") {dtype = 5 : i32, shape = array<i64: 8, 16>, value = 0.000000e+00 : f32} : () -> tensor<8x16xf32>
      pd.set @w1, %w1 : tensor<8x16xf32>
      %w2 = pd.fill_constant -> Out("w2") {dtype = 5 : i32, shape = array<i64: 16, 4>, value = 0.000000e+00 : f32} : () -> tensor<16x4xf32>
      pd.set @w2, %w2 : tensor<16x4xf32>
    }
  }
}

// -----

// Five rows on two ranks, and labels that are probabilities.
module {
  dist.mesh @world [dp = 1, mp = 2]
  dist.comm @mp on @world over [mp] group {carries = "layers"}
  dist.role @trainer on @world {
    pd.var @odd : tensor<5000x4xf32> {parameter}
    pd.var @three : tensor<5001x4xf32> {parameter}
    pd.var @rows : tensor<5000x4xf32> {parameter}
    // expected-warning @below {{tensor-parallel: there is nothing to split: every rank computes all layers}}
    // expected-remark @below {{tensor-parallel: stays whole on every rank: odd (does not flow part by part into a product)}}
    // expected-remark @below {{tensor-parallel: stays whole on every rank: three (has 5001 rows, which 2 ranks do not divide: pad the vocabulary to 5002 rows)}}
    // expected-remark @below {{tensor-parallel: stays whole on every rank: rows (its gradient is the rows that were asked for)}}
    pd.program @main {
      %x = pd.input "x" : tensor<?x4xf32>
      %i = pd.input "i" : tensor<?x3xi64>
      %t = pd.input "t" : tensor<?x5000xf32>
      %odd = pd.get @odd : tensor<5000x4xf32>
      %three = pd.get @three : tensor<5001x4xf32>
      %rows = pd.get @rows : tensor<5000x4xf32>
      %o = pd.matmul_v2 X(%x) Y(%odd) -> Out("o") {trans_y = true} : (tensor<?x4xf32>, tensor<5000x4xf32>) -> tensor<?x5000xf32>
      %s, %l = pd.softmax_with_cross_entropy Logits(%o) Label(%t) -> Softmax("s") Loss("l") {soft_label = true} : (tensor<?x5000xf32>, tensor<?x5000xf32>) -> (tensor<?x5000xf32>, tensor<?x1xf32>)
      %e = pd.lookup_table_v2 W(%three) Ids(%i) -> Out("e") : (tensor<5001x4xf32>, tensor<?x3xi64>) -> tensor<?x3x4xf32>
      %f = pd.lookup_table_v2 W(%rows) Ids(%i) -> Out("f") {is_sparse = true} : (tensor<5000x4xf32>, tensor<?x3xi64>) -> tensor<?x3x4xf32>
    }
    pd.program @startup {
      %odd = pd.fill_constant -> Out("odd") {dtype = 5 : i32, shape = array<i64: 5000, 4>, value = 0.000000e+00 : f32} : () -> tensor<5000x4xf32>
      pd.set @odd, %odd : tensor<5000x4xf32>
      %three = pd.fill_constant -> Out("three") {dtype = 5 : i32, shape = array<i64: 5001, 4>, value = 0.000000e+00 : f32} : () -> tensor<5001x4xf32>
      pd.set @three, %three : tensor<5001x4xf32>
      %rows = pd.fill_constant -> Out("rows") {dtype = 5 : i32, shape = array<i64: 5000, 4>, value = 0.000000e+00 : f32} : () -> tensor<5000x4xf32>
      pd.set @rows, %rows : tensor<5000x4xf32>
    }
  }
}

// -----

// A variable that the file holds in parts, and that a step sets to a value of another type.
module {
  dist.mesh @world [dp = 1, mp = 2]
  dist.comm @mp on @world over [mp] group {carries = "layers"}
  dist.role @trainer on @world {
    // expected-error @below {{is held in parts by the ranks that the program was built for, and is set or read in a way that a part has not}}
    pd.var @w : tensor<8x16xf32> {parameter, held_in_parts = 0 : i64}
    pd.program @main {
      %w = pd.get @w : tensor<8x16xf32>
      %r = pd.cast X(%w) -> Out("w") {in_dtype = 5 : i32, out_dtype = 5 : i32} : (tensor<8x16xf32>) -> tensor<?x16xf32>
      pd.set @w, %r : tensor<?x16xf32>
    }
    pd.program @startup {
      %w = pd.fill_constant -> Out("w") {dtype = 5 : i32, shape = array<i64: 8, 16>, value = 0.000000e+00 : f32} : () -> tensor<8x16xf32>
      pd.set @w, %w : tensor<8x16xf32>
    }
  }
}
