#ifndef DTRANSPILE_PASSES_SHARDING
#define DTRANSPILE_PASSES_SHARDING
include "passes/field_options.td"

def Sharding : Pass<"sharding", "::mlir::ModuleOp"> {
  let summary = "gradients, updates and state are cut over an axis, flat and in equal parts";
  let description = [{
    Every gradient that was summed over all replicas is summed in parts (`reduce_scatter` over the
    axis `over`, then `all_reduce` of the part over the other axes); what is computed of it up to
    the update is computed on the part, the update too, and the new parameter is put together
    (`all_gather`). Variables that nobody reads whole (moments, averages) hold a part between steps:
    `S(flat, even(n))`. Start-up makes them whole and keeps the part.

    What can be computed on parts the relation rules say: an op whose result from flat parts is a
    flat part works on them; one whose result is a term of a sum (a squared norm) gets an
    `all_reduce` of that number before the first op that is not linear in it. Lists of gradients
    that are looked at for what is not finite (amp) go through member by member, parts and whole
    ones; what a rank has found is joined with `or` before anything decides by it, and parts enter
    the branch of the update as parts. `lamb`, `lars_momentum` and `clip_by_norm` become composites
    whose bodies sum up the squares of the parts (not in branches and pipelines). A gradient that some
    op needs whole, SelectedRows, and tensors without two elements per rank stay as they were; a remark
    says which, and why. So do those of fewer than `min_shard` elements.

    `sharding_stage=3`: parameters hold a part too. They are put together in segments of
    `segment_broadcast_MB` before their first use in the forward part and again in the backward
    part; a segment is under way while the one before it is computed with. Stages 1 and 2 are one
    program: a bucket of gradients is scattered as soon as it is complete, and the whole gradient
    is needed no longer.

    Along an axis of one rank nothing is rewritten.

    `micro`: in front of `assign-stages` and `pipeline`. What is summed over that axis is added up over
    the micro-batches: before it is cut (stage 1), so that it is cut once per step, or in parts (stage
    2), so that what is added up is a part. Sums and gathers are by themselves, one per gradient and
    parameter, since `pipeline` takes them to the stages of these. Stage 3 is refused there.

    Example: `sharding{axes=sharding}` on 4 ranks

        %r = dist.all_reduce sum(%g) on @grad0                     // tensor<13x64xf32>
        %u:2 = pd.momentum Grad(%r) Param(%w) Velocity(%v) …
        pd.set @w, %u#0 ; pd.set @w_velocity, %u#1
        --->
        %r = dist.reduce_scatter sum(%g) on @grad0 dim flat        // tensor<208xf32>
        %p = dist.slice %w dim flat layout <even(832)> over [sharding]
        %u:2 = pd.momentum Grad(%r) Param(%p) Velocity(%v) …       // @w_velocity: S(flat, even(832))
        pd.set @w_velocity, %u#1
        %n = dist.all_gather(%u#0) on @grad0 dim flat ; pd.set @w, %n
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption,
                 Option<"over", "over", "std::string", "\"sharding\"",
                        "the one of the axes that values are cut over">,
                 Option<"micro", "micro", "std::string", "\"\"",
                        "the one of the axes that stands for the micro-batches of a pipeline">]
                # FieldOptions<"sharding">.options;
}
#endif
