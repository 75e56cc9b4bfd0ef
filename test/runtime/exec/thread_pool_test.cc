#include "runtime/exec/thread_pool.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <chrono>
#include <numeric>
#include <string>
#include <vector>

#include "runtime/exec/context.h"

namespace dtranspile::exec {
namespace {

struct Record {
  std::vector<std::atomic<int>> runs;
  std::vector<std::atomic<int>> thread;
  explicit Record(int64_t pieces)
      : runs(static_cast<size_t>(pieces)), thread(static_cast<size_t>(pieces)) {}
  static void Task(void* arg, int64_t piece) {
    auto& record = *static_cast<Record*>(arg);
    record.runs[static_cast<size_t>(piece)]++;
    record.thread[static_cast<size_t>(piece)] = ThreadPool::CurrentThread();
  }
};

}  // namespace

TEST_CASE("every piece runs once, on one of the threads") {
  for (bool spin : {false, true})
    for (int threads : {1, 2, 5})
      for (int64_t pieces : {1, 2, 3, 5, 40}) {
        ThreadPool pool({threads, spin});
        REQUIRE(pool.status().ok());
        CHECK(pool.threads() == threads);
        for (int turn = 0; turn < 300; ++turn) {
          Record record(pieces);
          pool.Run(pieces, Record::Task, &record);
          for (size_t piece = 0; piece < record.runs.size(); ++piece) {
            REQUIRE(record.runs[piece] == 1);
            REQUIRE(record.thread[piece] < threads);
          }
        }
      }
}

TEST_CASE("jobs that follow at once do not mix, whatever thread is late") {
  // Pieces of some jobs are long, so that threads come to the next job late and in any order.
  ThreadPool pool({4, false});
  struct Sum {
    std::atomic<int64_t> total{0};
    int64_t job = 0;
  };
  for (int64_t job = 0; job < 2000; ++job) {
    Sum sum;
    sum.job = job;
    const int64_t pieces = 2 + job % 37;
    pool.Run(
        pieces,
        [](void* arg, int64_t piece) {
          auto& s = *static_cast<Sum*>(arg);
          if ((s.job + piece) % 11 == 0) usleep(50);
          s.total += s.job * 1000 + piece;
        },
        &sum);
    REQUIRE(sum.total == pieces * job * 1000 + pieces * (pieces - 1) / 2);
  }
}

TEST_CASE("a thread that has lost its core holds up its piece and no other") {
  // Piece 0 does not end before all others have: whoever is in it, the rest takes the others, those
  // of its share too.
  for (int threads : {2, 3}) {
    ThreadPool pool({threads, false});
    struct Job {
      std::atomic<int> others{0};
      int wanted = 0;
      std::atomic<bool> alone{false};
    } job;
    const int64_t pieces = threads * ThreadPool::kPiecesPerThread;
    job.wanted = static_cast<int>(pieces) - 1;
    pool.Run(
        pieces,
        [](void* arg, int64_t piece) {
          auto& j = *static_cast<Job*>(arg);
          if (piece != 0) {
            ++j.others;
            return;
          }
          const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(20);
          while (j.others < j.wanted && std::chrono::steady_clock::now() < end) usleep(100);
          j.alone = j.others == j.wanted;
        },
        &job);
    CHECK(job.alone);
  }
}

// Sanitizers need more memory for themselves than the limit of this test.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__) && \
    !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
TEST_CASE("threads that the system does not grant are a status, and the pool works without them") {
  // In a process of its own whose memory has no room for 1024 stacks.
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    const rlimit limit = {size_t{1} << 30, size_t{1} << 30};
    if (setrlimit(RLIMIT_AS, &limit) != 0) _exit(1);
    ThreadPool pool({1024, false});
    if (!absl::IsResourceExhausted(pool.status())) _exit(2);
    const std::string message(pool.status().message());
    if (message.find(" of the 1024 threads that are asked for") == std::string::npos) _exit(3);
    if (pool.threads() < 1 || pool.threads() >= 1024) _exit(4);
    Record record(100);
    pool.Run(100, Record::Task, &record);
    for (const auto& runs : record.runs)
      if (runs != 1) _exit(5);
    _exit(0);
  }
  int status = 0;
  REQUIRE(waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
}
#endif

TEST_CASE("a job started within a job runs on the thread that starts it") {
  ThreadPool pool({2, false});
  struct Outer {
    ThreadPool* pool;
    Record inner{2};
    std::atomic<int> thread{-1};
  } outer{&pool};
  pool.Run(
      2,
      [](void* arg, int64_t piece) {
        auto& o = *static_cast<Outer*>(arg);
        if (piece != 1) return;
        o.thread = ThreadPool::CurrentThread();
        o.pool->Run(2, Record::Task, &o.inner);
      },
      &outer);
  CHECK(outer.inner.runs[0] == 1);
  CHECK(outer.inner.thread[0] == outer.thread);
  CHECK(outer.inner.thread[1] == outer.thread);
}

TEST_CASE("denormals are zero on every thread while work runs") {
  // Each piece waits for the other one, so they run on two threads.
  struct Products {
    volatile float results[2] = {1, 1};
    std::atomic<int> begun{0};
  } products;
  {
    NumericScope numerics;
    ThreadPool pool({2, false});
    pool.Run(
        2,
        [](void* arg, int64_t part) {
          volatile float small = 1e-30f;
          auto& p = *static_cast<Products*>(arg);
          for (++p.begun; p.begun < 2;) usleep(10);
          p.results[part] = small * 1e-10f;
        },
        &products);
  }
  CHECK(products.results[0] == 0);
  CHECK(products.results[1] == 0);
  volatile float small = 1e-30f;
  CHECK(small * 1e-10f != 0);
}

TEST_CASE(
    "dt_parallel covers the extent in parts of at least the grain, as many for every thread") {
  ThreadPool pool({3, false});
  DtContext context(&pool);
  for (int64_t extent : {0, 1, 2, 7, 100})
    for (int64_t grain : {1, 3, 20, 1000}) {
      struct Cover {
        std::vector<std::atomic<int>> seen;
        std::atomic<int64_t> least{1 << 30};
        std::atomic<int64_t> parts{0};
      } cover{std::vector<std::atomic<int>>(static_cast<size_t>(extent))};
      dt_parallel(
          &context, extent, grain,
          [](void* arg, int64_t lo, int64_t n) {
            auto& c = *static_cast<Cover*>(arg);
            ++c.parts;
            for (int64_t i = lo; i < lo + n; ++i) c.seen[static_cast<size_t>(i)]++;
            for (int64_t least = c.least; n < least && !c.least.compare_exchange_weak(least, n);) {
            }
          },
          &cover);
      for (const auto& count : cover.seen) REQUIRE(count == 1);
      if (extent > 0) REQUIRE(cover.least >= std::min(grain, extent));
      if (cover.parts > pool.threads()) REQUIRE(cover.parts % pool.threads() == 0);
    }
}

TEST_CASE("scratch is aligned, disjoint, and the same memory for the same calls") {
  ThreadPool pool({1, false});
  DtContext context(&pool);
  static std::vector<void*> blocks;
  const DtFunction function = [](DtContext* c, const DtCall*) -> int32_t {
    for (int64_t bytes : {100, 1 << 21, 1, 5 << 20, 64}) blocks.push_back(dt_scratch(c, bytes));
    return 0;
  };
  DtCall call = {};
  call.name = "test";
  call.op = "0:0 test";
  REQUIRE(context.Call(function, call).ok());
  REQUIRE(context.Call(function, call).ok());
  REQUIRE(blocks.size() == 10);
  for (size_t i = 0; i < 5; ++i) {
    CHECK(reinterpret_cast<uintptr_t>(blocks[i]) % 64 == 0);
    CHECK(blocks[i] == blocks[i + 5]);
  }
}

TEST_CASE("the message of a failing call names it; kept state is destroyed with the context") {
  static int destroyed;
  destroyed = 0;
  ThreadPool pool({1, false});
  {
    DtContext context(&pool);
    const DtFunction function = [](DtContext* c, const DtCall*) -> int32_t {
      dt_keep(c, &destroyed, [](void* state) { ++*static_cast<int*>(state); });
      return dt_fail(c, "%d is too large", 7);
    };
    DtCall call = {};
    call.name = "dt_test";
    call.op = "0:0 test";
    CHECK(context.Call(function, call).message() == "dt_test: 7 is too large");
  }
  CHECK(destroyed == 1);
}

}  // namespace dtranspile::exec
