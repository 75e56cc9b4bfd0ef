// The random numbers of the framework's CPU kernels, per release, so that a start-up program gives
// the values that the framework itself would give. Used by the fills of distributions.h; the worker
// seeds Generator::Process().
//
// Engines: 1.x std::minstd_rand, 2.x and later std::mt19937_64
// (paddle/fluid/operators/uniform_random_op.cc of 1.8, paddle/phi/core/generator.cc of 2.6; both
// engines are fixed by the C++ standard). An op whose `seed` attribute is not 0 gets a fresh engine
// with that seed at every execution. With seed 0, 1.x takes entropy from the hardware, and 2.x goes
// on with the engine of the process, which paddle.seed sets: so start-up programs draw here too.
//
// Where a main program draws without a seed of its own, the numbers are a function of what is drawn
// and not of when: the seed of the run, the step, the op's number in the reference program, the
// turn of the loop around it, and the rank's coordinates along `dist.streams`
// (docs/tensor-files.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/kernels/cpu/random/philox.h"

namespace dtranspile::random {

enum class Release : uint8_t { kFluid1, kPaddle2 };  // 1.x; 2.x and later

// Uniform numbers of one engine.
class Engine {
 public:
  // The engine of an op with an explicit seed. 1.x keeps the low 32 bits of it.
  Engine(Release release, uint64_t seed);

  // The engine that paddle.seed(seed) leaves behind: 2.x seeds through std::seed_seq, of which only
  // 32 bits of the seed matter.
  static Engine OfProcess(uint64_t seed);

  // Numbers of a counter (philox.h). `release` still says how distributions are made of them.
  Engine(Release release, Philox bits) : release_(release), bits_(bits) {}

  Release release() const { return release_; }

  // A number in [0, 1) of as many random bits as T has digits, made as libstdc++'s
  // std::generate_canonical does (C++ standard, [rand.util.canonical], rounded in T; the result 1
  // that rounding can give becomes the largest number below 1).
  template <typename T>
  T Canonical();

  // A whole number from low to high, both included, as libstdc++'s std::uniform_int_distribution
  // makes it.
  int64_t Integer(int64_t low, int64_t high);

  // What the engine gives next, and what it gives after `count` numbers more.
  uint64_t Next();
  void Skip(uint64_t count);

  // Of std::minstd_rand: the seed with which an engine begins that gives the same numbers from here
  // on. Of the others nothing: their state is more than a number.
  std::optional<uint64_t> State() const;

  // Puts the numbers into another order, as libstdc++'s std::shuffle does.
  void Shuffle(int64_t* values, int64_t count);

 private:
  Release release_;
  std::variant<std::minstd_rand, std::mt19937_64, Philox> bits_;
};

// The numbers 0, 1, … in the order of std::random_shuffle over the C library's rand() after
// srand(seed): randperm of 1.x.
void ShuffleByRand(uint32_t seed, int64_t* values, int64_t count);

// Where the ops of a process find their engine. Not for concurrent use: random ops keep the order
// of the program.
class Generator {
 public:
  explicit Generator(uint64_t seed);

  // The one of this process, or where several ranks are threads of it the one that this thread
  // uses. Seeded with 0 until SetSeed.
  static Generator& Process();

  // While it lives, Process() of this thread is that generator, which outlives it.
  class OfThread {
   public:
    explicit OfThread(Generator& generator);
    ~OfThread();
    OfThread(const OfThread&) = delete;
    OfThread& operator=(const OfThread&) = delete;
  };

  // What paddle.seed(seed) does. Also begins the sequence of seeds that take the place of 1.x's
  // entropy, so that our runs are reproducible where the framework's are not.
  void SetSeed(uint64_t seed);

  // Where this process stands among those that run the program together, by axis of the mesh. Kept
  // by SetSeed.
  void SetRank(const std::map<std::string, int64_t>& coordinates,
               const std::map<std::string, int64_t>& mesh);

  // An op of a main program: its number in the reference, and which of the ops of this program with
  // that number it is (a recomputation has the number of what it repeats).
  struct Op {
    int64_t lineage = 0, site = 0;
  };

  // The next op draws numbers of this rank's own along `axes`, and the same numbers as the others
  // along all other axes (dist.streams of docs/dialects/dist.md). Axes of one rank count for
  // nothing. A seed that an op gives is its own at coordinate 0, and mixed with the coordinates
  // elsewhere. Without a seed an op of a main program draws what belongs to it in this step; others
  // (`op` not given) go on with an engine for these axes and coordinates: that of the process is
  // left as it is on every rank alike. kInvalidArgument: an axis that the mesh lacks.
  absl::Status SetOp(const std::vector<std::string>& axes, std::optional<Op> op);

  // A step begins: every op draws for the first time in it.
  void SetStep(int64_t step);

  // The engine of the next op with this `seed` attribute; valid until the next call.
  Engine& ForOp(Release release, int64_t seed);

  // The same where the op draws on from where the one before it has stopped, with the same `seed`:
  // the two together draw what one would have drawn.
  Engine& Continued(Release release, int64_t seed);

  // The engine that was made last, for one op.
  const Engine& Latest() const { return own_; }

 private:
  struct Stream {
    Engine shared;         // seed 0, 2.x: goes on from op to op
    uint64_t entropy = 0;  // seed 0, 1.x
    uint64_t salt = 0;     // of ops with a seed; 0 at coordinate 0
  };
  struct Place {
    int64_t coordinate = 0, size = 1;
  };

  Stream& Current();
  Engine& OfCounter(Release release);

  uint64_t seed_;
  int64_t step_ = 0;
  std::optional<Op> op_;
  int64_t turn_ = 0, drawn_ = 0;      // executions of the op in this step, its engines so far
  std::map<int64_t, int64_t> turns_;  // by site
  std::map<std::string, Place> rank_;
  std::string stream_;  // "dp=1": axes and coordinates; empty: that of the process
  bool first_ = true;   // whether these coordinates are all 0
  std::map<std::string, Stream> streams_;  // made when first drawn from
  Engine own_;                             // one op's own
};

}  // namespace dtranspile::random
