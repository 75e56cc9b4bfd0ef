#ifndef DTRANSPILE_PASSES_TENSOR_PARALLEL
#define DTRANSPILE_PASSES_TENSOR_PARALLEL
include "passes/field_options.td"

def TensorParallel : Pass<"tensor-parallel", "::mlir::ModuleOp"> {
  let summary = "layers are split over an axis: columns of one product, rows of the next";
  let description = [{
    A product (`mul`, `matmul`, `matmul_v2`) with a parameter is split by columns where its result
    flows, part by part, into products that can be split by rows: through element-wise ops, biases,
    activations, dropout, and reshapes that make heads. The rows' results are terms of a sum: one
    `all_reduce` in front of the first op that is not linear in it. Nothing is chosen by name; what
    can be computed on parts the relation rules say (compiler/analysis/relations).

    The backward part and the update follow: every op takes its operands as they lie where its rule
    allows it, cuts whole ones like the parts beside them, sums terms, and puts parts together where
    nothing else works. Variables that end a step in parts hold parts: state of optimizers lies
    beside its parameter. Start-up makes the whole and keeps the part.

    Tables of `tensor_parallel_min_vocabulary` rows or more lie in parts along their rows, with the
    output projection and the loss of as many classes: composites count from the first row of a rank
    (`c_embedding`, `c_softmax_with_cross_entropy`).

    Updates that take norms of whole parameters (`lamb`, `lars_momentum`, `clip_by_norm`) work on
    parts too: a composite stands for each, whose body sums up the squares of the parts (as those of
    sharding do). In blocks and pipelines they take the whole, and a remark names them.

    With `sequence_parallel` a term along whose dim 1 the ranks divide the extent is cut by its sum
    (`reduce_scatter`) where the next op works on parts along that dim: norms, dropouts and residual
    sums do. The next product gets them put together (`all_gather`). A sum of terms and parts becomes
    a composite (`sum_of_terms`). A sum that stays whole a remark names. Pipelines have none of it.

    Where variables say how they lie (`held_in_parts`, of lift-parallel-ops), nothing is chosen: they
    lie as the author of the program has split them, and all else follows.

    A shape of a reshape that counts heads is written with -1 in their place. An axis of heads that
    the ranks do not divide is an error; what stays whole a remark names, with the reason. Along an
    axis of one rank nothing is rewritten.

    Example: `tensor-parallel{axes=mp}` on 2 ranks

        %h = pd.mul X(%x) Y(%w1) ; %r = pd.relu X(%h) ; %y = pd.mul X(%r) Y(%w2)
        %o = pd.elementwise_add X(%y) Y(%b)                         // tensor<?x64xf32>, 64x8, 8
        --->
        %h = pd.mul X(%x) Y(%w1) ; %r = pd.relu X(%h) ; %y = pd.mul X(%r) Y(%w2)
        %s = dist.all_reduce sum(%y) on @mp                         // tensor<?x32xf32>, 32x8
        %o = pd.elementwise_add X(%s) Y(%b)                         // @w1: S(1), @w2: S(0)
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption] # FieldOptions<"tensor-parallel">.options;
}
#endif
