#include "compiler/lower/codegen/target.h"

#include <algorithm>
#include <vector>

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

namespace dtranspile::lower {

// Features in a fixed order: they are part of the key of the cache.
Target hostTarget() {
  std::vector<std::string> features;
  for (const auto& feature : llvm::sys::getHostCPUFeatures())
    features.push_back((feature.second ? "+" : "-") + feature.first().str());
  std::sort(features.begin(), features.end());
  Target target{llvm::sys::getHostCPUName().str(), ""};
  for (const std::string& feature : features)
    target.features += (target.features.empty() ? "" : ",") + feature;
  return target;
}

}  // namespace dtranspile::lower
