#ifndef DTRANSPILE_PASSES_REDUCE_BY_LEVELS
#define DTRANSPILE_PASSES_REDUCE_BY_LEVELS
include "passes/field_options.td"

def ReduceByLevels : Pass<"reduce-by-levels", "::mlir::ModuleOp"> {
  let summary = "splits a sum over two axes into levels: reduce_scatter within a group (the second "
                "axis), all_reduce between groups (the first), all_gather within";
  let description = [{
    Each rank then sends 1/intra of the bytes between groups, on all links at once, and there is one
    class of ranks (leaders would make two). A started sum goes through its levels while the
    backward part runs: the next level starts where the next sum starts. Values that a group does
    not cut into equal parts (small ones, as a rule), values of unknown size and SelectedRows stay
    on the communicator of all: nothing is padded.
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
  let options = [axesOption];
}
#endif
