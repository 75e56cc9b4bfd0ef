// RUN: dtranspile-opt %s --lift-parallel-ops="tensor_parallel_degree=2" --split-input-file --verify-diagnostics
// RUN: not dtranspile-opt %s --lift-parallel-ops --split-input-file 2>&1 | FileCheck %s --check-prefix=DEGREE
// RUN: not dtranspile-opt %s --pass-pipeline="builtin.module(collective{trainers=2 input_parallel=mp})" 2>&1 | FileCheck %s --check-prefix=REQUEST

// REQUEST: error: input_parallel mp and tensor_parallel_degree: say how many ranks the layers of the program are built for; add --tensor-parallel --tensor-parallel-degree N
// DEGREE: error: lift-parallel-ops: tensor_parallel_degree is 1; say how many ranks the layers of the program are built for

module {
  // expected-error @below {{input_parallel is mp, and the program holds none of the framework's parallel ops; leave input_parallel out, and tensor_parallel splits its layers}}
  pd.program @main {}
}

// -----

// expected-error @below {{there is no pd.program @main}}
module {
}

// -----

module {
  pd.program @main {
    %x = pd.input "x" : tensor<?x6xf32>
    // expected-note @below {{c_identity names ring 3}}
    %i = pd.c_identity X(%x) -> Out("i") {ring_id = 3 : i32} : (tensor<?x6xf32>) -> tensor<?x6xf32>
    // expected-error @below {{c_split: speaks to ring 5, and layers to ring 3; give the program as its layers make it, without the groups of other strategies, which are made here}}
    %s = pd.c_split X(%x) -> Out("s") {nranks = 2 : i32, rank = 0 : i32, ring_id = 5 : i32} : (tensor<?x6xf32>) -> tensor<?x3xf32>
  }
}

// -----

module {
  pd.program @main {
    %x = pd.input "x" : tensor<?x8xf32>
    // expected-error @below {{c_split: nranks is 4, and tensor_parallel_degree is 2; say the degree that the program was built for}}
    %s = pd.c_split X(%x) -> Out("s") {nranks = 4 : i32, rank = 0 : i32} : (tensor<?x8xf32>) -> tensor<?x2xf32>
  }
}

// -----

module {
  pd.program @main {
    %x = pd.input "x" : tensor<?x8xf32>
    // expected-error @below {{c_split: is of rank 2, and a group of tensor_parallel_degree 2 has the ranks 0 to 1}}
    %s = pd.c_split X(%x) -> Out("s") {nranks = 2 : i32, rank = 2 : i32} : (tensor<?x8xf32>) -> tensor<?x4xf32>
  }
}

// -----

module {
  pd.program @main {
    %x = pd.input "x" : tensor<?x8xf32>
    // expected-note @below {{c_split of rank 0 is here}}
    %s = pd.c_split X(%x) -> Out("s") {nranks = 2 : i32, rank = 0 : i32} : (tensor<?x8xf32>) -> tensor<?x4xf32>
    // expected-error @below {{c_concat: is of rank 1, and the program of rank 0 before; a program is that of one rank}}
    %c = pd.c_concat X(%s) -> Out("c") {nranks = 2 : i32, rank = 1 : i32} : (tensor<?x4xf32>) -> tensor<?x8xf32>
  }
}

// -----

