#ifndef DTRANSPILE_PASSES_ASSIGN_STAGES
#define DTRANSPILE_PASSES_ASSIGN_STAGES
include "passes/field_options.td"

def AssignStages : Pass<"assign-stages", "::mlir::ModuleOp"> {
  let summary = "says to which stage of a pipeline every op of the forward and backward part belongs";
  let description = [{
    Gives ops `dist.stage`: the number of the part of the model that they are in, one part per
    coordinate of the axis, or `virtual_stages` of them, which lie on the stages in turn.

    `by=annotations`: parts are the devices that `op_device` names, `gpu:0`, `gpu:1` …; the first op
    of each stands behind the first one of that before. `by=cost`: the forward part is cut in the
    order of the program, so that the dearest part is as cheap as can be. The cost of an op is three
    times its floating-point operations (forward, and two products backward); that of a cut is the
    bytes that cross it, forward and back. `?` counts as 16. A dynamic programme finds the cuts.

    Ops that the program leaves open: of the forward part the latest stage that an operand comes
    from, else the first one that takes a result; of the backward part the stage that the gradient
    they take is on, or the nearest one before it that has the activations and parameters which they
    read. Ops that are computed from constants and feeds alone get no stage: whoever needs them
    repeats them. Nor do updates: the pipeline finds theirs.

    Example: `assign-stages{axes=pp by=annotations}`

        pd.matmul_v2 … {op_device = "gpu:1"}
        --->
        pd.matmul_v2 … {op_device = "gpu:1"} with {dist.stage = 1 : i64}
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [
    axesOption,
    Option<"by", "by", "std::string", "\"annotations\"", "annotations or cost">,
  ] # FieldOptions<"assign-stages">.options;
}
#endif
