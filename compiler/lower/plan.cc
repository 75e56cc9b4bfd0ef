#include "compiler/lower/plan.h"

namespace dtranspile::lower {

int64_t Buffer::elements() const {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

std::vector<const std::vector<Node>*> Node::bodies() const {
  if (const auto* branch = as<IfNode>()) return {&branch->then, &branch->otherwise};
  if (const auto* loop = as<WhileNode>()) return {&loop->body};
  return {};
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

}  // namespace dtranspile::lower
