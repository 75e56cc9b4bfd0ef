// Rules for ops one of whose arguments is complex: kernels of formulas compute with reals only.
#pragma once

#include "compiler/lower/rules.h"

namespace dtranspile::lower {

// Null: the op's own rule does it, which refuses complex numbers where it is a formula.
const LoweringRule* findComplexRule(llvm::StringRef type);

bool isComplex(DType type);

}  // namespace dtranspile::lower
