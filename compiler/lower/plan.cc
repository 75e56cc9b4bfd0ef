#include "compiler/lower/plan.h"

#include <map>
#include <utility>

namespace dtranspile::lower {

int64_t Buffer::elements() const {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

namespace {

// Of a node, or of a const one.
template <typename Body, typename Any>
std::vector<Body*> bodiesOf(Any& node) {
  if (auto* branch = node.template as<IfNode>()) return {&branch->then, &branch->otherwise};
  if (auto* loop = node.template as<WhileNode>()) return {&loop->body};
  if (auto* guard = node.template as<AtNode>()) return {&guard->body, &guard->otherwise};
  std::vector<Body*> bodies;
  if (auto* micro = node.template as<MicroNode>())
    for (auto& task : micro->tasks) bodies.push_back(&task.body);
  if (auto* blocks = node.template as<BlocksNode>())
    for (auto& one : blocks->bodies) bodies.push_back(&one.body);
  return bodies;
}

}  // namespace

std::vector<const std::vector<Node>*> Node::bodies() const {
  return bodiesOf<const std::vector<Node>>(*this);
}
std::vector<std::vector<Node>*> Node::bodies() { return bodiesOf<std::vector<Node>>(*this); }

// A node with bodies touches what its bodies touch: for liveness, and so that the executor knows
// what a node reads and writes without looking inside. All are taken to be read, since a body may
// not run.
void Node::gatherArgs() {
  std::map<int, bool> written;
  for (const std::vector<Node>* body : std::as_const(*this).bodies())
    for (const Node& node : *body)
      for (size_t i = 0; i < node.args.size(); ++i) written[node.args[i]] |= node.writes[i];
  if (const auto* branch = as<IfNode>()) written.try_emplace(branch->condition, false);
  if (const auto* loop = as<WhileNode>()) written.try_emplace(loop->condition, false);
  args.clear();
  writes.clear();
  for (const auto& [buffer, isWritten] : written) {
    args.push_back(buffer);
    writes.push_back(isWritten);
  }
  reads.assign(args.size(), true);
}

int Plan::addBuffer(Buffer buffer) {
  buffer.storage = static_cast<int>(buffers.size());
  buffers.push_back(std::move(buffer));
  return buffers.back().storage;
}

int Plan::addView(int of, std::string name, std::vector<int64_t> dims) {
  Buffer view = buffers[of];
  view.name = std::move(name);
  view.dims = std::move(dims);
  buffers.push_back(std::move(view));
  return static_cast<int>(buffers.size()) - 1;
}

const PlanProgram* Plan::find(const std::string& name) const {
  for (const PlanProgram& program : programs)
    if (program.name == name) return &program;
  return nullptr;
}

}  // namespace dtranspile::lower
