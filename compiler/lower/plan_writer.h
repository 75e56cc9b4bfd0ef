// plan.json (docs/file-formats.md) from a plan whose buffers are placed.
#pragma once

#include <string>

#include "compiler/lower/codegen/target.h"
#include "compiler/lower/plan.h"

namespace dtranspile::lower {

// Symbols of kernels as codegen named them, by the nodes' kernels. Buffers that no node, feed,
// fetch or persistable mentions are left out and the others renumbered.
std::string writePlan(const Plan& plan, const Target& target, bool hasLibrary,
                      const std::map<const Kernel*, std::string>& symbols);

}  // namespace dtranspile::lower
