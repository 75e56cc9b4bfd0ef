#include "runtime/kernels/cpu/random/generator.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dtranspile::random {
namespace {

std::mt19937_64 SequenceSeeded(uint64_t seed) {
  std::seed_seq sequence({seed});
  return std::mt19937_64(sequence);
}

// Draws until the bits suffice; sum and scale are rounded to T after every step.
template <typename T, typename Bits>
T CanonicalOf(Bits& bits) {
  constexpr long double kRange = static_cast<long double>(Bits::max()) - static_cast<long double>(Bits::min()) + 1.0L;
  constexpr int kBitsPerDraw = sizeof(typename Bits::result_type) == 8 && Bits::max() == UINT64_MAX ? 64 : 30;
  constexpr int kDraws = (std::numeric_limits<T>::digits + kBitsPerDraw - 1) / kBitsPerDraw;
  T sum = 0;
  T scale = 1;
  for (int i = 0; i < kDraws; ++i) {
    sum += static_cast<T>(bits() - Bits::min()) * scale;
    scale = static_cast<T>(static_cast<long double>(scale) * kRange);
  }
  const T value = sum / scale;
  return value >= T(1) ? std::nextafter(T(1), T(0)) : value;
}

}  // namespace

absl::StatusOr<Release> ReleaseFromCode(int64_t code) {
  if (code == static_cast<int64_t>(Release::kFluid1)) return Release::kFluid1;
  if (code == static_cast<int64_t>(Release::kPaddle2)) return Release::kPaddle2;
  return absl::InvalidArgumentError(absl::StrCat("no random numbers of release ", code));
}

Engine::Engine(Release release, uint64_t seed) : release_(release), minstd_(static_cast<uint32_t>(seed)), mersenne_(seed) {}

Engine Engine::OfProcess(uint64_t seed) {
  Engine engine(Release::kPaddle2, 0);
  engine.mersenne_ = SequenceSeeded(seed);
  return engine;
}

template <typename T>
T Engine::Canonical() {
  return release_ == Release::kFluid1 ? CanonicalOf<T>(minstd_) : CanonicalOf<T>(mersenne_);
}

template float Engine::Canonical<float>();
template double Engine::Canonical<double>();

int64_t Engine::Integer(int64_t low, int64_t high) {
  std::uniform_int_distribution<int64_t> distribution(low, high);
  return release_ == Release::kFluid1 ? distribution(minstd_) : distribution(mersenne_);
}

uint64_t Engine::Next() { return release_ == Release::kFluid1 ? minstd_() : mersenne_(); }

void Engine::Skip(uint64_t count) {
  if (release_ == Release::kFluid1) minstd_.discard(count);
  else mersenne_.discard(count);
}

void Engine::Shuffle(int64_t* values, int64_t count) {
  if (release_ == Release::kFluid1) std::shuffle(values, values + count, minstd_);
  else std::shuffle(values, values + count, mersenne_);
}

void ShuffleByRand(uint32_t seed, int64_t* values, int64_t count) {
  // rand() is random() on a state of 128 bytes.
  random_data state = {};
  char memory[128];
  initstate_r(seed, memory, sizeof memory, &state);
  for (int64_t i = 1; i < count; ++i) {
    int32_t drawn = 0;
    random_r(&state, &drawn);
    std::swap(values[i], values[drawn % (i + 1)]);
  }
}

Generator::Generator(uint64_t seed) : shared_(Engine::OfProcess(seed)), current_(shared_), entropy_(seed) {}

Generator& Generator::Process() {
  static Generator generator(0);
  return generator;
}

void Generator::SetSeed(uint64_t seed) { *this = Generator(seed); }

Engine& Generator::ForOp(Release release, int64_t seed) {
  if (seed == 0 && release == Release::kPaddle2) return shared_;
  if (seed == 0) {
    // The finaliser of MurmurHash3 over a counter: neighbouring run seeds and ops get unrelated engines.
    uint64_t mixed = entropy_ += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdu;
    mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53u;
    current_ = Engine(release, mixed >> 33);
  } else {
    current_ = Engine(release, static_cast<uint64_t>(seed));
  }
  return current_;
}

}  // namespace dtranspile::random
