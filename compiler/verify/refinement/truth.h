// Truth of conditions, as far as it follows from that of boolean atoms.
#pragma once

#include <map>
#include <optional>
#include <vector>

#include "compiler/verify/refinement/terms.h"

namespace dtranspile::verify {

// Nothing where it does not follow.
std::optional<bool> truthOf(const Terms& terms, TermId condition,
                            const std::map<AtomId, bool>& assumed);

// The atoms that decide a condition: it is a function of them by logical ops alone.
std::vector<AtomId> decidersOf(const Terms& terms, TermId condition);

}  // namespace dtranspile::verify
