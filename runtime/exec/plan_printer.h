// Plans for people and for lit tests: a line per node, bodies indented. `dtranspile show PLAN` and
// dtranspile-lower print with it.
//
//   kernel relu(x float32[2x3]) -> y float32[2x3]
//   call dt_gather(y float32[2x3], index int64[2], -; 0 1) -> out float32[2x3]
//   kernel sgd(g float32[4], lr float32[1], w float32[4]) -> w float32[4]
//
// Arguments are those that a kernel or call reads, then those that it writes (one that is updated
// is both); `-` is a slot of a call that has none, the attributes of a call stand after `;`. Every
// other kind of node is printed field by field, with the words of plan.json (plan_fields.h).
// Buffers of one name are told apart by number (y, y#1); `y of x` lies where x was written last, a
// view or a value that took the memory of another. Extents that only a step knows are ?.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "runtime/exec/plan.h"

namespace dtranspile::exec {

struct PlanTextOptions {
  bool positions = false;  // the source position after every node: "  # ..."
  std::function<std::string(const std::string& symbol)> kernel = nullptr;  // printed after its node
};

// The whole plan: memory, then each program with its feeds and fetches.
std::string PlanText(const Plan& plan, const PlanTextOptions& options);

// The nodes of one of its programs, each line indented by `depth` steps.
std::string BodyText(const Plan& plan, const Program& program, int depth,
                     const PlanTextOptions& options);

}  // namespace dtranspile::exec
