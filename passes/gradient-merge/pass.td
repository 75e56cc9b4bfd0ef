#ifndef DTRANSPILE_PASSES_GRADIENT_MERGE
#define DTRANSPILE_PASSES_GRADIENT_MERGE
include "passes/field_options.td"

def GradientMerge : Pass<"gradient-merge", "::mlir::ModuleOp"> {
  let summary = "gradients are merged over several steps before parameters are updated";
  let description = [{
    Every step adds its gradients to variables `<parameter>@GRAD@GradientMerge`; every
    `gradient_merge_k_steps`-th step updates with what has been added up (divided by the number with
    `gradient_merge_avg`), and empties them. k steps are then one step on a batch k times as large,
    where the loss is a mean over the batch; without `gradient_merge_avg` where it is a sum.

    Whatever has the role Optimize or LRSched moves into the branch that runs every k-th step: clips,
    decay, updates, and the schedule of the rate, which counts updates and not steps (that of the
    framework counts steps). A gradient is complete where the last op with role Backward lists it in
    `op_role_var`; that op no longer does, the op that adds it up does instead, so that
    reduce-gradients exchanges gradients once per update.

    Refused by name: programs without start-up, gradients that are SelectedRows, variables that are
    set outside of the update (running statistics of `batch_norm`: k steps would move them k times),
    schedules with blocks of their own, and an update that takes a value of one step other than its
    gradients.

    Example: `gradient-merge{gradient_merge_k_steps=4}`

        %g = pd.mul_grad … {op_role_var = ["w", "w@GRAD"]}
        %u = pd.sgd Grad(%g) Param(%w) …
        pd.set @w, %u
        --->
        %g = pd.mul_grad …
        %a = pd.get @w@GRAD@GradientMerge
        %s = pd.sum X(%a, %g) … {op_role_var = ["w", "w@GRAD@GradientMerge"]}
        pd.set @w@GRAD@GradientMerge, %s
        …
        pd.conditional_block Cond(%due) … {
          %b = pd.get @w@GRAD@GradientMerge
          %m = pd.scale X(%b) … {scale = 0.25}
          %u = pd.sgd Grad(%m) Param(%w) …
          pd.set @w, %u
          pd.set @w@GRAD@GradientMerge, %zero
        }
  }];
  let options = FieldOptions<"gradient-merge">.options;
}
#endif
