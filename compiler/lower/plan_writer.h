// The runtime's plan (runtime/exec/plan.h) of a plan whose buffers are placed.
#pragma once

#include <map>
#include <string>

#include "compiler/lower/codegen/target.h"
#include "compiler/lower/plan.h"
#include "runtime/exec/plan.h"

namespace dtranspile::lower {

// Symbols of kernels as codegen named them, by the nodes' kernels. Buffers that no node, feed,
// fetch or persistable mentions are left out and the others renumbered.
exec::Plan toRuntime(const Plan& plan, const Target& target, bool hasLibrary,
                     const std::map<const Kernel*, std::string>& symbols);

}  // namespace dtranspile::lower
