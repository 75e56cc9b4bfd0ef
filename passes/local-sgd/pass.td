#ifndef DTRANSPILE_PASSES_LOCAL_SGD
#define DTRANSPILE_PASSES_LOCAL_SGD
include "passes/field_options.td"

def LocalSgd : Pass<"local-sgd", "::mlir::ModuleOp"> {
  let summary = "replicas update on their own gradients; parameters are averaged at the end of "
                "every step, or of some";
  let description = [{
    Start-up keeps a copy `<p>@SNAPSHOT` of every parameter. After a parameter's last update: delta
    = snapshot - p, summed over the replicas; at the end of the program p = snapshot - delta/N, the
    mean, and snapshot = p. Optimizer state is not averaged. The copy is declared to be the
    parameter (`dist.rel`): a run that is given values for parameters only begins with the copy
    equal to them.

    With `localsgd_k_steps` of more than 1 there are no copies: a counter of steps decides, at the
    end of a step, whether the branch is taken in which every parameter becomes the mean of what the
    replicas hold: in every step up to number `localsgd_begin_step`, and in every
    `localsgd_k_steps`-th one from there on. Between two averages replicas drift apart.

    With `adaptive_localsgd` the branch is taken in every step up to `adaptive_localsgd_begin_step`,
    and from then on k steps after it was taken last; k begins with K, `adaptive_localsgd_init_k_steps`,
    and where the branch was taken after that step it becomes ceil(sqrt(K rate_1 loss / (rate loss_1)))
    between 1 and 16, of the mean loss of all replicas and the learning rate, now and in step 1.

    Example:

        pd.set @w, %w1
        --->
        pd.set @w, %w1
        %d = pd.elementwise_sub X(%snap) Y(%cur) ; %r = dist.all_reduce sum(%d) on @grad0
        %s = pd.scale X(%r) {scale = 0.25} ; %n = pd.elementwise_sub X(%snap) Y(%s) ; pd.set @w,
            %n ; pd.set @"w@SNAPSHOT", %n
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = FieldOptions<"local-sgd">.options # [axesOption];
}
#endif
