// What must hold of the nodes of a plan's program (plan.h), beyond the form of their fields. The
// part of plan_check.cc that walks bodies.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/json_reader.h"
#include "runtime/exec/plan.h"

namespace dtranspile::exec {

// The body of one program, with all that is nested in it: arguments exist and are of the kinds and
// types that the node works on, constants are not written, every operation that a body starts is
// waited for in it. Adds the first thing that is wrong, with its place below `where`. Buffers of
// the plan have been checked. Counts the unknown extents of kernels (KernelNode::unknown) on the
// way, which is why the body is not const.
void CheckNodes(const Plan& plan, std::vector<Node>& body, const std::string& where,
                JsonErrors& errors);

}  // namespace dtranspile::exec
