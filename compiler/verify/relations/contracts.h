// The contracts that are understood: what each one says, and which variables it lets differ between
// ranks. A job may declare others; nothing is known of what they allow.
#pragma once

#include "compiler/analysis/relations/analysis.h"

namespace dtranspile::verify {

struct ContractRow {
  llvm::StringLiteral tag, statement;
  // May a variable of relation X(tag) end with what the reference's `update` gives? Null: no
  // variable may.
  bool (*covers)(const Question& question, mlir::Operation* update);
};

// Null for a tag that is none of the table.
const ContractRow* findContract(llvm::StringRef tag);

// Says which contracts the job declares, and leaves the verdict open for unknown ones.
void checkContracts(mlir::ModuleOp job, const Contracts& contracts, Rung& findings);

// What a contract says is something else than what the job does.
void refuteStatement(mlir::Operation* at, llvm::StringRef tag, const Contracts& contracts,
                     llvm::StringRef wanted, Rung& findings);

// What the job deviates in, by the tag of the contract that is about it, as contracts list it:
// sites (siteName), variables of relation X by name, values that are rounded by name.
using Deviations = std::map<std::string, std::set<std::string>>;
void collectDeviations(const Question& question, const Store& store, llvm::ArrayRef<Site> sites,
                       Deviations& deviations);

// A contract lists all that it excuses, and nothing else. (Sites that are not listed have messages
// of their own, with what makes them one.)
void checkSiteLists(mlir::ModuleOp job, const Contracts& contracts, const Deviations& deviations,
                    Rung& findings);

}  // namespace dtranspile::verify
