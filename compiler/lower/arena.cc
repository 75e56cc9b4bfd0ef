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

// When buffers are alive: from the first node that mentions them to the last one, bodies being
// walked through in the order of their text. Feeds live from the start, fetches to the end. What an
// asynchronous operation uses lives until it was waited for.
class Walk {
 public:
  Walk(const Plan& plan, const PlanProgram& program, exec::Memory memory)
      : plan_(plan), memory_(memory) {
    for (const Feed& feed : program.feeds) touch(feed.buffer, -1);
    for (int buffer : program.arguments) touch(buffer, -1);
    walk(program.body);
    for (const Fetch& fetch : program.fetches) touch(fetch.buffer, now_);
    for (const Repeated& one : repeated_) extend(one);
  }

  std::vector<Life> lives() const {
    std::vector<Life> result;
    for (const auto& [storage, life] : lives_) result.push_back(life);
    return result;
  }

 private:
  // A node that runs its bodies several times, in an order of its own.
  struct Repeated {
    int begin, end;
    std::map<int, std::set<size_t>> touched;  // storage -> bodies
  };

  // Views live as long as their storage. Within a loop the storage is also noted with the body that
  // touches it: bodies of one loop never run at once, and may share memory.
  void touch(int buffer, int at) {
    const int storage = plan_.storageOf(buffer);
    const Buffer& owner = plan_.buffers[storage];
    if (owner.space != Space::Arena || owner.memory != memory_) return;
    for (auto& [repeated, body] : inside_) repeated->touched[storage].insert(body);
    const int64_t bytes = owner.stride > 0 ? owner.stride * owner.instances : owner.bytes();
    auto [it, inserted] = lives_.try_emplace(storage, Life{storage, bytes, at, at});
    it->second.first = std::min(it->second.first, at);
    it->second.last = std::max(it->second.last, at);
  }

  void walk(const std::vector<Node>& body) {
    for (const Node& node : body) walk(node);
  }

  // Numbers the leaves of the plan in the order in which they run and notes for each buffer the
  // first and last number at which it is touched. What an asynchronous operation was started with
  // lives until it is awaited. Bodies that run many times are intervals of their own: a buffer that
  // carries a value from one turn to the next lives as long as the whole loop.
  void walk(const Node& node) {
    const bool repeats = node.as<MicroNode>() || node.as<BlocksNode>();
    const bool once = node.as<AtNode>() != nullptr;
    if (!repeats && !once) {
      // Turns of a loop hand on what lies in its buffers: all of them live as long as it does.
      for (int buffer : node.args) touch(buffer, now_);
      if (const auto* start = node.as<StartNode>()) started_[start->ticket] = &node.args;
      if (const auto* wait = node.as<WaitNode>())
        for (int buffer : *started_.at(wait->ticket)) touch(buffer, now_);
      ++now_;
      return;
    }
    if (!repeats) {
      for (const std::vector<Node>* inner : node.bodies()) walk(*inner);
      return;
    }
    Repeated repeated{now_, now_, {}};
    const std::vector<const std::vector<Node>*> bodies = node.bodies();
    for (size_t i = 0; i < bodies.size(); ++i) {
      inside_.emplace_back(&repeated, i);
      walk(*bodies[i]);
      inside_.pop_back();
    }
    repeated.end = std::max(now_ - 1, repeated.begin);
    repeated_.push_back(std::move(repeated));
  }

  // What several bodies share, and what lives around the node, keeps its place as long as it runs;
  // so does what has instances. Of the others each run of a body makes its own.
  void extend(const Repeated& repeated) {
    for (const auto& [storage, bodies] : repeated.touched) {
      Life& life = lives_.at(storage);
      const bool around = life.first < repeated.begin || life.last > repeated.end;
      if (bodies.size() < 2 && !around && plan_.buffers[storage].stride == 0) continue;
      life.first = std::min(life.first, repeated.begin);
      life.last = std::max(life.last, repeated.end);
    }
  }

  const Plan& plan_;
  exec::Memory memory_;
  int now_ = 0;
  std::map<int, Life> lives_;
  std::map<int, const std::vector<int>*> started_;
  std::vector<std::pair<Repeated*, size_t>> inside_;
  std::vector<Repeated> repeated_;
};

// Memory from `end` on, given out and taken back while time goes by: the smallest hole that fits,
// else more.
class Heap {
 public:
  explicit Heap(int64_t end) : end_(end) {}

  // Best fit: the smallest hole that is large enough, at the lowest offset among equal ones; else
  // the arena grows.
  int64_t take(int64_t bytes) {
    auto hole = bySize_.lower_bound({bytes, 0});
    if (hole == bySize_.end()) return std::exchange(end_, end_ + bytes);
    const auto [size, offset] = *hole;
    remove(offset);
    if (size > bytes) insert(offset + bytes, size - bytes);
    return offset;
  }

  // Frees an interval and merges it with the holes on either side, so that no two holes touch.
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
int64_t placeArena(Plan& plan, const PlanProgram& program, exec::Memory memory) {
  constexpr size_t kMostBySize = 8192;
  std::vector<Life> lives = Walk(plan, program, memory).lives();
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

// Offsets for all storage. Constants and persistent buffers lie one after the other and live for
// ever; those of the arena share memory by liveness, one program at a time, as programs never run
// at once: the arena is as large as the largest one needs. Sizes are bytes, offsets aligned.
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
  plan.arenaBytes = plan.pinnedBytes = 0;
  for (const PlanProgram& program : plan.programs) {
    const int64_t host = placeArena(plan, program, exec::Memory::kHost);
    const int64_t pinned = placeArena(plan, program, exec::Memory::kPinned);
    plan.arenaBytes = std::max(plan.arenaBytes, host);
    plan.pinnedBytes = std::max(plan.pinnedBytes, pinned);
  }
}

}  // namespace dtranspile::lower
