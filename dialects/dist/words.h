// The words of an enumeration, for messages that say what could have stood there.
#pragma once

#include <string>

#include "dialects/dist/dist.h"

namespace dtranspile::dist {

// "group, pairs, rpc". Cases are numbered from 0 on without gaps.
template <typename Enum>
std::string wordsOf() {
  std::string words;
  for (uint32_t i = 0;; ++i) {
    const llvm::StringRef word = stringifyEnum(static_cast<Enum>(i));
    if (word.empty()) return words;
    words += (i > 0 ? ", " : "") + word.str();
  }
}

}  // namespace dtranspile::dist
