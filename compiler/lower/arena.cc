#include "compiler/lower/arena.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

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

// Memory from `end` on, given out and taken back while time goes by: the smallest hole that fits,
// else more.
class Heap {
 public:
  explicit Heap(int64_t end) : end_(end) {}

  int64_t take(int64_t bytes) {
    auto hole = bySize_.lower_bound({bytes, 0});
    if (hole == bySize_.end()) return std::exchange(end_, end_ + bytes);
    const auto [size, offset] = *hole;
    remove(offset);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  void give(int64_t offset, int64_t bytes) {
    auto next = holes_.lower_bound(offset);
    if (next != holes_.end() && next->first == offset + bytes) {
      bytes += next->second;
      remove(next->first);
    }
    auto before = holes_.lower_bound(offset);
    if (before != holes_.begin() && (--before)->first + before->second == offset) {
      offset = before->first;
      bytes += before->second;
      remove(offset);
    }
    insert(offset, bytes);
  }

  int64_t end() const { return end_; }

 private:
  void insert(int64_t offset, int64_t bytes) {
    holes_[offset] = bytes;
    bySize_.insert({bytes, offset});
  }
  void remove(int64_t offset) {
    auto hole = holes_.find(offset);
    bySize_.erase({hole->second, offset});
    holes_.erase(hole);
  }

  int64_t end_;
  std::map<int64_t, int64_t> holes_;              // bytes by offset
  std::set<std::pair<int64_t, int64_t>> bySize_;  // of the same, size first
};

// Empty buffers take a piece too, so that all pieces are apart.
int64_t pieceOf(const Life& life) { return aligned(std::max<int64_t>(life.bytes, 1)); }

// In order of time, above `start`. Returns where memory ends.
int64_t placeInTime(Plan& plan, std::vector<Life> lives, int64_t start) {
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) {
    return a.first != b.first ? a.first < b.first : a.storage < b.storage;
  });
  Heap heap(start);
  std::multimap<int, const Life*> alive;  // by their last node
  for (const Life& life : lives) {
    while (!alive.empty() && alive.begin()->first < life.first) {
      const Life& ended = *alive.begin()->second;
      heap.give(plan.buffers[ended.storage].offset, pieceOf(ended));
      alive.erase(alive.begin());
    }
    plan.buffers[life.storage].offset = heap.take(pieceOf(life));
    alive.emplace(life.last, &life);
  }
  return heap.end();
}

// The largest ones first, each as low as those allow that live when it does. That asks every one
// for all before it: where there are very many, those that are left, which are small, lie above and
// are placed in order of time.
int64_t placeArena(Plan& plan, const PlanProgram& program) {
  constexpr size_t kMostBySize = 8192;
  std::vector<Life> lives = livesOf(plan, program);
  std::sort(lives.begin(), lives.end(), [](const Life& a, const Life& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.storage < b.storage;
  });
  std::vector<Life> placed;  // by offset
  std::vector<Life> rest;
  if (lives.size() > kMostBySize) {
    rest.assign(lives.begin() + kMostBySize, lives.end());
    lives.resize(kMostBySize);
  }
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
  return rest.empty() ? total : placeInTime(plan, std::move(rest), total);
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
