// Averages of parameters that are taken in some steps only (local SGD): the branch that a pass puts
// at the end of a program, the steps in which it runs, and what is known after it.
#pragma once

#include <optional>
#include <string>

#include "compiler/analysis/relations/transfer.h"

namespace dtranspile::verify {

// Of a contract by which every rank takes steps of its own, with state of its own, and whose
// parameters become one value again by their mean: `local_sgd`, and `geo`, in whose jobs rung 2
// puts the mean in the place of the exchange with servers.
inline constexpr llvm::StringLiteral kGeoTag = "geo";
inline bool isOwnStepTag(llvm::StringRef tag) { return tag == kLocalSgdTag || tag == kGeoTag; }

// The one number that an op without operands fills in, in integers; nothing where another one makes
// the value.
std::optional<int64_t> numberIn(mlir::Value value);
// A variable that start-up sets to zero and every step to one more: what it is set to is the number
// of the step, counted from one.
bool countsSteps(mlir::Value value);

// In steps 1 … begin, and from then on in every `every`-th one.
struct Period {
  int64_t every = 1, begin = 1;
};

// The statement of contract local_sgd for it.
std::string statementOf(const Period& period);

// Averages whose distance follows the loss (AdaComm, docs/passes/fewer-bytes.md): in steps 1 …
// begin, then `first` steps after the last one, and so on with a number that every average sets
// anew.
struct AdaptivePeriod {
  int64_t first = 1, begin = 1;
};
inline constexpr int64_t kMostLocalSteps = 16;
// What rate * loss_1 counts as where it is less.
inline constexpr double kLeastDivisor = 1e-30;
std::string statementOf(const AdaptivePeriod& period);

// The steps in which an inserted conditional_block runs, read off its predicate: a counter of
// steps, compared with numbers. Nothing where it is another one.
std::optional<Period> periodOf(mlir::Operation* branch);

// An inserted conditional_block of a job that declares contract local_sgd, which gives nothing to
// its surroundings but what variables hold.
bool isAverage(const Scene& scene, mlir::Operation* op);

// After its block was walked. `before`: what the variables that it sets held. A parameter that
// differs between ranks is one value after it, and differs as before where it has not run.
void leaveAverage(const Scene& scene, mlir::Operation* op,
                  const std::map<std::string, Relation>& before);

// At the beginning of a step a parameter is what the rank's own steps have made of it: all that is
// computed from it is the reference's on the rank's share.
void beginWithOwn(const Scene& scene, const Variable& variable, Relation& relation);

}  // namespace dtranspile::verify