module {
  pd.var @table : tensor<10x4xf32> {parameter}
  pd.program @main {
    %ids = pd.input "ids" : tensor<?xi64>
    %table = pd.get @table : tensor<10x4xf32>
    // expected-error @below {{c_embedding: start_index is 5, and no part of 10 rows begins there}}
    %e = pd.c_embedding W(%table) Ids(%ids) -> Out("e") {start_index = 5 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  }
}

// -----

module {
  pd.var @table : tensor<10x4xf32> {parameter}
  pd.program @main {
    %ids = pd.input "ids" : tensor<?xi64>
    %table = pd.get @table : tensor<10x4xf32>
    // expected-error @below {{c_embedding: vocab_size is 30, and 2 parts of 10 rows are 20}}
    %e = pd.c_embedding W(%table) Ids(%ids) -> Out("e") {start_index = 10 : i64, vocab_size = 30 : i64} : (tensor<10x4xf32>, tensor<?xi64>) -> tensor<?x4xf32>
  }
}

// -----

// A sum of what every rank has whole counts it twice.
module {
  pd.program @main {
    %x = pd.input "x" : tensor<?x6xf32>
    // expected-error @below {{mp_allreduce_sum: takes 'x', equal on all ranks, and is right for a term of a sum only}}
    %s = pd.mp_allreduce_sum X(%x) -> Out("s") : (tensor<?x6xf32>) -> tensor<?x6xf32>
  }
}

// -----

// A row-parallel product whose terms nobody sums.
module {
  pd.var @w1 : tensor<6x4xf32> {parameter}
  pd.var @w2 : tensor<4x3xf32> {parameter}
  pd.program @main {
    %x = pd.input "x" : tensor<?x6xf32>
    %i = pd.c_identity X(%x) -> Out("i") : (tensor<?x6xf32>) -> tensor<?x6xf32>
    %w1 = pd.get @w1 : tensor<6x4xf32>
    %h = pd.matmul_v2 X(%i) Y(%w1) -> Out("h") : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
    %w2 = pd.get @w2 : tensor<4x3xf32>
    %y = pd.matmul_v2 X(%h) Y(%w2) -> Out("y") : (tensor<?x4xf32>, tensor<4x3xf32>) -> tensor<?x3xf32>
    // expected-error @below {{relu: takes 'y', a term of a sum: no rule says what the ranks give together; a term has to be summed (mp_allreduce_sum) and a part put together (c_concat) before an op that needs the whole}}
    %r = pd.relu X(%y) -> Out("r") : (tensor<?x3xf32>) -> tensor<?x3xf32>
  }
}

// -----

// What is fetched of a rank's classes is not that of all.
module {
  pd.var @w1 : tensor<6x4xf32> {parameter}
  pd.program @main {
    %x = pd.input "x" : tensor<?x6xf32>
    %i = pd.c_identity X(%x) -> Out("i") : (tensor<?x6xf32>) -> tensor<?x6xf32>
    %w1 = pd.get @w1 : tensor<6x4xf32>
    %h = pd.matmul_v2 X(%i) Y(%w1) -> Out("h") : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
    // expected-error @below {{softmax: takes 'h', a part along dim 1: no rule says what the ranks give together}}
    %p = pd.softmax X(%h) -> Out("p") : (tensor<?x4xf32>) -> tensor<?x4xf32>
  }
}

// -----

// The loss of a rank.
module {
  pd.var @w1 : tensor<6x4xf32> {parameter}
  pd.program @main {
    %x = pd.input "x" : tensor<?x6xf32>
    %i = pd.c_identity X(%x) -> Out("i") : (tensor<?x6xf32>) -> tensor<?x6xf32>
    %w1 = pd.get @w1 : tensor<6x4xf32>
    %h = pd.matmul_v2 X(%i) Y(%w1) -> Out("h") : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
    // expected-error @below {{the loss is 'l', a term of a sum; every rank of a group has the same loss}}
    %l = pd.reduce_sum X(%h) -> Out("l") {op_role = 256 : i32, reduce_all = true} : (tensor<?x4xf32>) -> tensor<1xf32>
    %s = pd.scale X(%l) -> Out("s") : (tensor<1xf32>) -> tensor<1xf32>
  }
}

// -----

module {
  pd.program @main {
    %x = pd.input "x" : tensor<?x6xf32>
    // expected-error @below {{c_reducescatter: is none of the ops that parallel layers make; give the program as its layers make it, before a strategy adds what communicates}}
    %i = pd.c_reducescatter X(%x) -> Out("i") {nranks = 2 : i32} : (tensor<?x6xf32>) -> tensor<?x6xf32>
  }
}

// -----

// Values of one rank's part say nothing of the others'.
module {
  pd.var @w1 : tensor<2x2xf32> {parameter}
  pd.program @main {
    %x = pd.input "x" : tensor<?x2xf32>
    %i = pd.c_identity X(%x) -> Out("i") : (tensor<?x2xf32>) -> tensor<?x2xf32>
    %w1 = pd.get @w1 : tensor<2x2xf32>
    %h = pd.matmul_v2 X(%i) Y(%w1) -> Out("h") : (tensor<?x2xf32>, tensor<2x2xf32>) -> tensor<?x2xf32>
    %c = pd.c_concat X(%h) -> Out("c") {nranks = 2 : i32} : (tensor<?x2xf32>) -> tensor<?x4xf32>
  }
  pd.program @startup {
    %v = pd.assign_value -> Out("w1") {dtype = 5 : i32, fp32_values = array<f32: 1.0, 2.0, 3.0, 4.0>, shape = array<i32: 2, 2>} : () -> tensor<2x2xf32>
    // expected-error @below {{start-up gives 'w1' values of one rank's part, of which the whole is not known}}
    pd.set @w1, %v : tensor<2x2xf32>
  }
}

// -----

// A norm of a rank's gradients is not that of all: the framework takes it so, the job does not.
module {
  pd.var @w1 : tensor<6x4xf32> {parameter}
  pd.var @b : tensor<6xf32> {parameter}
  pd.program @main {
    %x = pd.input "x" : tensor<?x6xf32>
    %i = pd.c_identity X(%x) -> Out("i") : (tensor<?x6xf32>) -> tensor<?x6xf32>
    %w1 = pd.get @w1 : tensor<6x4xf32>
    %b = pd.get @b : tensor<6xf32>
    %h = pd.matmul_v2 X(%i) Y(%w1) -> Out("h") : (tensor<?x6xf32>, tensor<6x4xf32>) -> tensor<?x4xf32>
    %c = pd.c_concat X(%h) -> Out("c") {nranks = 2 : i32} : (tensor<?x4xf32>) -> tensor<?x8xf32>
    %n1 = pd.squared_l2_norm X(%w1) -> Out("n1") {op_role = 2 : i32} : (tensor<6x4xf32>) -> tensor<1xf32>
    %n2 = pd.squared_l2_norm X(%b) -> Out("n2") {op_role = 2 : i32} : (tensor<6xf32>) -> tensor<1xf32>
    // expected-warning @below {{the program takes a rank's own part of a norm or a flag for the whole here; the job takes that of all ranks of the group}}
    %s = pd.sum X(%n1, %n2) -> Out("s") {op_role = 2 : i32} : (tensor<1xf32>, tensor<1xf32>) -> tensor<1xf32>
    %r = pd.sqrt X(%s) -> Out("r") {op_role = 2 : i32} : (tensor<1xf32>) -> tensor<1xf32>
  }
}

// -----

// A variable ends a step as it has begun it.
module {
  pd.var @w1 : tensor<6x4xf32> {parameter}
  pd.program @main {
    %x = pd.input "x" : tensor<4x6xf32>
    %i = pd.c_identity X(%x) -> Out("i") : (tensor<4x6xf32>) -> tensor<4x6xf32>
    %w1 = pd.get @w1 : tensor<6x4xf32>
    %h = pd.matmul_v2 X(%i) Y(%w1) -> Out("h") : (tensor<4x6xf32>, tensor<6x4xf32>) -> tensor<4x4xf32>
    %c = pd.c_concat X(%h) -> Out("c") {nranks = 2 : i32} : (tensor<4x4xf32>) -> tensor<4x8xf32>
    %z = pd.fill_constant -> Out("z") {dtype = 5 : i32, shape = array<i64: 6, 4>, value = 0.000000e+00 : f32} : () -> tensor<6x4xf32>
    // expected-error @below {{is given 'z', equal on all ranks, and 'w1' begins a step as a part; a variable lies as it did before}}
    pd.set @w1, %z : tensor<6x4xf32>
  }
}

// -----

// Layers in parts in a block of control flow.
module {
  pd.program @main {
    %x = pd.input "x" : tensor<?x8xf32>
    %k = pd.input "k" : tensor<1xi1>
    %t = pd.conditional_block "$capture"() Cond(%k) Input() -> Out() Scope("scope") {is_scalar_condition = true, sub_block = #pd.block<1>} blocks [{captures = [], idx = 1 : i32, locals = [], parent = 0 : i32, saved = [], written = []}] {
      // expected-error @below {{c_split: stands in a block of control flow; layers in parts are read at the top of a program only}}
      %s = pd.c_split X(%x) -> Out("s") {nranks = 2 : i32} : (tensor<?x8xf32>) -> tensor<?x4xf32>
      pd.yield
    } : (tensor<1xi1>) -> !pd.tape
  }
}
