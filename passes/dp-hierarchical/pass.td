#ifndef DTRANSPILE_PASSES_DP_HIERARCHICAL
#define DTRANSPILE_PASSES_DP_HIERARCHICAL
include "mlir/Pass/PassBase.td"

def DpHierarchical : Pass<"dp-hierarchical", "::mlir::ModuleOp"> {
  let summary = "splits a sum over [inter, intra] into levels: reduce_scatter within, all_reduce "
                "between, all_gather within";
  let description = [{
    Each rank then sends 1/intra of the bytes between groups, on all links at once, and there is one
    class of ranks (leaders would make two). A started sum goes through its levels while the
    backward part runs: the next level starts where the next sum starts. Values that a group does
    not cut into equal parts (small ones, as a rule), values of unknown size and SelectedRows stay
    on the communicator of all: nothing is padded.
  }];
  let dependentDialects = ["::dtranspile::dist::DistDialect"];
}
#endif
