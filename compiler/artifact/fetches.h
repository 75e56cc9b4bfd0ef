// What a run reports of a variable that every rank has a value of: read off its relation to the
// reference. Called by the manifest (compiler/artifact) and by `run`.
#pragma once

#include <string>
#include <vector>

#include "dialects/dist/dist.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

struct FetchRelation {
  std::string name;
  std::string relation;  // "dp: P(sum), scale 4"; "?" where none is known
  // How the values of all ranks become the reference's: "same", "sum", "mean", "concat" along dim
  // 0; "list" where none of these does it.
  std::string combine;
};

// For variables of @main of a role, in the order of `names`.
std::vector<FetchRelation> fetchRelations(mlir::ModuleOp job, dist::RoleOp role,
                                          llvm::ArrayRef<std::string> names);

}  // namespace dtranspile::verify
