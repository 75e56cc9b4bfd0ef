// Kernels of the family `random`: the numbers that the framework's wheels gave on a CPU (1.8.5
// and 2.6.2, one op per program, attributes as below), and what is refused.
#include <catch2/catch.hpp>

#include "runtime/kernels/cpu/random/generator.h"
#include "test/runtime/kernels/cpu/ops/bag.h"
#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

constexpr int64_t kOld = 1008005, kNew = 2006002;

template <typename T>
Tensor<T> Of(std::vector<int64_t> dims, std::vector<T> values) {
  Tensor<T> tensor(std::move(dims));
  tensor.data = std::move(values);
  return tensor;
}

SlotCall Randint(int64_t low, int64_t high, int64_t seed, int64_t version) {
  SlotCall call("dt_randint");
  call.Slot().Slot().Out(DType::kInt64);
  call.Ints({10}).Ints({low}).Ints({high}).Ints({seed}).Ints({version});
  return call;
}

SlotCall Randperm(int64_t n, int64_t seed, int64_t version) {
  SlotCall call("dt_randperm");
  call.Out(DType::kInt64).Ints({n}).Ints({seed}).Ints({version});
  return call;
}

SlotCall Dropout(Tensor<float>& x, double probability, bool test, bool fixed, int64_t seed,
                 const char* how, int64_t version) {
  SlotCall call("dt_dropout");
  call.In(x).Slot().Out(DType::kFloat32).Out(DType::kUInt8);
  call.Reals({probability}).Ints({test}).Ints({fixed}).Ints({seed}).Text(how).Ints({version});
  return call;
}

TEST_CASE("whole numbers are those of the framework") {
  SlotCall old = Randint(0, 10, 9, kOld);
  REQUIRE(old.Run().ok());
  CHECK(old.Data<int64_t>() == std::vector<int64_t>{0, 7, 4, 0, 7, 7, 6, 5, 3, 6});
  random::Generator::Process().SetSeed(7);
  SlotCall young = Randint(2, 9, 0, kNew);
  REQUIRE(young.Run().ok());
  CHECK(young.Data<int64_t>() == std::vector<int64_t>{2, 6, 7, 5, 6, 8, 5, 6, 8, 5});
}

TEST_CASE("permutations are those of the framework") {
  SlotCall old = Randperm(10, 9, kOld);
  REQUIRE(old.Run().ok());
  CHECK(old.Data<int64_t>() == std::vector<int64_t>{0, 3, 9, 1, 7, 4, 6, 8, 2, 5});
  random::Generator::Process().SetSeed(7);
  SlotCall young = Randperm(10, 9, kNew);
  REQUIRE(young.Run().ok());
  CHECK(young.Data<int64_t>() == std::vector<int64_t>{9, 2, 7, 6, 4, 1, 8, 0, 3, 5});
}

TEST_CASE("dropout masks are those of the framework") {
  Tensor<float> x({2, 5}, 1.0f);
  SlotCall old = Dropout(x, 0.4, false, true, 5, "upscale_in_train", kOld);
  REQUIRE(old.Run().ok());
  CHECK(old.Data<uint8_t>(1) == std::vector<uint8_t>{0, 1, 0, 1, 1, 1, 1, 1, 0, 1});
  CHECK(old.Data<float>()[1] == 1.6666666f);
  SlotCall young = Dropout(x, 0.4, false, true, 5, "upscale_in_train", kNew);
  REQUIRE(young.Run().ok());
  CHECK(young.Data<uint8_t>(1) == std::vector<uint8_t>{1, 0, 0, 1, 0, 0, 0, 1, 1, 0});
  // A seed that is not fixed counts for nothing.
  random::Generator::Process().SetSeed(7);
  SlotCall shared = Dropout(x, 0.4, false, false, 5, "upscale_in_train", kNew);
  REQUIRE(shared.Run().ok());
  CHECK(shared.Data<uint8_t>(1) == std::vector<uint8_t>{0, 1, 1, 1, 1, 1, 1, 1, 1, 1});
}

TEST_CASE("dropout of everything and of nothing") {
  Tensor<float> x({4}, 3.0f);
  SlotCall all = Dropout(x, 1, false, true, 5, "upscale_in_train", kNew);
  REQUIRE(all.Run().ok());
  CHECK(all.Data<float>() == std::vector<float>{0, 0, 0, 0});
  SlotCall test = Dropout(x, 0.5, true, false, 0, "downgrade_in_infer", kNew);
  REQUIRE(test.Run().ok());
  CHECK(test.Data<float>() == std::vector<float>{1.5, 1.5, 1.5, 1.5});
}

