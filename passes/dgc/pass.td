#ifndef DTRANSPILE_PASSES_DGC
#define DTRANSPILE_PASSES_DGC
include "passes/field_options.td"

def Dgc : Pass<"dgc", "::mlir::ModuleOp"> {
  let summary = "of gradients only the largest elements travel, and what is left is kept for later "
                "steps";
  let description = [{
    A momentum update whose gradient is a sum over the replicas becomes a composite
    `dgc_momentum` that takes the replica's own gradient g. With N replicas, u for the velocity and
    a variable v for what has not been sent yet:

        u := mu u + N g        v := v + u        (with Nesterov: u := mu (u + N g), v := v + u + N g)
        i := the places of the k largest |v|
        s := sum over the replicas of the elements v[i] at their places i      two dist.all_gather
        u[i] := 0, v[i] := 0                                                   factor masking
        w := w - rate s / N

    k follows from `sparsity`, whose numbers are taken in turn over `rampup_step` steps from
    `rampup_begin_step` on, the last one for good; before, and where the sparsity is 0, the
    gradient is summed as a whole and the update is that of momentum, whose velocity u is. Where k
    changes there is a branch per k, taken by a counter of steps. Parameters of fewer than
    `dgc_min_size` elements, and where the axes have one rank, stay as they are. A `clip_by_norm` of
    the sum becomes one of the replica's gradient, to the bound over the root of N; the decay of
    parameters that is added to the sum is divided by N. Declares the contract `dgc`.

    Example:

        %s = dist.all_reduce sum(%g) on @grad0
        %u:2 = pd.momentum Param(%w) Grad(%s) Velocity(%v) LearningRate(%rate) …
        --->
        %u:2 = dist.composite "dgc_momentum" (Param = %w, Grad = %g, Velocity = %v, LearningRate = %rate) -> … {
          … %i = pd.top_k_v2 X(%abs) {k = 20}; %a = dist.all_gather(%v_i) on @grad0 dim 0;
          %b = dist.all_gather(%i) on @grad0 dim 0; %s = pd.scatter X(%zeros) Ids(%b) Updates(%a);
          … pd.set @w__dgc_v__, %kept … }
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = FieldOptions<"dgc">.options # [axesOption];
}
#endif
