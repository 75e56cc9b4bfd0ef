// Where buffers lie: none on another that lives when it does, however many there are.
#include "compiler/lower/arena.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <random>

namespace dtranspile::lower {
namespace {

struct Made {
  Plan plan;
  std::vector<std::pair<int, int>> lives;  // by buffer: first and last node
};

// Buffers of random sizes, an eighth of them empty, each written by a node and read a while later.
Made make(int count, int nodes, int64_t most, unsigned seed) {
  std::mt19937 random(seed);
  Made made;
  std::vector<Node>& body = made.plan.programs.emplace_back().body;
  for (int i = 0; i < nodes; ++i) body.push_back({.op = "op", .what = CallNode{}});
  for (int i = 0; i < count; ++i) {
    const int64_t elements = random() % 8 == 0 ? 0 : 1 + static_cast<int64_t>(random() % most);
    const int buffer = made.plan.addBuffer({.name = "b", .dims = {elements}});
    int first = static_cast<int>(random() % nodes);
    int last = std::min<int>(nodes - 1, first + static_cast<int>(random() % 9));
    for (int at : {first, last}) {
      body[at].args.push_back(buffer);
      body[at].writes.push_back(at == first);
      body[at].reads.push_back(at != first);
    }
    made.lives.emplace_back(first, last);
  }
  placeBuffers(made.plan);
  return made;
}

// By sweeping over nodes: what lives at one must lie apart.
bool apart(const Made& made, int nodes) {
  std::vector<std::vector<int>> at(nodes);
  for (size_t b = 0; b < made.lives.size(); ++b)
    for (int i = made.lives[b].first; i <= made.lives[b].second; ++i)
      at[i].push_back(static_cast<int>(b));
  for (std::vector<int>& alive : at) {
    std::sort(alive.begin(), alive.end(), [&](int a, int b) {
      return made.plan.buffers[a].offset < made.plan.buffers[b].offset;
    });
    int64_t end = 0;
    for (int b : alive) {
      const Buffer& buffer = made.plan.buffers[b];
      if (buffer.bytes() == 0) continue;
      if (buffer.offset < end || buffer.offset % 64 != 0) return false;
      end = buffer.offset + buffer.bytes();
      if (end > made.plan.arenaBytes) return false;
    }
  }
  return true;
}

// The most bytes that live at once.
int64_t least(const Made& made, int nodes) {
  std::vector<int64_t> change(nodes + 1);
  for (size_t b = 0; b < made.lives.size(); ++b) {
    change[made.lives[b].first] += made.plan.buffers[b].bytes();
    change[made.lives[b].second + 1] -= made.plan.buffers[b].bytes();
  }
  int64_t now = 0, most = 0;
  for (int64_t one : change) most = std::max(most, now += one);
  return most;
}

}  // namespace

TEST_CASE("few buffers lie apart") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    Made made = make(300, 100, 5000, seed);
    CHECK(apart(made, 100));
  }
}

TEST_CASE("very many buffers lie apart, and in not much more than they need") {
  constexpr int kNodes = 20'000;
  Made made = make(60'000, kNodes, 5000, 7);
  CHECK(apart(made, kNodes));
  CHECK(made.plan.arenaBytes < 4 * least(made, kNodes));
}

}  // namespace dtranspile::lower
