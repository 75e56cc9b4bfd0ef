// Kernels of the family `random`: the numbers that the framework's wheels gave on a CPU (1.8.5
// and 2.6.2, one op per program, attributes as below), and what is refused.
#include <catch2/catch.hpp>

#include "runtime/kernels/cpu/random/generator.h"
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

}  // namespace
}  // namespace dtranspile::kernels
