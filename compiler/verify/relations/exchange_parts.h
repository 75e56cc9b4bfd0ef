// What the files of exchange.h share: the two roles of a job of geo-SGD.
#pragma once

#include <map>
#include <string>

#include "compiler/analysis/relations/averages.h"
#include "compiler/verify/relations/contracts.h"

namespace dtranspile::verify {

// The two roles.
struct Parties {
  dist::RoleOp trainers, servers;
  pd::ProgramOp main, startup;  // of the trainers
  dist::ServeOp serve;
};

Parties partiesOf(mlir::ModuleOp job);

// The variable of the reference that one of the job stands for; empty where it says none.
llvm::StringRef standsFor(mlir::Operation* var);

inline std::string quoted(llvm::StringRef name) { return "`" + name.str() + "`"; }

// exchange_servers.cc: a handler per table, which adds what comes. `pushes`: by table, null for one
// that is only pulled.
void checkServers(const Parties& parties, const std::map<std::string, mlir::Operation*>& pushes,
                  Rung& findings);

// exchange_own.cc: which variables of trainers differ, and by which contract.
void collectOwn(const Parties& parties, const Reference& reference, const Contracts& contracts,
                Rung& findings, Deviations& deviations);
// A variable of an exchange is the reference's itself, on every rank that has it: what is sent is
// added to what others hold under that name. `cut`: parts of it may lie on different ranks.
void checkIsReferences(pd::VarOp var, dist::RoleOp role, bool cut, Rung& findings);

}  // namespace dtranspile::verify
