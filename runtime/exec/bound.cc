#include "runtime/exec/bound.h"

#include <new>

#include "absl/strings/str_cat.h"

namespace dtranspile::exec {
namespace {

// Values that are copied or resized between calls take memory, too.
absl::Status RunCatching(BoundNode& node, Walk& walk) try {
  return node.Run(walk);
} catch (const std::bad_alloc&) {
  return absl::ResourceExhaustedError("no memory is left");
}

absl::Status RunTraced(BoundNode& node, Walk& walk) {
  const int64_t begin = NowNs();
  const absl::Status status = RunCatching(node, walk);
  walk.trace->Add(node.op().c_str(), Trace::kWork, begin, NowNs());
  return status;
}

}  // namespace

absl::Status BoundBody::Run(Walk& walk) const {
  for (const auto& node : nodes_) {
    const absl::Status status = walk.trace ? RunTraced(*node, walk) : RunCatching(*node, walk);
    if (status.ok()) continue;
    if (!walk.failed_op.empty()) return status;  // of a node inside this one
    walk.failed_op = node->op();
    walk.failed_waiting = node->needs_others();
    return absl::Status(status.code(), absl::StrCat("op ", walk.failed_op, ": ", status.message()));
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::exec
