// Which requests go together: the rows of pairs.td. Called by problemsOf and by `strategy explain`;
// the page docs/composition.md is made from the same rows.
#pragma once

#include <string>
#include <vector>

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

namespace dtranspile {

struct FeatureRow {
  llvm::StringRef name, meaning, on;  // on: FIELD=VALUE of the request; empty: there is no pass yet
};

enum class Verdict { Composes, Conflicts, Later };

struct PairRow {
  llvm::StringRef one, other;  // names of features, in the order in which passes apply them
  Verdict verdict;
  llvm::StringRef why, shown;
};

// In the order in which passes apply them.
const std::vector<FeatureRow>& featureRows();
const std::vector<PairRow>& pairRows();

// Null where no row speaks of the two.
const PairRow* pairOf(llvm::StringRef one, llvm::StringRef other);

}  // namespace dtranspile
