#ifndef DTRANSPILE_PASSES_SHARDING_OWNER
#define DTRANSPILE_PASSES_SHARDING_OWNER
include "passes/field_options.td"

def ShardingOwner : Pass<"sharding-owner", "::mlir::ModuleOp"> {
  let summary = "every parameter, with its state, lies on one rank of an axis, its owner";
  let description = [{
    Static sharding as the framework's meta-optimizer makes it. Owners are given out as there: in the
    order of first use, the next owner begins behind the parameter with which the owners so far have
    more than their share of the bytes. Every gradient that was summed over all replicas is summed at
    the owner of its parameter (`reduce` along `over`; where there are other axes, `all_reduce` along
    these on the ranks of the owner); what is computed of it up to the update runs there, and nowhere
    else; the parameter and the state beside it are variables of that coordinate. Before they are used
    parameters are broadcast by their owners, in segments of `segment_broadcast_MB`, one of which is
    under way while the one before it is computed with.

    What several owners give one number each to (the squares of a global norm) is added up: zeros on
    the other ranks, then `all_reduce`. Any other number that one owner has computed and others take
    (whether its gradients are finite) is broadcast by it. Branches of the update run on the owner
    where all that they touch is its own, else on all ranks, with what each owner does in guards.

    Guards without communication do not cut classes: which parameters a rank owns is data of the rank,
    and the job grows with the owners, of which there are no more than parameters, not with the ranks.

    A gradient that no single owner can work on, SelectedRows, parameters of fewer than `min_shard`
    elements, and what is set in blocks or read as the update has left it stay as they were; a remark
    says which, and why.

    `sharding_stage=3`: parameters are broadcast for the forward part and again for the backward part;
    else once per step.

    Along an axis of one rank nothing is rewritten.

    Example: `sharding-owner{axes=sharding}` on 2 ranks

        %w = pd.get @w
        %y = pd.mul X(%x) Y(%w) …
        %r = dist.all_reduce sum(%g) on @grad0
        %u:2 = pd.momentum Grad(%r) Param(%w) Velocity(%v) …
        pd.set @w, %u#0 ; pd.set @w_velocity, %u#1
        --->
        %o = dist.on <sharding = 1> -> (!dist.at<…>) { pd.get @w … }   // @w: at sharding = 1
        %p = dist.broadcast(%o) on @grad0 from <sharding = 1> ; %w = dist.wait %p
        %y = pd.mul X(%x) Y(%w) …
        %r = dist.reduce sum(%g) on @grad0 to <sharding = 1>
        dist.on <sharding = 1> with (%a = %r) {
          %u:2 = pd.momentum Grad(%a) Param(…) Velocity(…) …
          pd.set @w, %u#0 ; pd.set @w_velocity, %u#1
        }
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption,
                 Option<"over", "over", "std::string", "\"sharding\"",
                        "the one of the axes whose ranks own parameters">]
                # FieldOptions<"sharding-owner">.options;
}
#endif
