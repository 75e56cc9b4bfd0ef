// Cases of the corpus whose values come from a random-number generator (tags `random`, `dropout`): shapes, element types, and what `stats` of case.json
// says of the first output; for dropout, that outputs, gradients and loss agree with the mask. Called by ops_test.cc, which compares the values too
// where the generator is specified.
#pragma once

#include <string>

#include "test/compiler/lower/program_case.h"

namespace dtranspile::lower {

// The element as a number; NaN for types that have none.
double element(DType dtype, const std::byte* data, int64_t i);

// Whether the values of a case are drawn.
bool isRandom(const json& info);

// Whether every random op of the program has a seed of its own and a generator that we know, so that the framework's values are to be expected.
bool isReproducible(ProgramCase& c);

// Empty if the fetched values after a step have the golden shapes and types and the statistics; else what differs.
std::string compareStatistics(ProgramCase& c, exec::Executor& executor);

}  // namespace dtranspile::lower
