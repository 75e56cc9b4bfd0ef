#include "runtime/kernels/cpu/random/generator.h"

#include <xxhash.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <sstream>
#include <utility>

#include "absl/strings/str_cat.h"

namespace dtranspile::random {
namespace {

// The framework seeds the generator of a process through std::seed_seq, unlike the engines of
// single ops, which take the number itself: the same seed gives other bits there.
std::mt19937_64 SequenceSeeded(uint64_t seed) {
  std::seed_seq sequence({seed});
  return std::mt19937_64(sequence);
}

// Draws until the bits suffice; sum and scale are rounded to T after every step.
// std::generate_canonical of libstdc++ 12 step by step, of which the framework's uniform numbers
// are made: written out, so that the bits stay these with another standard library. 1 is never
// returned.
template <typename T, typename Bits>
T CanonicalOf(Bits& bits) {
  constexpr long double kRange =
      static_cast<long double>(Bits::max()) - static_cast<long double>(Bits::min()) + 1.0L;
  constexpr int kBitsPerDraw =
      sizeof(typename Bits::result_type) == 8 && Bits::max() == UINT64_MAX ? 64 : 30;
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

Engine::Engine(Release release, uint64_t seed) : release_(release) {
  if (release == Release::kFluid1) bits_ = std::minstd_rand(static_cast<uint32_t>(seed));
  else bits_ = std::mt19937_64(seed);
}

Engine Engine::OfProcess(uint64_t seed) {
  Engine engine(Release::kPaddle2, 0);
  engine.bits_ = SequenceSeeded(seed);
  return engine;
}

template <typename T>
T Engine::Canonical() {
  return std::visit([](auto& bits) { return CanonicalOf<T>(bits); }, bits_);
}

template float Engine::Canonical<float>();
template double Engine::Canonical<double>();

// Both ends are included. Rejection in the distribution makes the count of draws depend on the
// bits.
int64_t Engine::Integer(int64_t low, int64_t high) {
  std::uniform_int_distribution<int64_t> distribution(low, high);
  return std::visit([&](auto& bits) { return distribution(bits); }, bits_);
}

uint64_t Engine::Next() {
  return std::visit([](auto& bits) -> uint64_t { return bits(); }, bits_);
}

void Engine::Skip(uint64_t count) {
  std::visit([&](auto& bits) { bits.discard(count); }, bits_);
}

// The standard has an engine written as its state: of a linear congruential one the number that
// was given last, which is also the seed of one that stands there.
std::optional<uint64_t> Engine::State() const {
  const auto* bits = std::get_if<std::minstd_rand>(&bits_);
  if (bits == nullptr) return std::nullopt;
  std::ostringstream text;
  text << *bits;
  return std::stoull(text.str());
}

void Engine::Shuffle(int64_t* values, int64_t count) {
  std::visit([&](auto& bits) { std::shuffle(values, values + count, bits); }, bits_);
}

// std::random_shuffle of libstdc++, which draws rand() % (i + 1) for element i. The state of rand()
// is one of our own, seeded here: the process's is not touched.
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

namespace {

// The finaliser of MurmurHash3: neighbouring numbers become unrelated ones.
uint64_t Mix(uint64_t mixed) {
  mixed = (mixed ^ (mixed >> 33)) * 0xff51afd7ed558ccdu;
  mixed = (mixed ^ (mixed >> 33)) * 0xc4ceb9fe1a85ec53u;
  return mixed ^ (mixed >> 33);
}

}  // namespace

Generator::Generator(uint64_t seed) : seed_(seed), own_(Engine::OfProcess(seed)) {}

namespace {

thread_local Generator* of_thread = nullptr;

}  // namespace

// The generator of the thread where one was set (ranks that are simulated as threads of one process
// each have theirs), else that of the process.
Generator& Generator::Process() {
  static Generator generator(0);
  return of_thread == nullptr ? generator : *of_thread;
}

Generator::OfThread::OfThread(Generator& generator) { of_thread = &generator; }

Generator::OfThread::~OfThread() { of_thread = nullptr; }

// A new run: all streams begin anew, and the turns of all ops are counted from 0.
void Generator::SetSeed(uint64_t seed) {
  seed_ = seed;
  streams_.clear();
  turns_.clear();
}

// Numbers of a step depend on the step, not on what was drawn before it: turns count within a step.
void Generator::SetStep(int64_t step) {
  step_ = step;
  turns_.clear();
}

// Coordinates along the axes of the mesh; an axis that `coordinates` lacks counts as coordinate 0.
void Generator::SetRank(const std::map<std::string, int64_t>& coordinates,
                        const std::map<std::string, int64_t>& mesh) {
  rank_.clear();
  for (const auto& [axis, size] : mesh) {
    const auto at = coordinates.find(axis);
    rank_[axis] = {at == coordinates.end() ? 0 : at->second, size};
  }
}

// Names the stream of the op that runs next: the coordinates along the axes on which it differs
// (dist.streams), in the order of the axes' names, axes of extent 1 left out, so that a job for one
// rank draws what the single-device program draws. With `op` the numbers are a function of (seed,
// step, lineage number, turn, stream) and do not depend on the order in which ops run.
absl::Status Generator::SetOp(const std::vector<std::string>& axes, std::optional<Op> op) {
  std::map<std::string, int64_t> sorted;
  for (const std::string& axis : axes) {
    const auto at = rank_.find(axis);
    if (at == rank_.end())
      return absl::InvalidArgumentError("draws along axis '" + axis +
                                        "', which the mesh of this job lacks");
    if (at->second.size > 1) sorted[axis] = at->second.coordinate;
  }
  stream_.clear();
  first_ = true;
  for (const auto& [axis, coordinate] : sorted) {
    stream_ += axis + "=" + std::to_string(coordinate) + " ";
    first_ &= coordinate == 0;
  }
  op_ = op;
  turn_ = op ? turns_[op->site]++ : 0;
  drawn_ = 0;
  return absl::OkStatus();
}

// The stream's own seed is the seed of the run where the stream has no name, else a hash of both:
// ranks that draw differently get unrelated sequences, those that must draw alike the same one.
// `salt` also changes the seeds that ops bring along, except on the first rank, which keeps the
// framework's bits.
Generator::Stream& Generator::Current() {
  const auto found = streams_.find(stream_);
  if (found != streams_.end()) return found->second;
  const uint64_t salt = stream_.empty() ? 0 : Mix(XXH3_64bits(stream_.data(), stream_.size()));
  const uint64_t seed = stream_.empty() ? seed_ : Mix(seed_ + salt);
  return streams_.emplace(stream_, Stream{Engine::OfProcess(seed), seed, first_ ? 0 : salt})
      .first->second;
}

// All that the numbers are a function of, as one text of bytes.
Engine& Generator::OfCounter(Release release) {
  const int64_t place[] = {static_cast<int64_t>(seed_), step_, op_->lineage, turn_, drawn_++};
  std::string text(reinterpret_cast<const char*>(place), sizeof place);
  text += stream_;
  const XXH128_hash_t hash = XXH3_128bits(text.data(), text.size());
  own_ = Engine(release, Philox(hash.low64, hash.high64));
  return own_;
}

// Four cases. An op without a seed of its own that has a lineage number draws by counter. Without
// one it shares the process's sequence (2.x) or gets an engine of fresh entropy (1.x, where 0 means
// a random device). A seed of its own starts the engine anew in every step, as the framework does,
// which is why its masks repeat.
Engine& Generator::ForOp(Release release, int64_t seed) {
  if (seed == 0 && op_) return OfCounter(release);
  Stream& stream = Current();
  if (seed == 0 && release == Release::kPaddle2) return stream.shared;
  if (seed == 0) {
    // A counter: neighbouring run seeds and ops get unrelated engines.
    stream.entropy += 0x9e3779b97f4a7c15u;
    own_ = Engine(release, Mix(stream.entropy) >> 33);
  } else {
    const auto given = static_cast<uint64_t>(seed);
    own_ = Engine(release, stream.salt == 0 ? given : Mix(given + stream.salt) >> 33);
  }
  return own_;
}

// What goes on from op to op does so anyway; every other engine is the one that was made last.
Engine& Generator::Continued(Release release, int64_t seed) {
  const bool shared = seed == 0 && !op_ && release == Release::kPaddle2;
  return shared ? Current().shared : own_;
}

}  // namespace dtranspile::random
