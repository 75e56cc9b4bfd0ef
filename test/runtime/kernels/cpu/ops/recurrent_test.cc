// Recurrences over dense batches: gradients of layers, directions and lengths against differences,
// and what is refused.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

constexpr int64_t kSteps = 3, kBatch = 2, kWidth = 2, kHidden = 2, kLayers = 2, kDirections = 2;

Attributes RnnAttributes(const char* mode, double dropout = 0) {
  Attributes attributes;
  attributes.Text(mode).Int(1).Int(kLayers).Int(kHidden).Real(dropout).Int(0);
  return attributes;
}

struct Names {
  std::string states, weights, last, d_states, d_weights;
  std::vector<std::string> all = {"X"};
};

Names PutRnn(Bag& bag, bool lstm, int64_t gates) {
  Names n;
  bag.PutNoise("X", {kSteps, kBatch, kWidth});
  bag.Put<int64_t>("lengths", {kBatch}, {3, 1});
  for (std::string state : {"H", "C"}) {
    if (state == "C" && !lstm) continue;
    bag.PutNoise(state, {kLayers * kDirections, kBatch, kHidden});
    const std::string comma = n.states.empty() ? "" : ", ";
    n.states += comma + state, n.last += comma + "last" + state,
        n.d_states += comma + state + "@GRAD";
    n.all.push_back(state);
  }
  for (int which : {0, 2})
    for (int64_t cell = 0; cell < kLayers * kDirections; ++cell)
      for (int i = which; i < which + 2; ++i) {
        const std::string name = "w" + std::to_string(i) + std::to_string(cell),
                          comma = n.weights.empty() ? "" : ", ";
        const int64_t input = cell < kDirections ? kWidth : kDirections * kHidden;
        const std::vector<int64_t> dims =
            i >= 2 ? std::vector<int64_t>{gates * kHidden}
                   : std::vector<int64_t>{gates * kHidden, i == 0 ? input : kHidden};
        bag.PutNoise(name, dims);
        n.weights += comma + name, n.d_weights += comma + name + "@GRAD";
        n.all.push_back(name);
      }
  return n;
}

double RnnError(const char* mode, int64_t gates) {
  Bag bag;
  const Names n = PutRnn(bag, std::string(mode) == "LSTM", gates);
  const Attributes attributes = RnnAttributes(mode);
  return GradientError(
      bag, "Out", n.all,
      [&] {
        return bag.Run("dt_rnn", {"X", n.states, n.weights, "lengths"}, {"Out", n.last, "Reserve"},
                       attributes);
      },
      [&] {
        return bag.Run("dt_rnn_grad",
                       {"X", n.states, n.weights, "lengths", "Reserve", "Out@GRAD", ""},
                       {"X@GRAD", n.d_states, n.d_weights}, attributes);
      });
}

TEST_CASE("gradients of two layers in both directions with lengths") {
  CHECK(RnnError("LSTM", 4) < 1e-7);
  CHECK(RnnError("GRU", 3) < 1e-7);
  CHECK(RnnError("RNN_TANH", 1) < 1e-7);
}

TEST_CASE("outputs after the end of a sequence are zero and its state stays") {
  Bag bag;
  const Names n = PutRnn(bag, false, 1);
  REQUIRE(bag.Run("dt_rnn", {"X", n.states, n.weights, "lengths"}, {"Out", n.last, "Reserve"},
                  RnnAttributes("RNN_TANH"))
              .ok());
  const std::vector<double> out = bag.Data("Out"), last = bag.Data("lastH");
  const int64_t row = kDirections * kHidden;
  for (int64_t k = 0; k < row; ++k)
    CHECK(out[static_cast<size_t>((1 * kBatch + 1) * row + k)] == 0);
  // The forward direction of the last layer ends at the sequence's own end.
  CHECK(last[static_cast<size_t>((2 * kBatch + 1) * kHidden)] == out[static_cast<size_t>(1 * row)]);
}

TEST_CASE("a step with the paper's update has gradients") {
  Bag bag;
  bag.PutNoise("X", {3, 6});
  bag.PutNoise("H", {3, 2});
  bag.PutNoise("W", {2, 6});
  bag.PutNoise("B", {1, 6});
  Attributes attributes;
  attributes.Int(2).Int(1).Int(1);
  CHECK(GradientError(
            bag, "Out", {"X", "H", "W", "B"},
            [&] {
              return bag.Run("dt_gru_unit", {"X", "H", "W", "B"}, {"Gate", "Reset", "Out"},
                             attributes);
            },
            [&] {
              return bag.Run("dt_gru_unit_grad", {"X", "H", "W", "B", "Gate", "Reset", "Out@GRAD"},
                             {"X@GRAD", "H@GRAD", "W@GRAD", "B@GRAD"}, attributes);
            }) < 1e-8);
}

TEST_CASE("what does not fit a recurrence is refused by name") {
  Bag bag;
  const Names n = PutRnn(bag, false, 1);
  auto message = [&](const Attributes& attributes) {
    return bag.Message("dt_rnn", {"X", n.states, n.weights, "lengths"}, {"Out", n.last, "Reserve"},
                       attributes);
  };
  CHECK_THAT(message(RnnAttributes("LSTM")), Contains("1 initial states, expected 2"));
  CHECK_THAT(message(RnnAttributes("GRU")), Contains("'w00' has not"));
  CHECK_THAT(message(RnnAttributes("ELMAN")), Contains("mode 'ELMAN'"));
  CHECK_THAT(message(RnnAttributes("RNN_TANH", 0.5)), Contains("dropout between the layers"));
  bag.Put<int64_t>("lengths", {kBatch}, {3, 4});
  CHECK_THAT(message(RnnAttributes("RNN_TANH")), Contains("'lengths' has the length 4 of 3 steps"));
}

}  // namespace
}  // namespace dtranspile::kernels
