#include "compiler/strategy/composition.h"

#include "llvm/ADT/STLExtras.h"

namespace dtranspile {

const std::vector<FeatureRow>& featureRows() {
  static const std::vector<FeatureRow> rows = {
#include "compiler/strategy/features.cc.inc"
  };
  return rows;
}

const std::vector<PairRow>& pairRows() {
  static const std::vector<PairRow> rows = {
#include "compiler/strategy/pairs.cc.inc"
  };
  return rows;
}

const PairRow* pairOf(llvm::StringRef one, llvm::StringRef other) {
  const auto found = llvm::find_if(pairRows(), [&](const PairRow& row) {
    return (row.one == one && row.other == other) || (row.one == other && row.other == one);
  });
  return found == pairRows().end() ? nullptr : &*found;
}

}  // namespace dtranspile
