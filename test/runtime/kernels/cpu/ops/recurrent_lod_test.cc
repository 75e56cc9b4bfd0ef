// Recurrent ops and losses on sequences: gradients against differences, small results by hand, and
// what is refused.
#include <catch2/catch.hpp>

#include "test/runtime/kernels/cpu/ops/bag.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

const Lod kLod = {{0, 2, 2, 5, 6}};
constexpr double kSmall = 1e-7;

// Attributes of lstm, or of lstmp where `projection` is an activation.
Attributes LstmAttributes(bool peepholes, bool reverse, const char* projection, double clip) {
  Attributes a =
      Attributes().Int(peepholes).Int(reverse).Text("sigmoid").Text("tanh").Text("tanh").Int(1);
  if (projection != nullptr) a.Real(clip).Real(clip).Text(projection);
  return a;
}

TEST_CASE("gradients of lstm and lstmp agree with differences") {
  for (bool reverse : {false, true})
    for (const char* projection : {static_cast<const char*>(nullptr), "tanh", "identity"}) {
      Bag bag;
      const int64_t d = 3, r = projection == nullptr ? d : 2;
      bag.PutNoise("Input", {6, 4 * d}, kLod);
      bag.PutNoise("H0", {4, r});
      bag.PutNoise("C0", {4, d});
      bag.PutNoise("Weight", {r, 4 * d});
      bag.PutNoise("Proj", {d, r});
      bag.PutNoise("Bias", {1, 7 * d});
      const std::string proj = projection == nullptr ? "" : "Proj";
      const Attributes attributes = LstmAttributes(true, reverse, projection, 0.45);
      const auto forward = [&] {
        return bag.Run("dt_lstm", {"Input", "H0", "C0", "Weight", proj, "Bias"},
                       {"Out", "Cell", "Gate", "PreAct", proj.empty() ? "" : "Hidden"}, attributes);
      };
      const auto backward = [&] {
        return bag.Run("dt_lstm_grad",
                       {proj.empty() ? "Input" : "", "H0", "C0", "Weight", proj, "Bias", "Out",
                        "Cell", "Gate", "PreAct", proj.empty() ? "" : "Hidden", "Out@GRAD"},
                       {"Input@GRAD", "H0@GRAD", "C0@GRAD", "Weight@GRAD",
                        proj.empty() ? "" : "Proj@GRAD", "Bias@GRAD"},
                       attributes);
      };
      std::vector<std::string> inputs = {"Input", "H0", "C0", "Weight", "Bias"};
      if (projection != nullptr) inputs.push_back("Proj");
      INFO(reverse << " " << proj);
      CHECK(GradientError(bag, "Out", inputs, forward, backward) < kSmall);
      CHECK(bag.at("Out").lod == kLod);
      CHECK(bag.at("Cell").lod == kLod);
    }
}

TEST_CASE("gradients of gru agree with differences") {
  for (bool reverse : {false, true})
    for (bool origin : {false, true}) {
      Bag bag;
      const int64_t d = 3;
      bag.PutNoise("Input", {6, 3 * d}, kLod);
      bag.PutNoise("H0", {4, d});
      bag.PutNoise("Weight", {d, 3 * d});
      bag.PutNoise("Bias", {1, 3 * d});
      const Attributes attributes =
          Attributes().Text("tanh").Text("sigmoid").Int(reverse).Int(origin);
      CHECK(GradientError(
                bag, "Out", {"Input", "H0", "Weight", "Bias"},
                [&] {
                  return bag.Run("dt_gru", {"Input", "H0", "Weight", "Bias"},
                                 {"Gate", "Reset", "Hidden", "Out"}, attributes);
                },
                [&] {
                  return bag.Run(
                      "dt_gru_grad",
                      {"H0", "Weight", "Bias", "Gate", "Reset", "Hidden", "Out", "Out@GRAD"},
                      {"Input@GRAD", "H0@GRAD", "Weight@GRAD", "Bias@GRAD"}, attributes);
                }) < kSmall);
    }
}

// As the framework's kernel: what is asked for beside the gradient of H0 is without the first step.
TEST_CASE("gru without a gradient of its first states") {
  const int64_t d = 3;
  for (bool defects : {false, true}) {
    Bag bag;
    bag.PutNoise("Input", {4, 3 * d}, {{0, 1, 2, 3, 4}});  // four sequences of one row
    bag.PutNoise("H0", {4, d});
    bag.PutNoise("Weight", {d, 3 * d});
    bag.PutNoise("Bias", {1, 3 * d});
    bag.PutNoise("Out@GRAD", {4, d}, {{0, 1, 2, 3, 4}});
    const Attributes forward = Attributes().Text("tanh").Text("sigmoid").Int(0).Int(0);
    REQUIRE(bag.Run("dt_gru", {"Input", "H0", "Weight", "Bias"}, {"Gate", "Reset", "Hidden", "Out"},
                    forward)
                .ok());
    const Attributes backward =
        Attributes().Text("tanh").Text("sigmoid").Int(0).Int(0).Int(defects);
    REQUIRE(bag.Run("dt_gru_grad",
                    {"H0", "Weight", "Bias", "Gate", "Reset", "Hidden", "Out", "Out@GRAD"},
                    {"Input@GRAD", "", "Weight@GRAD", "Bias@GRAD"}, backward)
                .ok());
    double weights = 0, reset = 0;
    for (double value : bag.Data("Weight@GRAD")) weights += std::abs(value);
    for (int64_t j = d; j < 2 * d; ++j) reset += std::abs(bag.Data("Bias@GRAD")[j]);
    CHECK((weights == 0) == defects);
    CHECK((reset == 0) == defects);
  }
}

