// What it costs to share a small loop out over the threads of a rank: loops over 4 thousand to 256
// thousand floats (some 0.5 to 50 us on one thread), cut in one piece per thread, in three pieces
// for two threads, and in as many as loops of steps have. Every loop follows at once on the one
// before, like the kernels of a step, and one thread and all of them take turns, so that a busy
// machine hits both; figures are medians over the turns, in us. The cost is the time of a loop less
// its fair share of one thread's time.
//
//     bazel run -c opt //bench/exec:pool_bench [THREADS [TURNS]]
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "runtime/exec/abi.h"
#include "runtime/exec/context.h"
#include "runtime/exec/thread_pool.h"

namespace dtranspile::exec {
namespace {

constexpr int kLoops = 200;  // in a row

double Now() {
  return std::chrono::duration<double, std::micro>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double Median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<int64_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

// Converges, so that no value becomes a denormal or infinite.
void Body(void* arg, int64_t lo, int64_t n) {
  float* values = static_cast<float*>(arg) + lo;
  for (int64_t i = 0; i < n; ++i) values[i] = values[i] * 0.5f + 1.0f;
}

// Of one loop.
double Turn(DtContext& context, std::vector<float>& values, int64_t pieces) {
  const auto count = static_cast<int64_t>(values.size());
  const double begin = Now();
  for (int i = 0; i < kLoops; ++i)
    dt_parallel(&context, count, count / pieces, Body, values.data());
  return (Now() - begin) / kLoops;
}

void Run(int threads, int turns) {
  ThreadPool one({1, true}), all({threads, true});
  DtContext alone(&one), together(&all);
  printf("%8s %8s %12s %12s %12s\n", "floats", "pieces", "1 thread us", "threads us", "cost us");
  for (const int64_t count : {4 << 10, 16 << 10, 64 << 10, 256 << 10})
    for (const int64_t pieces :
         {int64_t{threads}, int64_t{threads} + 1, threads * ThreadPool::kPiecesPerThread}) {
      std::vector<float> values(static_cast<size_t>(count), 1.0f);
      std::vector<double> single, shared;
      for (int turn = 0; turn < turns; ++turn) {
        single.push_back(Turn(alone, values, pieces));
        Turn(together, values, pieces);  // threads awake, parts in their caches
        shared.push_back(Turn(together, values, pieces));
      }
      const double before = Median(single), after = Median(shared);
      printf("%8ld %8ld %12.2f %12.2f %12.2f\n", static_cast<long>(count),
             static_cast<long>(pieces), before, after, after - before / threads);
    }
}

}  // namespace
}  // namespace dtranspile::exec

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : 2, turns = argc > 2 ? std::atoi(argv[2]) : 25;
  if (threads < 1 || turns < 1) {
    fprintf(stderr, "usage: pool_bench [THREADS [TURNS]], both at least 1\n");
    return 2;
  }
  dtranspile::exec::NumericScope numerics;
  dtranspile::exec::Run(threads, turns);
}
