// The random numbers of the framework's CPU kernels, per release, so that a start-up program gives the values that the framework
// itself would give. Used by the fills of distributions.h; the worker seeds Generator::Process().
//
// Engines: 1.x std::minstd_rand, 2.x and later std::mt19937_64 (paddle/fluid/operators/uniform_random_op.cc of 1.8,
// paddle/phi/core/generator.cc of 2.6; both engines are fixed by the C++ standard). An op whose `seed` attribute is not 0
// gets a fresh engine with that seed at every execution. With seed 0, 1.x takes entropy from the hardware, and 2.x goes on
// with the engine of the process, which paddle.seed sets.
#pragma once

#include <cstdint>
#include <random>

#include "absl/status/statusor.h"

namespace dtranspile::random {

enum class Release : int64_t { kFluid1 = 0, kPaddle2 = 1 };

// The release with that number; kInvalidArgument for others.
absl::StatusOr<Release> ReleaseFromCode(int64_t code);

// Uniform numbers of one engine.
class Engine {
 public:
  // The engine of an op with an explicit seed. 1.x keeps the low 32 bits of it.
  Engine(Release release, uint64_t seed);

  // The engine that paddle.seed(seed) leaves behind: 2.x seeds through std::seed_seq, of which only 32 bits of the seed matter.
  static Engine OfProcess(uint64_t seed);

  Release release() const { return release_; }

  // A number in [0, 1) of as many random bits as T has digits, made as libstdc++'s std::generate_canonical does (C++ standard,
  // [rand.util.canonical], rounded in T; the result 1 that rounding can give becomes the largest number below 1).
  template <typename T>
  T Canonical();

  // A whole number from low to high, both included, as libstdc++'s std::uniform_int_distribution makes it.
  int64_t Integer(int64_t low, int64_t high);

  // What the engine gives next, and what it gives after `count` numbers more.
  uint64_t Next();
  void Skip(uint64_t count);

  // Puts the numbers into another order, as libstdc++'s std::shuffle does.
  void Shuffle(int64_t* values, int64_t count);

 private:
  Release release_;
  std::minstd_rand minstd_;
  std::mt19937_64 mersenne_;
};

// The numbers 0, 1, … in the order of std::random_shuffle over the C library's rand() after srand(seed): randperm of 1.x.
void ShuffleByRand(uint32_t seed, int64_t* values, int64_t count);

// Where the ops of a process find their engine. Not for concurrent use: random ops keep the order of the program.
class Generator {
 public:
  explicit Generator(uint64_t seed);

  // The one of this process. Seeded with 0 until SetSeed.
  static Generator& Process();

  // What paddle.seed(seed) does. Also begins the sequence of seeds that take the place of 1.x's entropy, so that our runs are
  // reproducible where the framework's are not.
  void SetSeed(uint64_t seed);

  // The engine of the next op with this `seed` attribute; valid until the next call.
  Engine& ForOp(Release release, int64_t seed);

 private:
  Engine shared_;   // seed 0, 2.x: goes on from op to op
  Engine current_;  // one op's own
  uint64_t entropy_ = 0;
};

}  // namespace dtranspile::random
