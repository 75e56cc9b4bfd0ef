#ifndef DTRANSPILE_PASSES_SELECT_UPDATES
#define DTRANSPILE_PASSES_SELECT_UPDATES
include "passes/field_options.td"

def SelectUpdates : Pass<"select-updates", "::mlir::ModuleOp"> {
  let summary = "branches of updates become selections: if-conversion (Allen et al. 1983)";
  let description = [{
    Servers work on a parameter block by block, and a branch is one op, which cannot be cut. What a
    branch of the update computes is computed in every step here, and what it sets becomes the new
    value where the branch would have been taken, else the old one. Variables are those of the branch
    to the bit, whichever way it goes: what is not selected is looked at by nobody. Such a variable is
    set once, in the end, and who reads it in between is given what it would have found.

    A semantic pass, after those that make branches (amp, lookahead). What it makes is the job's
    reference; rung 4 reads a selection as the branch that it stands for.

    An error, by name: an op of a branch that draws, acts on the outside or has blocks, or divides
    integers, and so cannot run where the branch is not taken; a variable that is no dense tensor. Branches
    that hand on values, or are none of the update's, stay.

    Example: `select-updates`

        pd.conditional_block Cond(%good) $capture(%g) {
          %v = pd.sgd Grad(%arg) Param(%w) -> ParamOut("w")
          pd.set @w, %v
        }
        --->
        %taken = pd.cast X(%good)
        %v = pd.sgd Grad(%g) Param(%w) -> ParamOut("w@NEXT")
        %old = pd.get @w
        %new = pd.select_input X(%old, %v) Mask(%taken) -> Out("w")
        pd.set @w, %new
  }];
}
#endif
