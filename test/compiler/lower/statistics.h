// Cases of the corpus whose values come from a random-number generator (tags `random`, `dropout`):
// shapes, element types, and what `stats` of case.json says of the first output; for dropout, that
// outputs, gradients and loss agree with the mask. Called by ops_test.cc, which compares the values
// too where the generator is specified.
#pragma once

#include <memory>
#include <string>

#include "test/compiler/lower/program_case.h"

namespace dtranspile::lower {

// The element as a number; NaN for types that have none.
double element(DType dtype, const std::byte* data, int64_t i);

// Whether the values of a case are drawn.
bool isRandom(const json& info);

// Whether every random op of the program has a seed of its own and a generator that we know, so
// that the framework's values are to be expected.
bool isReproducible(ProgramCase& c);

// Whether the variable is what a random op draws, not computed from it: such values are the
// framework's to the last bit where they are reproducible.
bool isDrawn(ProgramCase& c, const std::string& name);

// Collects what a case draws, step by step, until there is enough of it to be judged (10^4 elements
// of every output with statistics; 0 where none are said). All functions give the empty string, or
// what differs.
class Statistics {
 public:
  explicit Statistics(ProgramCase& c);
  ~Statistics();

  // The fetched values after a step: shapes and types are the golden ones, and all that can be seen
  // of one step is right.
  std::string add(const exec::Executor& executor);
  bool enough() const;
  // Shares, means and deviations of all draws.
  std::string finish();

 private:
  class Checker;
  std::unique_ptr<Checker> checker_;
};

}  // namespace dtranspile::lower