TEST_CASE("a recurrent op needs weights that fit") {
  Bag bag;
  bag.PutNoise("Input", {6, 12}, kLod);
  bag.PutNoise("Weight", {2, 12});
  bag.PutNoise("Square", {3, 12});
  bag.PutNoise("H0", {3, 3});
  bag.PutNoise("Bias", {1, 12});
  const Attributes attributes = LstmAttributes(false, false, nullptr, 0);
  CHECK_THAT(bag.Message("dt_lstm", {"Input", "", "", "Weight", "", ""},
                         {"Out", "Cell", "", "", ""}, attributes),
             Contains("'Weight' must be [D, 4D]"));
  CHECK_THAT(bag.Message("dt_lstm", {"Input", "H0", "", "Square", "", ""},
                         {"Out", "Cell", "", "", ""}, attributes),
             Contains("'H0' must be [4, 3]"));
  CHECK_THAT(bag.Message("dt_lstm", {"Input", "", "", "Square", "", "Bias"},
                         {"Out", "Cell", "", "", ""}, LstmAttributes(true, false, nullptr, 0)),
             Contains("'Bias' must have 21 elements"));
  CHECK(bag.Run("dt_lstm", {"Input", "", "", "Square", "", "Bias"}, {"Out", "Cell", "", "", ""},
                attributes)
            .ok());
}

TEST_CASE("gradients of linear_chain_crf agree with differences") {
  for (bool padded : {false, true}) {
    Bag bag;
    if (padded) bag.PutNoise("X", {3, 4, 3});
    else bag.PutNoise("X", {6, 3}, {{0, 2, 2, 6}});
    bag.PutNoise("W", {5, 3});
    if (padded) bag.Put<int64_t>("Label", {3, 4}, {0, 1, 9, 9, 9, 9, 9, 9, 2, 2, 0, 1});
    else bag.Put<int64_t>("Label", {6, 1}, {0, 1, 2, 2, 0, 1}, {{0, 2, 2, 6}});
    bag.Put<int64_t>("Length", {3, 1}, {2, 0, 4});
    const std::string length = padded ? "Length" : "";
    CHECK(GradientError(
              bag, "Out", {"X", "W"},
              [&] {
                return bag.Run("dt_linear_chain_crf", {"X", "W", "Label", length},
                               {"Alpha", "Exps", "WExps", "Out"});
              },
              [&] {
                return bag.Run("dt_linear_chain_crf_grad",
                               {"X", "W", "Label", length, "Alpha", "Exps", "WExps", "Out@GRAD"},
                               {"X@GRAD", "W@GRAD"});
              }) < kSmall);
    CHECK(bag.Data("Out")[1] == 0);
  }
}

TEST_CASE("the loss of a chain is that of all its paths") {
  Bag bag;
  bag.PutNoise("X", {3, 2}, {{0, 3}});
  bag.PutNoise("W", {4, 2});
  bag.Put<int64_t>("Label", {3, 1}, {1, 0, 1}, {{0, 3}});
  REQUIRE(bag.Run("dt_linear_chain_crf", {"X", "W", "Label", ""}, {"Alpha", "Exps", "WExps", "Out"})
              .ok());
  REQUIRE(bag.Run("dt_crf_decoding", {"X", "W", "", ""}, {"Path:int64"}).ok());
  const auto x = bag.Data("X"), w = bag.Data("W");
  double sum = 0, best = -1e30, wanted = 0;
  std::vector<int64_t> path;
  for (int64_t a : {0, 1})
    for (int64_t b : {0, 1})
      for (int64_t c : {0, 1}) {
        const double score =
            w[a] + x[a] + w[4 + a * 2 + b] + x[2 + b] + w[4 + b * 2 + c] + x[4 + c] + w[2 + c];
        sum += std::exp(score);
        if (a == 1 && b == 0 && c == 1) wanted = score;
        if (score > best) best = score, path = {a, b, c};
      }
  CHECK(bag.Data("Out")[0] == Approx(std::log(sum) - wanted));
  CHECK(bag.Data<int64_t>("Path") == path);
  bag.Put<int64_t>("Label", {3, 1}, {1, 2, 1}, {{0, 3}});
  CHECK_THAT(bag.Message("dt_linear_chain_crf", {"X", "W", "Label", ""},
                         {"Alpha", "Exps", "WExps", "Out"}),
             Contains("'Label' has the tag 2, expected 0 to 1"));
}