TEST_CASE("samples are those of the framework") {
  random::Generator::Process().SetSeed(7);
  auto p = Of<float>({4}, {0.1f, 0.2f, 0.3f, 0.4f});
  SlotCall multinomial("dt_multinomial");
  REQUIRE(multinomial.In(p).Out(DType::kInt64).Ints({12}).Ints({1}).Ints({kNew}).Run().ok());
  CHECK(multinomial.Data<int64_t>() == std::vector<int64_t>{0, 3, 3, 2, 3, 3, 2, 3, 3, 2, 3, 3});
  random::Generator::Process().SetSeed(7);
  auto rows = Of<float>({2, 4}, {0.1f, 0.2f, 0.3f, 0.4f, 0.4f, 0.3f, 0.2f, 0.1f});
  SlotCall without("dt_multinomial");
  REQUIRE(without.In(rows).Out(DType::kInt64).Ints({3}).Ints({0}).Ints({kNew}).Run().ok());
  CHECK(without.Data<int64_t>() == std::vector<int64_t>{0, 3, 2, 1, 2, 3});
  random::Generator::Process().SetSeed(7);
  auto x = Of<float>({12}, std::vector<float>(12, 0.4f));
  SlotCall bernoulli("dt_bernoulli");
  REQUIRE(bernoulli.In(x).Out(DType::kFloat32).Ints({kNew}).Run().ok());
  CHECK(bernoulli.Data<float>() == std::vector<float>{1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0});
  Tensor<float> many({10, 4});
  for (int64_t i = 0; i < 40; ++i) many[i] = p[i % 4];
  SlotCall ids("dt_sampling_id");
  REQUIRE(ids.In(many).Out(DType::kInt64).Reals({0}).Reals({1}).Ints({9}).Ints({kOld}).Run().ok());
  CHECK(ids.Data<int64_t>() == std::vector<int64_t>{0, 3, 2, 0, 3, 3, 3, 2, 2, 3});
}

TEST_CASE("windows are those of the framework, and the seed moves on") {
  Tensor<float> x({2, 4, 4});
  for (int64_t i = 0; i < 32; ++i) x[i] = static_cast<float>(i);
  auto seed = Of<int64_t>({1}, {1234567});
  SlotCall crop("dt_random_crop");
  REQUIRE(crop.In(x)
              .In(seed, "seed")
              .Out(DType::kFloat32)
              .Out(DType::kInt64)
              .Ints({2, 3})
              .Ints({3})
              .Run()
              .ok());
  CHECK(crop.Data<float>() == std::vector<float>{8, 9, 10, 12, 13, 14, 17, 18, 19, 21, 22, 23});
  CHECK(crop.Data<int64_t>(1) == std::vector<int64_t>{358873365});
  SlotCall large("dt_random_crop");
  CHECK_THAT(large.In(x, "image")
                 .In(seed)
                 .Out(DType::kFloat32)
                 .Out(DType::kInt64)
                 .Ints({5, 3})
                 .Ints({3})
                 .Message(),
             Contains("'image'") && Contains("5 out of the 4"));
}

TEST_CASE("distributions that are none are refused by name and value") {
  auto bad = Of<float>({3}, {0.5f, 1.5f, 0});
  SlotCall bernoulli("dt_bernoulli"), multinomial("dt_multinomial"), few("dt_multinomial");
  CHECK_THAT(bernoulli.In(bad, "p").Out(DType::kFloat32).Ints({kNew}).Message(),
             Contains("'p'") && Contains("1.5") && Contains("element 1"));
  auto negative = Of<float>({2}, {0.5f, -1});
  CHECK_THAT(
      multinomial.In(negative, "p").Out(DType::kInt64).Ints({1}).Ints({1}).Ints({kNew}).Message(),
      Contains("'p'") && Contains("-1"));
  CHECK_THAT(few.In(bad, "p").Out(DType::kInt64).Ints({3}).Ints({0}).Ints({kNew}).Message(),
             Contains("'p'") && Contains("2 classes") && Contains("3 samples"));
  CHECK_THAT(Randint(3, 3, 0, kNew).Message(), Contains("from 3 to below 3"));
  CHECK_THAT(Randperm(-1, 0, kNew).Message(), Contains("-1"));
}

