// Kernels of the family `loss` that no corpus reaches: the best path of tags.
#include <algorithm>
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

// The best score of all paths of `length` tags, by trying each.
double BestOf(const std::vector<double>& input, const std::vector<double>& transition,
              int64_t length, int64_t tags, bool ends) {
  double best = -1e300;
  std::vector<int64_t> path(static_cast<size_t>(length), 0);
  for (;;) {
    double score = ends ? transition[static_cast<size_t>((tags - 1) * tags + path[0])] +
                              transition[static_cast<size_t>((tags - 2) * tags + path.back())]
                        : 0;
    for (int64_t t = 0; t < length; ++t) {
      const int64_t tag = path[static_cast<size_t>(t)];
      score += input[static_cast<size_t>(t * tags + tag)];
      if (t > 0)
        score += transition[static_cast<size_t>(path[static_cast<size_t>(t - 1)] * tags + tag)];
    }
    best = std::max(best, score);
    size_t at = 0;
    while (at < path.size() && ++path[at] == tags) path[at++] = 0;
    if (at == path.size()) return best;
  }
}

TEST_CASE("the best path of tags has the best score of all") {
  Bag bag;
  bag.PutNoise("Input", {3, 4, 3});
  bag.PutNoise("Transition", {3, 3});
  bag.Put<int64_t>("Length", {3}, {4, 2, 1});
  const std::vector<double> input = bag.Data("Input"), transition = bag.Data("Transition");
  for (const bool ends : {false, true}) {
    REQUIRE(bag.Run("dt_viterbi", {"Input", "Transition", "Length"}, {"Scores", "Path:int64"},
                    Attributes().Int(ends))
                .ok());
    const std::vector<double> scores = bag.Data("Scores");
    const std::vector<int64_t> path = bag.Data<int64_t>("Path"), lengths = {4, 2, 1};
    REQUIRE(path.size() == 12);
    for (size_t b = 0; b < 3; ++b) {
      const std::vector<double> own(input.begin() + static_cast<int64_t>(b) * 12,
                                    input.begin() + static_cast<int64_t>(b + 1) * 12);
      CHECK(scores[b] == Approx(BestOf(own, transition, lengths[b], 3, ends)));
      for (int64_t t = lengths[b]; t < 4; ++t) CHECK(path[b * 4 + static_cast<size_t>(t)] == 0);
    }
  }
}

}  // namespace
}  // namespace dtranspile::kernels
