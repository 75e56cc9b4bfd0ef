// Bound nodes: the nodes of a plan with their addresses, kernels and communicators, ready to run.
// Made by the binder (bind.h) when a plan is loaded, run by the executor in every step. Running
// takes no memory of its own after the first time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/trace.h"
#include "runtime/flight/recorder.h"

namespace dtranspile::exec {

// One run of a program.
struct Walk {
  Trace* trace = nullptr;
  flight::Recorder* flight = nullptr;
  // The innermost op that has failed, and whether it is one that needs other ranks, so that the
  // reason may lie with them.
  std::string failed_op;
  bool failed_waiting = false;
};

class BoundNode {
 public:
  explicit BoundNode(const Node& node) : op_(node.op) {}
  virtual ~BoundNode() = default;

  virtual absl::Status Run(Walk& walk) = 0;
  virtual bool needs_others() const { return false; }

  const std::string& op() const { return op_; }

 private:
  const std::string& op_;  // of the plan, which outlives this
};

// Nodes in their order.
class BoundBody {
 public:
  void Add(std::unique_ptr<BoundNode> node) { nodes_.push_back(std::move(node)); }

  // The message of an error begins with the op.
  absl::Status Run(Walk& walk) const;

 private:
  std::vector<std::unique_ptr<BoundNode>> nodes_;
};

}  // namespace dtranspile::exec
