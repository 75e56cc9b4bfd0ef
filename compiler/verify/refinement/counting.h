// Conditions that count steps: computed with numbers, step after step.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/verify/refinement/terms.h"

namespace dtranspile::verify {

// The value of an integer or boolean of one element, where it follows from those of variables.
std::optional<int64_t> valueOf(const Terms& terms, TermId term,
                               const std::map<std::string, int64_t>& variables);

// A number one step on, in 64 bits, which do not run over: of fewer a count begins anew some day.
bool isCountedUp(const Atom* atom);

// The variables, as they were before the step, that a term is made of.
std::vector<std::string> variablesOf(const Terms& terms, TermId term);

}  // namespace dtranspile::verify
