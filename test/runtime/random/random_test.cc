// Arrays that the framework's wheels gave on a CPU (paddlepaddle 2.6.2 and 3.3.1 from PyPI,
// x86-64), as the FNV-1a digests of their bytes; 1.8.5's are in the corpora (startup_test.cc). Made
// with one op per program, attributes as in each row.
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <set>
#include <vector>

#include "runtime/base/dtype.h"
#include "runtime/kernels/cpu/random/distributions.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::random {
namespace {

template <typename T>
uint64_t Digest(const std::vector<T>& values) {
  uint64_t digest = 0xcbf29ce484222325u;
  const auto* bytes = reinterpret_cast<const uint8_t*>(values.data());
  for (size_t i = 0; i < values.size() * sizeof(T); ++i)
    digest = (digest ^ bytes[i]) * 0x100000001b3u;
  return digest;
}

Engine Seeded(uint64_t seed) { return Engine(Release::kPaddle2, seed); }

template <typename T, typename Fill>
uint64_t Filled(size_t count, Fill&& fill) {
  std::vector<T> values(count);
  fill(values.data(), static_cast<int64_t>(count));
  return Digest(values);
}

TEST_CASE("2.6.2: uniform_random and gaussian_random") {
  CHECK(Filled<double>(4096, [](double* out, int64_t n) {
          Engine engine = Seeded(5);
          FillUniform(engine, out, n, -1, 3);
        }) == 0xa0db25819e8effa4u);
  CHECK(Filled<float>(64, [](float* out, int64_t n) {
          Engine engine = Seeded(5);
          FillUniform(engine, out, n, -1, 3, Diagonal{4, 8, 7.0f});
        }) == 0xe6bbc100c9f3d797u);
  CHECK(Filled<double>(4097, [](double* out, int64_t n) {
          Engine engine = Seeded(5);
          FillGaussian(engine, out, n, 0.5, 3.0);
        }) == 0xbe78cfb02b29bffcu);
}

TEST_CASE("2.6.2: truncated_gaussian_random") {
  struct Row {
    uint64_t seed;
    float mean, std;
    uint64_t digest;
  };
  for (const Row& row :
       {Row{20, 0.0f, 0.02f, 0xf187ca3a2ef5f267u}, Row{5, 1.0f, 0.5f, 0xf32eb92d20a2d507u}}) {
    CHECK(Filled<float>(4096, [&](float* out, int64_t n) {
            Engine engine = Seeded(row.seed);
            FillTruncatedGaussian(engine, out, n, row.mean, row.std);
          }) == row.digest);
  }
  CHECK(Filled<double>(4096, [](double* out, int64_t n) {
          Engine engine = Seeded(5);
          FillTruncatedGaussian(engine, out, n, 0, 1);
        }) == 0x4614920f2c16d660u);
}

TEST_CASE("3.3.1: truncated_gaussian_random with bounds, far tails too") {
  CHECK(Filled<float>(4096, [](float* out, int64_t n) {
          Engine engine = Seeded(5);
          FillTruncatedGaussian(engine, out, n, 0, 1, Bounds{-1, 3});
        }) == 0xb249053fe0b91237u);
  CHECK(Filled<float>(65536, [](float* out, int64_t n) {
          Engine engine = Seeded(5);
          FillTruncatedGaussian(engine, out, n, 0, 1, Bounds{-8, 8});
        }) == 0xc3a3dccc17d4d729u);
  CHECK(Filled<double>(4096, [](double* out, int64_t n) {
          Engine engine = Seeded(5);
          FillTruncatedGaussian(engine, out, n, 1, 0.5, Bounds{0, 2});
        }) == 0x9a279218bcf7ae9fu);
}

TEST_CASE("2.6.2: seed 0 goes on with the generator that paddle.seed sets") {
  Generator generator(123);
  CHECK(Filled<float>(100, [&](float* out, int64_t n) {
          FillUniform(generator.ForOp(Release::kPaddle2, 0), out, n, -1, 3);
        }) == 0x9e3321f3c3795f33u);
  // An op with a seed of its own does not disturb it.
  generator.ForOp(Release::kPaddle2, 7).Canonical<float>();
  CHECK(Filled<float>(101, [&](float* out, int64_t n) {
          FillGaussian(generator.ForOp(Release::kPaddle2, 0), out, n, 0, 1);
        }) == 0xa568dd039709fcacu);
  generator.SetSeed((uint64_t{1} << 33) + 5);
  CHECK(Filled<float>(100, [&](float* out, int64_t n) {
          FillUniform(generator.ForOp(Release::kPaddle2, 0), out, n, -1, 3);
        }) == 0x7f896674359640fbu);
}

TEST_CASE("1.x with seed 0: another engine per op, the same ones per run") {
  const auto first = [](Generator& generator) {
    return generator.ForOp(Release::kFluid1, 0).Canonical<double>();
  };
  Generator a(1);
  Generator b(1);
  Generator c(2);
  const double a0 = first(a);
  const double a1 = first(a);
  CHECK(a0 != a1);
  CHECK(first(b) == a0);
  CHECK(first(b) == a1);
  CHECK(first(c) != a0);
}

TEST_CASE("numbers stay below 1") {
  // minstd_rand's largest output rounds to its range in float.
  Engine engine(Release::kFluid1, 20);
  for (int i = 0; i < 1000000; ++i) {
    const float value = engine.Canonical<float>();
    if (!(value >= 0.0f && value < 1.0f)) FAIL("number " << i << " is " << value);
  }
}

TEST_CASE("moments") {
  for (Release release : {Release::kFluid1, Release::kPaddle2}) {
    std::vector<double> values(200000);
    Engine engine(release, 3);
    FillGaussian(engine, values.data(), 200000, 2.0, 0.5);
    double sum = 0, squares = 0;
    for (double value : values) {
      sum += value;
      squares += (value - 2.0) * (value - 2.0);
    }
    CHECK(sum / 200000 == Approx(2.0).margin(0.006));
    CHECK(std::sqrt(squares / 200000) == Approx(0.5).margin(0.005));
    FillTruncatedGaussian(engine, values.data(), 200000, 2.0, 0.5);
    squares = 0;
    for (double value : values) {
      squares += (value - 2.0) * (value - 2.0);
      if (std::abs(value - 2.0) > 1.0) FAIL("outside: " << value);
    }
    // Standard deviation of a normal distribution cut at two of them: 0.87963.
    CHECK(std::sqrt(squares / 200000) == Approx(0.5 * 0.87963).margin(0.005));
  }
}

constexpr int64_t kOld = 1008005, kNew = 2006002, kNewest = 3000000;

using kernels::SlotCall;

SlotCall Uniform(int64_t seed, std::vector<int64_t> diagonal, double value) {
  SlotCall call("dt_uniform_random");
  call.Slot().Slot().Out(DType::kFloat32).Ints({2, 3}).Reals({-1}).Reals({1}).Ints({seed});
  for (int64_t number : diagonal) call.Ints({number});
  call.Reals({value}).Ints({kNew});
  return call;
}

SlotCall Gaussian(int64_t seed, DType dtype = DType::kFloat32) {
  SlotCall call("dt_gaussian_random");
  call.Slot().Slot().Out(dtype).Ints({2, 3}).Reals({1}).Reals({2}).Ints({seed}).Ints({kNew});
  return call;
}

SlotCall Truncated(int64_t version, double low, double high) {
  SlotCall call("dt_truncated_gaussian_random");
  call.Out(DType::kFloat32).Ints({2, 3}).Reals({1}).Reals({2}).Ints({9});
  call.Reals({low}).Reals({high}).Ints({version});
  return call;
}

std::vector<float> ValuesOf(SlotCall call) {
  const absl::Status status = call.Run();
  INFO(status.ToString());
  REQUIRE(status.ok());
  return call.Data<float>();
}

TEST_CASE("library calls") {
  std::vector<float> expected(6);
  Engine engine = Seeded(9);
  FillUniform(engine, expected.data(), 6, -1, 1);
  expected[4] = 5;
  expected[0] = 5;
  CHECK(ValuesOf(Uniform(9, {7, 3}, 5)) == expected);
  Generator::Process().SetSeed(4);
  Generator other(4);
  FillGaussian(other.ForOp(Release::kPaddle2, 0), expected.data(), 6, 1, 2);
  CHECK(ValuesOf(Gaussian(0)) == expected);
  Engine old(Release::kFluid1, 9);
  FillTruncatedGaussian(old, expected.data(), 6, 1, 2);
  CHECK(ValuesOf(Truncated(kOld, 0, 1)) == expected);
  engine = Seeded(9);
  FillTruncatedGaussian(engine, expected.data(), 6, 1, 2);
  CHECK(ValuesOf(Truncated(kNew, 0, 1)) == expected);
  engine = Seeded(9);
  FillTruncatedGaussian(engine, expected.data(), 6, 1, 2, Bounds{0, 1});
  CHECK(ValuesOf(Truncated(kNewest, 0, 1)) == expected);
}

TEST_CASE("library calls refuse what they do not know") {
  CHECK_THAT(Uniform(9, {1, -1}, 1).Message(),
             Catch::Contains("diag_num 1 and diag_step -1 must be from 0"));
  CHECK_THAT(Uniform(9, {-1, 0}, 1).Message(), Catch::Contains("diag_num -1"));
  CHECK_THAT(Uniform(9, {1}, 1).Message(), Catch::Contains("not those that this call takes"));
  CHECK_THAT(Gaussian(9, DType::kInt32).Message(), Catch::Contains("float32 or float64"));
  CHECK_THAT(Truncated(kNewest, 2, 1).Message(), Catch::Contains("bounds 2 to 1"));
}

// The first numbers that a rank's ops get with this seed.
std::vector<uint64_t> DrawnBy(int64_t dp, int64_t mp, Release release, int64_t seed,
                              const std::vector<std::vector<std::string>>& streams) {
  Generator generator(3);
  generator.SetRank({{"dp", dp}, {"mp", mp}}, {{"dp", 2}, {"mp", 2}, {"pp", 1}});
  std::vector<uint64_t> numbers;
  for (const auto& axes : streams) {
    REQUIRE(generator.SetOp(axes, std::nullopt).ok());
    numbers.push_back(generator.ForOp(release, seed).Next());
  }
  return numbers;
}

TEST_CASE("streams differ along their axes and nowhere else") {
  for (const Release release : {Release::kFluid1, Release::kPaddle2}) {
    for (const int64_t seed : {0, 9}) {
      auto drawn = [&](int64_t dp, int64_t mp,
                       const std::vector<std::vector<std::string>>& streams) {
        return DrawnBy(dp, mp, release, seed, streams);
      };
      CHECK(drawn(0, 0, {{"dp"}}) != drawn(1, 0, {{"dp"}}));
      CHECK(drawn(1, 0, {{"dp"}}) == drawn(1, 1, {{"dp"}}));
      CHECK(drawn(1, 0, {{"dp", "mp"}}) != drawn(0, 1, {{"dp", "mp"}}));
      CHECK(drawn(1, 0, {{"dp", "mp"}}) == drawn(1, 0, {{"mp", "dp"}}));
      CHECK(drawn(1, 1, {{}}) == drawn(0, 0, {{}}));
      // What ranks draw on their own does not bring the common sequence out of step.
      CHECK(drawn(1, 0, {{}, {"dp"}, {}})[2] == drawn(0, 0, {{}, {"dp"}, {}})[2]);
      // An axis of one rank: what one process draws.
      Generator alone(3);
      CHECK(drawn(1, 1, {{"pp"}}) == std::vector<uint64_t>{alone.ForOp(release, seed).Next()});
      // Coordinate 0 has the op's own seed.
      if (seed != 0)
        CHECK(drawn(0, 0, {{"dp"}}) == std::vector<uint64_t>{alone.ForOp(release, seed).Next()});
    }
  }
  Generator generator(0);
  CHECK(generator.SetOp({"sp"}, std::nullopt).code() == absl::StatusCode::kInvalidArgument);
}

TEST_CASE("Philox: the known answers of Random123") {
  using Words = std::array<uint32_t, 4>;
  CHECK(Philox::Block({0, 0, 0, 0}, {0, 0}) ==
        Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8});
  CHECK(Philox::Block({0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}, {0xffffffff, 0xffffffff}) ==
        Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
  CHECK(Philox::Block({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
        Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1});
  Philox walked(7, 9), jumped(7, 9);
  for (int i = 0; i < 5; ++i) walked();
  jumped.discard(5);
  CHECK(walked() == jumped());
  CHECK(walked() == jumped());
}

// What an op of a main program draws: of one generator in the order that `Drawn` is called.
struct Draws {
  explicit Draws(uint64_t seed, int64_t dp = 0, int64_t mp = 0) : generator(seed) {
    generator.SetRank({{"dp", dp}, {"mp", mp}}, {{"dp", 2}, {"mp", 2}});
  }
  uint64_t Drawn(int64_t lineage, int64_t site, const std::vector<std::string>& axes = {},
                 int64_t seed = 0) {
    REQUIRE(generator.SetOp(axes, Generator::Op{lineage, site}).ok());
    const uint64_t drawn = generator.ForOp(Release::kPaddle2, seed).Next();
    REQUIRE(generator.SetOp({}, std::nullopt).ok());
    return drawn;
  }
  Generator generator;
};

TEST_CASE("an op of a main program draws what belongs to it, whatever else is drawn") {
  Draws a(1), b(1);
  const uint64_t first = a.Drawn(3, 3), second = a.Drawn(8, 8);
  CHECK(first != second);
  CHECK(b.Drawn(8, 8) == second);  // in another order
  CHECK(b.Drawn(3, 3) == first);
  CHECK(Draws(1).Drawn(8, 2) == second);  // without the other, and with another number of its own
  CHECK(b.Drawn(3, 40) == first);         // recomputed: another op of the same number
  CHECK(Draws(2).Drawn(3, 3) != first);   // another run
  // The sequence of start-up programs is left where it is.
  Generator alone(1);
  CHECK(a.generator.ForOp(Release::kPaddle2, 0).Next() == alone.ForOp(Release::kPaddle2, 0).Next());
}

TEST_CASE("steps and turns differ; a step that is run again does not") {
  Draws a(1);
  std::set<uint64_t> numbers;
  for (int64_t step = 0; step < 3; ++step) {
    a.generator.SetStep(step);
    for (int turn = 0; turn < 3; ++turn) numbers.insert(a.Drawn(3, 3));
  }
  CHECK(numbers.size() == 9);
  a.generator.SetStep(1);  // what a run does that goes on from a checkpoint
  CHECK(numbers.count(a.Drawn(3, 3)) == 1);
  // Two engines of one execution.
  REQUIRE(a.generator.SetOp({}, Generator::Op{3, 3}).ok());
  const uint64_t one = a.generator.ForOp(Release::kPaddle2, 0).Next();
  CHECK(a.generator.ForOp(Release::kPaddle2, 0).Next() != one);
}

TEST_CASE("ranks draw alike but along the axes of the op") {
  auto drawn = [](int64_t dp, int64_t mp, const std::vector<std::string>& axes, int64_t seed = 0) {
    return Draws(1, dp, mp).Drawn(3, 3, axes, seed);
  };
  for (int64_t seed : {0, 9}) {
    CHECK(drawn(0, 0, {"dp"}, seed) != drawn(1, 0, {"dp"}, seed));
    CHECK(drawn(1, 0, {"dp"}, seed) == drawn(1, 1, {"dp"}, seed));
    CHECK(drawn(1, 1, {"mp", "dp"}, seed) == drawn(1, 1, {"dp", "mp"}, seed));
    CHECK(drawn(0, 0, {}, seed) == drawn(1, 1, {}, seed));
  }
  // The framework's own numbers, at every step, where the op has a seed.
  CHECK(drawn(0, 0, {}, 9) == Engine(Release::kPaddle2, 9).Next());
}

TEST_CASE("numbers of counters are uniform") {
  // Bits of neighbouring ops, steps and turns: each is 1 half of the time, and none follows
  // another.
  constexpr int kDraws = 20000;
  int ones[64] = {}, equal[64] = {};
  uint64_t before = 0;
  Generator generator(0);
  for (int i = 0; i < kDraws; ++i) {
    generator.SetStep(i / 100);
    REQUIRE(generator.SetOp({}, Generator::Op{i % 100, i % 100}).ok());
    const uint64_t bits = generator.ForOp(Release::kPaddle2, 0).Next();
    for (int b = 0; b < 64; ++b) {
      ones[b] += static_cast<int>(bits >> b & 1);
      equal[b] += static_cast<int>(~(bits ^ before) >> b & 1);
    }
    before = bits;
  }
  // Five standard deviations of a binomial distribution.
  for (int b = 0; b < 64; ++b) {
    CHECK(std::abs(ones[b] - kDraws / 2) < 354);
    CHECK(std::abs(equal[b] - kDraws / 2) < 354);
  }
}

// Initial values that are made in pieces have the bits of the whole.
TEST_CASE("an engine that is continued draws what one op would have drawn") {
  constexpr int64_t kFirst = 128, kCount = 301;
  for (const Release release : {Release::kFluid1, Release::kPaddle2})
    for (const int64_t seed : {0, 7}) {
      const auto drawn = [&](auto fill, int64_t first) {
        Generator generator(11);
        std::vector<float> values(kCount);
        generator.ForOp(release, 0).Next();  // somebody else's
        fill(generator.ForOp(release, seed), values.data(), first);
        if (first < kCount)
          fill(generator.Continued(release, seed), values.data() + first, kCount - first);
        return Digest(values);
      };
      const auto same = [&](auto fill) {
        CHECK(drawn(fill, kFirst) == drawn(fill, kCount));
        CHECK(drawn(fill, 2) == drawn(fill, kCount));
      };
      same([](Engine& engine, float* out, int64_t n) { FillUniform(engine, out, n, -1, 3); });
      same([](Engine& engine, float* out, int64_t n) { FillGaussian(engine, out, n, 0.5, 3.0); });
      same([](Engine& engine, float* out, int64_t n) {
        FillTruncatedGaussian(engine, out, n, 0.5, 3.0);
      });
    }
}

// Rows that are made when they are first touched begin in the middle.
TEST_CASE("an engine of 1.x begins at any state") {
  for (const uint64_t seed : {uint64_t{0}, uint64_t{7}, uint64_t{4294967295u}}) {
    Engine engine(Release::kFluid1, seed);
    for (int skipped : {0, 1, 1000}) {
      engine.Skip(static_cast<uint64_t>(skipped));
      REQUIRE(engine.State().has_value());
      Engine other(Release::kFluid1, *engine.State());
      std::vector<float> here(100), there(100);
      FillGaussian(engine, here.data(), 100, 0, 1);
      FillGaussian(other, there.data(), 100, 0, 1);
      CHECK(here == there);
      CHECK(engine.State() == other.State());
    }
  }
  CHECK(!Engine(Release::kPaddle2, 7).State().has_value());
}

}  // namespace
}  // namespace dtranspile::random
