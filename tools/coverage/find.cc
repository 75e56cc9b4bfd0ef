#include <algorithm>

#include "tools/coverage/rows.h"

namespace dtranspile::coverage {

const Use* findUse(std::string_view type) {
  const std::span<const Use> uses = allUses();
  const auto found =
      std::lower_bound(uses.begin(), uses.end(), type,
                       [](const Use& use, std::string_view name) { return use.type < name; });
  return found != uses.end() && found->type == type ? &*found : nullptr;
}

}  // namespace dtranspile::coverage