TEST_CASE("gradients of warpctc agree with differences") {
  for (bool padded : {false, true}) {
    Bag bag;
    if (padded) bag.PutNoise("X", {5, 3, 4});
    else bag.PutNoise("X", {9, 4}, {{0, 5, 7, 9}});
    if (padded) bag.Put<int32_t>("Label", {3, 3}, {1, 1, 2, 3, 0, 0, 1, 1, 0});
    else bag.Put<int32_t>("Label", {6, 1}, {1, 1, 2, 3, 1, 1}, {{0, 3, 4, 6}});
    bag.Put<int64_t>("Frames", {3}, {5, 2, 2});
    bag.Put<int64_t>("Tokens", {3}, {3, 1, 2});
    const std::string frames = padded ? "Frames" : "", tokens = padded ? "Tokens" : "";
    CHECK(GradientError(
              bag, "Out", {"X"},
              [&] {
                return bag.Run("dt_warpctc", {"X", "Label", frames, tokens}, {"Grad", "Out"},
                               Attributes().Int(0));
              },
              [&] {
                return bag.Run("dt_warpctc_grad", {"X", frames, "Grad", "Out@GRAD"}, {"X@GRAD"},
                               Attributes().Int(0));
              }) < kSmall);
    CHECK(bag.Data("Out")[2] == 0);  // 1 1 needs three frames
    bag.at("Label").as<int32_t>()[0] = 4;
    CHECK_THAT(bag.Message("dt_warpctc", {"X", "Label", frames, tokens}, {"Grad", "Out"},
                           Attributes().Int(0)),
               Contains("'Label' has the label 4"));
  }
}

TEST_CASE("the loss of labels is that of all their alignments") {
  Bag bag;
  bag.PutNoise("X", {2, 2}, {{0, 2}});
  bag.Put<int32_t>("Label", {1, 1}, {1}, {{0, 1}});
  REQUIRE(bag.Run("dt_warpctc", {"X", "Label", "", ""}, {"Grad", "Out"}, Attributes().Int(0)).ok());
  const auto x = bag.Data("X");
  const double p0 = std::exp(x[1]) / (std::exp(x[0]) + std::exp(x[1])),
               p1 = std::exp(x[3]) / (std::exp(x[2]) + std::exp(x[3]));
  CHECK(bag.Data("Out")[0] == Approx(-std::log(p0 * p1 + (1 - p0) * p1 + p0 * (1 - p1))));
}

TEST_CASE("a beam search and its decoding") {
  Bag bag;
  const Lod first = {{0, 1}, {0, 1}};
  bag.Put<int64_t>("Ids0", {1, 1}, {0}, first);
  bag.Put<double>("Scores0", {1, 1}, {0}, first);
  bag.Put<double>("Candidates", {1, 3}, {-1, -3, -2}, first);
  const Attributes attributes = Attributes().Int(0).Int(2).Int(2).Int(1);
  REQUIRE(bag.Run("dt_beam_search", {"Ids0", "Scores0", "", "Candidates"},
                  {"Ids1:int64", "Scores1", "Parents:int32"}, attributes)
              .ok());
  CHECK(bag.Data<int64_t>("Ids1") == std::vector<int64_t>{0, 2});
  CHECK(bag.at("Ids1").lod == Lod{{0, 1}, {0, 2}});
  // The second branch has ended; the first one goes on with 1 and 0, of which 1 is better.
  bag.Put<double>("Candidates", {2, 3}, {-5, -1.5, -9, 0, 0, 0}, {{0, 1}, {0, 2}});
  REQUIRE(bag.Run("dt_beam_search", {"Ids1", "Scores1", "", "Candidates"},
                  {"Ids2:int64", "Scores2", "Parents:int32"}, attributes)
              .ok());
  CHECK(bag.Data<int64_t>("Ids2") == std::vector<int64_t>{1, 2});
  CHECK(bag.Data<int32_t>("Parents") == std::vector<int32_t>{0, 1});
  CHECK(bag.at("Ids2").lod == Lod{{0, 2}, {0, 1, 2}});
  bag.PutList("Ids", {"Ids0", "Ids1", "Ids2"});
  bag.PutList("Scores", {"Scores0", "Scores1", "Scores2"});
  REQUIRE(bag.Run("dt_beam_search_decode", {"Ids", "Scores"},
                  {"SentenceIds:int64", "SentenceScores"}, Attributes().Int(2).Int(2))
              .ok());
  CHECK(bag.Data<int64_t>("SentenceIds") == std::vector<int64_t>{0, 0, 1, 0, 2});
  CHECK(bag.at("SentenceIds").lod == Lod{{0, 2}, {0, 3, 5}});
  bag.at("Ids").items[1].lod = {{0, 1}, {0, 1}};
  CHECK_THAT(bag.Message("dt_beam_search_decode", {"Ids", "Scores"},
                         {"SentenceIds:int64", "SentenceScores"}, Attributes().Int(2).Int(2)),
             Contains("step 1 of 'Ids' and 'Scores'"));
}

}  // namespace
}  // namespace dtranspile::kernels
