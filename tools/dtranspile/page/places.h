// Who holds what: the ranks of a role cut where the owner of a variable changes.
#pragma once

#include "tools/dtranspile/page/facts.h"

namespace dtranspile::page {

// Fills `places` and `allPlaces`.
void findPlaces(RoleFacts& role);

}  // namespace dtranspile::page
