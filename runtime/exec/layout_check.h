// What must hold of the layouts and selectors that a plan states (plan.h), before ranks find their
// parts by them. Called by plan_check.cc for variables and by node_check.cc for nodes.
#pragma once

#include <string>

#include "runtime/exec/json_reader.h"
#include "runtime/exec/plan.h"

namespace dtranspile::exec {

// Both add what is wrong to `errors`, at `where` or a field of it ("persistables[2].layout.per").

// Bounds of an axis are pairs lo, hi that rise throughout, so that sets are disjoint and not empty.
void CheckSelector(const Selector& selector, const std::string& where, JsonErrors& errors);

// The dim exists and has the extent that the layout cuts; parts of different sizes are along a dim
// in which they lie in one piece; the number of blocks is one that can be enumerated.
void CheckLayout(const Layout& layout, const std::string& where, JsonErrors& errors);

}  // namespace dtranspile::exec
