// D30: an op that stands for one of the reference has its type, slots, names, attributes and result
// types. So has a composite, by another name; rung 2 reads its body.
#pragma once

#include "compiler/analysis/relations/reference.h"
#include "compiler/analysis/report.h"

namespace dtranspile::verify {

// Nothing for ops without dist.src.
void checkForm(mlir::Operation* op, const Reference& reference, Rung& rung);

// Attributes but those of dialect dist and the ones named in `except`; the text of the first
// difference.
std::optional<std::string> programAttributesDiffer(mlir::Operation* mine, mlir::Operation* theirs,
                                                   llvm::ArrayRef<llvm::StringRef> except = {});

}  // namespace dtranspile::verify
