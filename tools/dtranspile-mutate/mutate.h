// Wrong jobs from a right one: every kind of bug that a pass might have is a row of a table, and a
// mutant is one row applied at one place of a job. Called by main.cc and by tests; what
// verification makes of mutants is measured by test/mutation.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "dialects/dist/dist.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile::mutate {

// The request of the manifest, as JSON, while mutants of it are made: an attribute of the module.
inline constexpr llvm::StringLiteral kRequestAttr = "mutate.request";

// Where a kind looks for something to break.
enum class Place {
  Main,        // the top level of the role's main program
  Startup,     // of its start-up program
  Bodies,      // blocks of `while`, `conditional_block`, `recurrent` and their gradients
  Composites,  // bodies of `dist.composite`
};

// A job as kinds see it: one of its roles, and the ops of one place in textual order.
struct JobView {
  JobView(mlir::ModuleOp job, Place place, uint64_t seed, size_t roleNumber = 0);

  // Whether an op of the program belongs to the place.
  bool holds(mlir::Operation* op) const;

  // A number below `count`, drawn from the seed of the kind; 0 where there is nothing to choose.
  size_t draw(size_t count);
  // The comms that a program reduces or broadcasts on.
  std::vector<dist::CommOp> groupComms();

  mlir::ModuleOp job;
  Place place;
  dist::RoleOp role;  // null where the job has none of the number: no kind applies
  dist::MeshOp mesh;
  pd::ProgramOp program;                    // of the place
  mlir::ModuleOp source;                    // null if there is none
  std::vector<mlir::Operation*> framework;  // framework ops
  std::vector<mlir::Operation*> collectives;
  std::vector<mlir::Value> values;  // floating-point tensors that something reads
  std::string axis;                 // the first axis with more than one rank
  int64_t ranks = 1;

 private:
  std::mt19937_64 random_;
};

// One way to break the job: where, what changes, and the change itself. `apply` may be called once,
// on the module that the edit was found in.
struct Edit {
  std::string at, what;
  std::function<void()> apply;
};

class Edits {
 public:
  void add(mlir::Operation* at, std::string what, std::function<void()> apply);
  std::vector<Edit> list;
};

struct Kind {
  const char* group;
  const char* name;
  const char* meaning;
  Place place;
  void (*find)(JobView& view, Edits& edits);
  // The mutant changes @source too: only who has the programs can see it, so that they are given.
  bool changesSource = false;
};

// All rows, in the order of documentation (mutate.cc: the one list).
const std::vector<Kind>& kinds();

struct Mutant {
  const Kind* kind = nullptr;
  std::string at, what;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

// Which edit of which kind: a plan is a function of the job, the seed and the number per kind.
struct Choice {
  const Kind* kind = nullptr;
  size_t role = 0, edit = 0;
};
std::vector<Choice> choose(mlir::ModuleOp job, uint64_t seed, size_t perKind);

// Makes half precision single: what is left of a difference is none of rounding. True if there was
// any.
bool widenHalves(mlir::ModuleOp job);

// Makes the mutant of a choice. Its module is null where the text stays as it was.
Mutant make(mlir::ModuleOp job, uint64_t seed, const Choice& choice);

}  // namespace dtranspile::mutate
