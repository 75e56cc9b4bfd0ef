#ifndef DTRANSPILE_PASSES_RECOMPUTE
#define DTRANSPILE_PASSES_RECOMPUTE
include "passes/field_options.td"

def Recompute : Pass<"recompute", "::mlir::ModuleOp"> {
  let summary = "activations are computed again in the backward part instead of being kept";
  let description = [{
    The forward part is cut into segments. Of a segment, only what later segments and ops outside of
    the backward part read is kept; what gradients read beside that is computed again, op by op,
    right before the first gradient that needs it, under the name `<value>.subprog_<i>`, i counting
    segments from the last one. The part behind the last checkpoint is not computed again.

    `recompute_checkpoints` says where segments end: at values of these names, or that match a
    pattern (`*` stands for any text); `sqrt` alone: about as many segments as make what is kept
    between them as large as one of them; `auto` alone: the segments of least memory whose
    repetition costs at most `recompute_extra_work` percent of a step's work (a dynamic programme
    over places to cut; sizes are those of the program's declarations).

    Kept whatever the segments are: results of ops with effects or blocks, of ops that draw random
    numbers, values that are no dense tensors, what only says extents. A dropout is computed again
    with the same mask: op `seed` makes a seed in front of it that both of its runs read. Running
    statistics move once: the repeated op reads the old ones, and nobody takes what it makes of
    them. What the program computes again by itself already is left as it is, and so is what that
    reads.

    With `recompute_offload`, what segments that are computed again read of what is kept goes to the
    host's memory (`memcpy` to `<value>@Pinned`) behind the op that makes it, and comes back
    (`<value>@Fetch`) where the segment before the one that reads it first begins, in the order of the
    backward part. What the first one reads stays, and so do feeds, and values that others need.

    Refused by name: names that no value of the forward part has, programs without gradients.

    Example: `recompute{recompute_checkpoints=fc_1.tmp_2}`

        %h = pd.relu X(%a) -> Out("h") … ; … ; %g = pd.relu_grad Out(%h) Out@GRAD(%d) …
        --->
        %h = pd.relu X(%a) -> Out("h") … ; …
        %again = pd.relu X(%a) -> Out("h.subprog_0") {op_role = 1 : i32} ; %g = pd.relu_grad Out(%again) …
  }];
  let options = FieldOptions<"recompute">.options;
}
#endif