double AttentionError(int64_t heads, bool causal, bool masked, double dropout) {
  Bag bag;
  bag.PutNoise("q", {2, 3, 4, 2});
  bag.PutNoise("k", {2, 3, heads, 2});
  bag.PutNoise("v", {2, 3, heads, 3});
  bag.PutNoise("mask", {2, 1, 3, 3});
  bag.Put<int64_t>("seed", {2}, {17, 4});
  const char* mask = masked ? "mask" : "";
  return GradientError(
      bag, "out", {"q", "k", "v"},
      [&] {
        return bag.Run("dt_attention", {"q", "k", "v", "seed", mask},
                       {"out", "", "sums:float", "drawn:int64"},
                       Attributes().Real(dropout).Int(causal).Int(0).Int(kNew));
      },
      [&] {
        return bag.Run(
            "dt_attention_grad", {"q", "k", "v", "out", "sums", "drawn", mask, "out@GRAD"},
            {"q@GRAD", "k@GRAD", "v@GRAD"}, Attributes().Real(dropout).Int(causal).Int(0));
      });
}

TEST_CASE("attention has gradients, with heads that share keys, masks and dropout") {
  for (const int64_t heads : {4, 2})
    for (const bool causal : {false, true})
      for (const double dropout : {0.0, 0.4})
        CHECK(AttentionError(heads, causal, heads == 2, dropout) < 1e-8);
}

TEST_CASE("attention is a mean of values; what is dropped is scaled up") {
  Bag bag;
  bag.Put<double>("q", {1, 2, 1, 1}, {0, 0});
  bag.Put<double>("k", {1, 2, 1, 1}, {1, 2});
  bag.Put<double>("v", {1, 2, 1, 1}, {4, 8});
  const auto run = [&](bool causal) {
    REQUIRE(bag.Run("dt_attention", {"q", "k", "v", "", ""},
                    {"out", "", "sums:float", "drawn:int64"},
                    Attributes().Real(0).Int(causal).Int(0).Int(kNew))
                .ok());
    return bag.Data("out");
  };
  CHECK(run(false) == std::vector<double>{6, 6});
  CHECK(run(true) == std::vector<double>{4, 6});
}

TEST_CASE("numbers drawn for the elements of a tensor have the means that they should have") {
  random::Generator::Process().SetSeed(5);
  Bag bag;
  const int64_t n = 20000;
  bag.Put<double>("X", {n / 4, 4}, std::vector<double>(static_cast<size_t>(n), 3));
  const auto mean = [&](const char* call, const Attributes& attributes) {
    REQUIRE(bag.Run(call, {"X"}, {"Out"}, attributes).ok());
    double sum = 0;
    for (double one : bag.Data("Out")) sum += one;
    return sum / static_cast<double>(n);
  };
  CHECK(mean("dt_exponential", Attributes().Real(0.5).Int(kNew)) == Approx(2).epsilon(0.05));
  CHECK(mean("dt_poisson", Attributes().Int(kNew)) == Approx(3).epsilon(0.05));
  CHECK(mean("dt_dirichlet", Attributes().Int(kNew)) == Approx(0.25));
  const Attributes soft = Attributes().Real(0.7).Int(0).Int(-1).Int(kNew),
                   hard = Attributes().Real(0.7).Int(1).Int(0).Int(kNew);
  CHECK(mean("dt_gumbel_softmax", soft) == Approx(0.25));
  CHECK(mean("dt_gumbel_softmax", hard) == Approx(4.0 / static_cast<double>(n)));
  for (double one : bag.Data("Out")) CHECK((one == 0 || one == 1));
  bag.Put<double>("X", {n / 4, 4}, std::vector<double>(static_cast<size_t>(n), -2));
  REQUIRE(bag.Run("dt_rrelu", {"X"}, {"Out", "Noise"}, Attributes().Real(0.1).Real(0.3).Int(kNew))
              .ok());
  double sum = 0;
  for (double one : bag.Data("Noise")) sum += one;
  CHECK(sum / static_cast<double>(n) == Approx(0.2).epsilon(0.02));
}

TEST_CASE("a batch is shuffled so that no row stays, and back") {
  Bag bag;
  bag.PutNoise("X", {5, 2});
  bag.Put<int64_t>("seed", {1}, {1});
  REQUIRE(bag.Run("dt_shuffle_batch", {"X", "seed"}, {"Out", "order:int64", "next:int64"},
                  Attributes().Int(0))
              .ok());
  REQUIRE(bag.Run("dt_shuffle_batch_grad", {"order", "Out"}, {"Back"}, {}).ok());
  CHECK(bag.Data("Back") == bag.Data("X"));
  CHECK(bag.Data<int64_t>("next") == std::vector<int64_t>{16807});  // as in the framework
  for (size_t i = 0; i < 5; ++i) {
    const auto to = static_cast<size_t>(bag.Data<int64_t>("order")[i]);
    CHECK(to != i);
    // Row i goes to row order[i], as in the framework.
    for (size_t j = 0; j < 2; ++j) CHECK(bag.Data("Out")[2 * to + j] == bag.Data("X")[2 * i + j]);
  }
}

}  // namespace
}  // namespace dtranspile::kernels
