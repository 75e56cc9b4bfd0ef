#ifndef DTRANSPILE_PASSES_LOOKAHEAD
#define DTRANSPILE_PASSES_LOOKAHEAD
include "passes/field_options.td"

def Lookahead : Pass<"lookahead", "::mlir::ModuleOp"> {
  let summary = "slow weights that go a part of the way to the updated ones every k steps";
  let description = [{
    Lookahead (Zhang et al., arXiv:1907.08610), as the framework's LookaheadOptimizer makes it
    around another optimizer. Every parameter p that is updated has slow weights `p@SLOW`; with n the
    number of the step, counted from 1 in `lookahead_step_0`, at the end of the update

        n = 1:           p@SLOW = p
        else k divides n: p@SLOW = alpha * p + (1 - alpha) * p@SLOW;  p = p@SLOW

    alpha and 1 - alpha are float32 numbers. Moments and velocities stay as they are. Where the
    update stands in a branch of its own (steps that overflow, of amp), so does this: a step that is
    left out does not count. With `apart`, for ranks that have some of the parameters each, every
    parameter has two branches of its own.

    Refused by name: programs without start-up, parameters that are no dense tensor of known extents
    or no float32 or float64, updates with a master copy, updates in several blocks, and programs
    that have a variable `p@SLOW` already.

    Example: `lookahead{lookahead_k=5 lookahead_alpha=0.5}`

        pd.set @w, %w1
        --->
        pd.set @w, %w1
        %n = pd.increment X(%step) ; %first = pd.equal X(%n) Y(1) ; %due = pd.equal X(%n mod 5) Y(0)
        pd.conditional_block Cond(%first) { pd.set @"w@SLOW", @w }
        pd.conditional_block Cond(%due) {
          %s = 0.5 * @w + 0.5 * @"w@SLOW" ; pd.set @"w@SLOW", %s ; pd.set @w, %s
        }
  }];
  let options = FieldOptions<"lookahead">.options # [
    Option<"apart", "apart", "bool", "false", "branches of each parameter by itself">,
  ];
}
#endif
