// What a run reports of a variable that every rank has a value of: read off its relation to the
// reference. Called by the manifest (compiler/artifact) and by `run`.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/analysis/relations/store.h"
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

// For variables of @main of a role, in the order of `names`: analyses the program.
std::vector<FetchRelation> fetchRelations(mlir::ModuleOp job, dist::RoleOp role,
                                          llvm::ArrayRef<std::string> names);

// The same where the program has been analysed: `main` of `role`, with what `store` knows of it.
std::vector<FetchRelation> fetchRelations(const Store& store, dist::RoleOp role, pd::ProgramOp main,
                                          llvm::ArrayRef<std::string> names);

// As the manifest writes them.
nlohmann::ordered_json fetchesText(llvm::ArrayRef<FetchRelation> fetches);

}  // namespace dtranspile::verify
