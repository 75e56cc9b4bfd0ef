// Why two terms differ, in words.
#pragma once

#include <string>

#include "compiler/verify/refinement/terms.h"

namespace dtranspile::verify {

struct TermDifference {
  mlir::Operation* op = nullptr;  // where, in the first one's program; null where no op is meant
  std::string text;
};

// The first place, from the results down, at which `mine` differs from `theirs`.
TermDifference explain(const Terms& terms, TermId mine, TermId theirs);

}  // namespace dtranspile::verify
