// What a rule has been made for, beside the operands that its clauses read: column `needs` of its
// row (rule.h). A rule says nothing of an op that has more than that. Called by RuleContext, and by
// the test that holds rows against the op table.
#pragma once

#include <string>
#include <vector>

#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

std::vector<Need> parseNeeds(llvm::StringRef text);

// Why no rule has to name an attribute: no value of it changes what an op of any type computes.
// Null for others.
const char* whyValueFree(llvm::StringRef attribute);
inline bool isValueFree(llvm::StringRef attribute) { return whyValueFree(attribute) != nullptr; }

// The first attribute or input of the op that its rule has not been made for, in words that follow
// the op's name: "has `overwrite` = false, for which its rule was not made". Empty where there is
// none.
std::string uncoveredBy(const ParsedRule& rule, const pd::OpView& op);

}  // namespace dtranspile::verify
