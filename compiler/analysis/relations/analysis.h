// Inference of relations over one program of a role: every value and variable gets its relation to
// the reference, per axis, by the rules. The theory is in docs/verification.md. Passes ask it what
// a value is; rung 2 (compiler/verify/relations) demands what it must be.
//
//   Reference reference(findProgram(referenceModule(job), "main"));
//   Contracts contracts = Contracts::of(job);
//   Store relations = analyse({role, main, reference, contracts, /*startup=*/false});
//   relations.of(gradient).reading().states[axis].isPartial()
#pragma once

#include <map>
#include <set>
#include <string>

#include "compiler/analysis/relations/reference.h"
#include "compiler/analysis/relations/store.h"
#include "compiler/analysis/report.h"
#include "mlir/IR/BuiltinOps.h"

namespace dtranspile::verify {

// What the job declares to deviate from the reference in, per tag (module attribute
// `dist.contracts`).
struct Contracts {
  std::map<std::string, std::set<std::string>> sites;  // by tag; "parts" lists its sites
  std::map<std::string, std::string> statements;       // by tag
  bool declares(llvm::StringRef tag) const { return sites.count(tag.str()) != 0; }
  static Contracts of(mlir::ModuleOp job);
};

// Axes of a role's mesh, with the data axes marked.
Axes axesOf(dist::RoleOp role);

struct Question {
  dist::RoleOp role;
  pd::ProgramOp program;
  const Reference& reference;
  const Contracts& contracts;
  bool startup = false;  // persistables hold nothing at the beginning
};

// True for ops that make parameters and their state from gradients: what they take is what the
// reference's take, reduced and with scale 1.
bool isUpdate(const Question& question, mlir::Operation* op, mlir::Operation* reference);

// Sees every op of the update part before its rule is applied, and may correct what it reports to
// be wrong about the operands, so that it is reported once.
class UpdateWatch {
 public:
  virtual ~UpdateWatch() = default;
  virtual void beforeUpdate(mlir::Operation* op, Store& store) = 0;
};

// One role by itself: of what it pulls from others nothing is known.
Store analyse(const Question& question);

// One program of one role among those of all roles.
struct RoleWalk {
  Question question;
  Store* store;  // empty yet
  UpdateWatch* watch = nullptr;
};
// One program of all roles together: what they ask of each other is followed. What is wrong or not
// understood on the way goes to `findings`.
void analyse(llvm::MutableArrayRef<RoleWalk> roles, Rung& findings);

// "`w` of sgd of `w` (block 0, op 3)", or the difference from it.
std::string describe(const Reference& reference, const Relation& relation);

// Indices of a communicator's axes with more than one coordinate.
llvm::SmallVector<unsigned, 2> axesOfComm(const Axes& axes, dist::CommOp comm);

}  // namespace dtranspile::verify
