#include "compiler/lower/bodies.h"

#include <climits>

namespace dtranspile::lower {
namespace {

// Bodies are numbered in the order in which they begin, so that those within one follow it.
class Bodies {
 public:
  Bodies(Plan& plan, PlanProgram& program) : plan_(plan) {
    number(program.body);
    for (const Feed& feed : program.feeds) pin(feed.buffer);
    for (const Fetch& fetch : program.fetches) pin(fetch.buffer);
    for (int buffer : program.arguments) pin(buffer);
    for (const Buffer& buffer : plan.buffers)
      if (buffer.stride > 0) pin(buffer.storage);
  }

  void run(std::vector<Node>& nodes, llvm::function_ref<void(const Body&)> pass) {
    const int own = next_++;
    for (Node& node : nodes) {
      if (!isStraight(node)) continue;
      for (std::vector<Node>* inner : node.bodies()) run(*inner, pass);
      node.gatherArgs();
    }
    pass(Body(nodes, own, next_, touched_));
  }

  void run(PlanProgram& program, llvm::function_ref<void(const Body&)> pass) {
    next_ = 0;
    run(program.body, pass);
  }

 private:
  // Whether the bodies of a node are rewritten.
  static bool isStraight(const Node& node) {
    return node.as<AtNode>() || node.as<MicroNode>() || node.as<BlocksNode>();
  }

  void touch(int buffer, int body) {
    auto [at, inserted] = touched_.try_emplace(plan_.storageOf(buffer), std::pair(body, body));
    at->second.first = std::min(at->second.first, body);
    at->second.second = std::max(at->second.second, body);
  }
  void pin(int buffer) {
    touch(buffer, INT_MIN);
    touch(buffer, INT_MAX);
  }

  // Bodies in pre-order: those inside of a body have the numbers [own, next), so that "used
  // outside" is a comparison of numbers.
  void number(std::vector<Node>& nodes) {
    const int own = next_++;
    for (Node& node : nodes) {
      if (isStraight(node))
        for (std::vector<Node>* inner : node.bodies()) number(*inner);
      else
        for (int buffer : node.args) touch(buffer, own);
    }
  }

  Plan& plan_;
  int next_ = 0;
  Body::Touched touched_;
};

}  // namespace

bool Body::isPinned(int storage) const {
  auto found = touched_.find(storage);
  return found != touched_.end() && (found->second.first < begin_ || found->second.second >= end_);
}

void forEachBody(Plan& plan, PlanProgram& program, llvm::function_ref<void(const Body&)> pass) {
  Bodies(plan, program).run(program, pass);
}

}  // namespace dtranspile::lower
