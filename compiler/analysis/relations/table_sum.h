// The contract of distributed tables whose gradients are summed over the trainers and not divided
// by their number, as the framework's are: declared by ps-split, checked with the relations.
#pragma once

#include <string>

#include "compiler/analysis/relations/rational.h"
#include "llvm/ADT/StringRef.h"

namespace dtranspile::verify {

// Its sites are the tables.
inline constexpr llvm::StringLiteral kTableSumTag = "table_sum";

// What it says where gradients of these are that many times the reference's.
inline std::string tableSumText(const Rational& times) {
  return "gradients of the tables that are listed are summed over the trainers: " + times.text() +
         " times those of the reference";
}

}  // namespace dtranspile::verify
