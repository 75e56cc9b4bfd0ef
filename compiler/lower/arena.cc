#include "compiler/lower/arena.h"

#include <algorithm>
#include <map>

namespace dtranspile::lower {
namespace {

struct Life {
  int storage;
  int64_t bytes;
  int first, last;  // nodes
};

int64_t aligned(int64_t bytes) {
  return (bytes + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

// From the first node that mentions a buffer to the last one; feeds live from the start, fetches to
// the end. What an asynchronous operation uses lives until it was waited for.
std::vector<Life> livesOf(const Plan& plan, const PlanProgram& program) {
  std::map<int, Life> lives;
  auto touch = [&](int buffer, int at) {
    const int storage = plan.storageOf(buffer);
    const Buffer& owner = plan.buffers[storage];
    if (owner.space != Space::Arena) return;
    auto [it, inserted] = lives.try_emplace(storage, Life{storage, owner.bytes(), at, at});
    it->second.first = std::min(it->second.first, at);
    it->second.last = std::max(it->second.last, at);
  };
  const int end = static_cast<int>(program.body.size());
  std::map<int, int> started;
  for (int i = 0; i < end; ++i) {
    const Node& node = program.body[i];
    for (int buffer : node.args) touch(buffer, i);
    if (const auto* start = node.as<StartNode>()) started[start->ticket] = i;
    const auto* wait = node.as<WaitNode>();
    if (!wait) continue;
    for (int buffer : program.body[started[wait->ticket]].args) touch(buffer, i);
  }
  for (const Feed& feed : program.feeds) touch(feed.buffer, -1);
  for (const Fetch& fetch : program.fetches) touch(fetch.buffer, end);
  std::vector<Life> result;
  for (const auto& [storage, life] : lives) result.push_back(life);
  return result;
}

int64_t placeArena(Plan& plan, const PlanProgram& program) {
  std::vector<Life> lives = livesOf(plan, program);
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.storage < b.storage;
  });
  std::vector<Life> placed;  // by offset
  int64_t total = 0;
  for (const Life& life : lives) {
    int64_t offset = 0;
    for (const Life& other : placed) {
      if (other.last < life.first || other.first > life.last) continue;
      const int64_t start = plan.buffers[other.storage].offset;
      if (offset + aligned(life.bytes) <= start) break;
      offset = std::max(offset, start + aligned(other.bytes));
    }
    plan.buffers[life.storage].offset = offset;
    auto after = std::upper_bound(
        placed.begin(), placed.end(), offset,
        [&](int64_t at, const Life& other) { return at < plan.buffers[other.storage].offset; });
    placed.insert(after, life);
    total = std::max(total, offset + aligned(life.bytes));
  }
  return total;
}

}  // namespace

void placeBuffers(Plan& plan) {
  int64_t constants = 0;
  plan.persistentBytes = 0;
  for (size_t i = 0; i < plan.buffers.size(); ++i) {
    Buffer& buffer = plan.buffers[i];
    if (buffer.storage != static_cast<int>(i) || buffer.space == Space::Arena ||
        buffer.space == Space::Value)
      continue;
    int64_t& end = buffer.space == Space::Constant ? constants : plan.persistentBytes;
    buffer.offset = end;
    end += aligned(buffer.bytes());
  }
  plan.arenaBytes = 0;
  for (const PlanProgram* program : {plan.startup.get(), plan.main.get()}) {
    if (program) plan.arenaBytes = std::max(plan.arenaBytes, placeArena(plan, *program));
  }
}

}  // namespace dtranspile::lower
