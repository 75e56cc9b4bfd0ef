#ifndef DTRANSPILE_PASSES_LIFT_PARALLEL_OPS
#define DTRANSPILE_PASSES_LIFT_PARALLEL_OPS
include "passes/field_options.td"

def LiftParallelOps : Pass<"lift-parallel-ops", "::mlir::ModuleOp"> {
  let summary = "one rank's program of the framework's parallel layers becomes the whole program";
  let description = [{
    A net that its author has built of parallel layers (columns and rows of linear layers,
    vocabularies) is saved as the program of one rank: parameters are parts, and `c_identity`,
    `mp_allreduce_sum`, `c_split`, `c_concat`, `c_embedding`, `c_softmax_with_cross_entropy` and
    their gradients stand between them. The pass finds out how every value lies on the ranks of the
    group (whole, a part along a dim, a term of a sum) by the relation rules, in program order, and
    makes the program of one device that these ranks compute together: parts become wholes, the
    parallel ops what they are on one device. Variables keep a mark of how they lie
    (`held_in_parts`), which tensor-parallel follows in place of a choice of its own.

    What the ops demand of what they take is checked: a sum of what no rank has a term of, a term
    that no sum is made of before an op needs it, numbers of ranks, rows and rings that do not fit
    are errors. Nothing of the rank that the program was saved on is left.

    Example: `lift-parallel-ops{tensor_parallel_degree=2}`

        %i = pd.c_identity X(%x) {ring_id = 3} ; %h = pd.mul X(%i) Y(%w1)    // @w1: 64x16
        %r = pd.relu X(%h) ; %y = pd.mul X(%r) Y(%w2)                        // @w2: 16x8
        %s = pd.mp_allreduce_sum X(%y) {ring_id = 3}
        --->
        %h = pd.mul X(%x) Y(%w1)                      // @w1: 64x32 {held_in_parts = 1}
        %r = pd.relu X(%h) ; %y = pd.mul X(%r) Y(%w2) // @w2: 32x8 {held_in_parts = 0}
  }];
  let options = FieldOptions<"lift-parallel-ops">.options;
}
#endif
