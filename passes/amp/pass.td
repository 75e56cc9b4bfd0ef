#ifndef DTRANSPILE_PASSES_AMP
#define DTRANSPILE_PASSES_AMP
include "passes/field_options.td"

def Amp : Pass<"amp", "::mlir::ModuleOp"> {
  let summary = "ops that gain by it compute in half precision, with loss scaling";
  let description = [{
    Mixed precision (Micikevicius et al., arXiv:1710.03740), as the framework's strategy `amp` makes
    it of the forward part before there is a backward part; here it is made of both.

    **Casts.** Which list an op type is in is said by the framework's version that the program is of
    (passes/amp/op_lists.def), `custom_white_list` and `custom_black_list`. Ops of the white list take
    casts of what is float32 and give half precision; those of the black list, of no list, and those
    that touch one of `custom_black_varnames` the other way round; ops of the gray list do as the ops
    before them did, and black wins. Statistics of norms, and what scales them, stay float32. Ops with
    blocks are black, and nothing is cast inside. A gradient op takes the very values that its forward
    op took, and gives gradients in their types; a gradient of a cast is cast back. Parameters stay
    float32; their gradients travel in half precision where the forward op took them so: the cast
    belongs to the update.

    **Loss scaling** (float16 only). The backward part begins with `@loss_scaling_0` instead of 1.
    `check_finite_and_unscale` divides all gradients by it before clips, decay and updates see them;
    `update_loss_scaling` multiplies it by `incr_ratio` after `incr_every_n_steps` good steps in a row
    and by `decr_ratio`, though not below 1, after `decr_every_n_nan_or_inf` bad ones. A bad step
    changes no other variable: updates stand in a branch; what else the program sets (running
    statistics, counters of schedules) is set back. With `use_dynamic_loss_scaling=false` the scale
    stays; if it is 1 too, nothing is scaled, looked at or skipped.

    With `apart`, for ranks that have some of the parameters each: a check per gradient, and their
    answers joined by `logical_or`; a branch for every parameter with what its update sets; in front of
    them what is computed of gradients and numbers alone (a clip by the norm of all gradients), which is
    pure. Gradients are complete, for micro-batches and ranks to add up, behind their casts to float32.

    Refused by name: programs with half precision in them already, programs without start-up, ops in
    both custom lists, SelectedRows gradients, blocks within the update, ops in the backward part that
    are not known to be linear in the gradients, and whatever takes a variable as the update has left
    it.

    Example: `amp{init_loss_scaling=1024}`

        %y = pd.mul X(%x) Y(%w)
        …
        %s = pd.fill_constant {value = 1.0, op_role = 257}
        …
        %g = pd.mul_grad "Out@GRAD"(%d) X(%x) Y(%w) {op_role_var = ["w", "w@GRAD"]}
        %u = pd.sgd Grad(%g) Param(%w) …
        pd.set @w, %u
        --->
        %a = pd.cast X(%x) -> Out("x.cast_fp16")
        %b = pd.cast X(%w) -> Out("w.cast_fp16")
        %y = pd.mul X(%a) Y(%b)
        …
        %s = pd.fill_constant {value = 1.0, op_role = 257}
        %t = pd.elementwise_mul X(%s) Y(%scale)
        …
        %g = pd.mul_grad "Out@GRAD"(%d) X(%a) Y(%b) {op_role_var = ["w", "w.cast_fp16@GRAD"]}
        %c = pd.cast X(%g) -> Out("w@GRAD") {op_role = 2}
        %v, %bad = pd.check_finite_and_unscale X(%c) Scale(%scale)
        %v2, %scale2, … = pd.update_loss_scaling X(%v) FoundInfinite(%bad) PrevLossScaling(%scale) …
        pd.set @loss_scaling_0, %scale2
        %good = pd.logical_not X(%bad)
        pd.conditional_block Cond(%good) Input(%v2) {
          %u = pd.sgd Grad(%v2) Param(%w) …
          pd.set @w, %u
        }
  }];
  let options = [
    Option<"apart", "apart", "bool", "false", "checks and branches of each parameter by itself">,
    Option<"by_block", "by_block", "bool", "false",
           "the scale is taken back by ops that work block by block">,
  ] # FieldOptions<"amp">.options;
}
#endif
