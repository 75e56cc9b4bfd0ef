#include "runtime/exec/thread_pool.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <numeric>
#include <vector>

#include "runtime/exec/context.h"

namespace dtranspile::exec {
namespace {

struct Record {
  std::vector<std::atomic<int>> runs;
  std::vector<int> thread;
  explicit Record(int parts)
      : runs(static_cast<size_t>(parts)), thread(static_cast<size_t>(parts), -1) {}
  static void Task(void* arg, int part) {
    auto& record = *static_cast<Record*>(arg);
    record.runs[static_cast<size_t>(part)]++;
    record.thread[static_cast<size_t>(part)] = ThreadPool::CurrentThread();
  }
};

}  // namespace

TEST_CASE("every part runs once, always on the thread of its number") {
  for (bool spin : {false, true})
    for (int threads : {1, 2, 5}) {
      ThreadPool pool({threads, spin, {}});
      for (int turn = 0; turn < 300; ++turn) {
        Record record(threads);
        pool.Run(threads, Record::Task, &record);
        for (int part = 0; part < threads; ++part) {
          REQUIRE(record.runs[static_cast<size_t>(part)] == 1);
          REQUIRE(record.thread[static_cast<size_t>(part)] == part);
        }
      }
    }
}

TEST_CASE("a job started within a job runs on the thread that starts it") {
  ThreadPool pool({2, false, {}});
  struct Outer {
    ThreadPool* pool;
    Record inner{2};
  } outer{&pool};
  pool.Run(
      2,
      [](void* arg, int part) {
        auto& o = *static_cast<Outer*>(arg);
        if (part == 1) o.pool->Run(2, Record::Task, &o.inner);
      },
      &outer);
  CHECK(outer.inner.runs[0] == 1);
  CHECK(outer.inner.thread == std::vector<int>{1, 1});
}

TEST_CASE("denormals are zero on every thread while work runs") {
  struct Products {
    volatile float results[2];
  } products = {};
  {
    NumericScope numerics;
    ThreadPool pool({2, false, {}});
    pool.Run(
        2,
        [](void* arg, int part) {
          volatile float small = 1e-30f;
          static_cast<Products*>(arg)->results[part] = small * 1e-10f;
        },
        &products);
  }
  CHECK(products.results[0] == 0);
  CHECK(products.results[1] == 0);
  volatile float small = 1e-30f;
  CHECK(small * 1e-10f != 0);
}

TEST_CASE("dt_parallel covers the extent in parts of at least the grain") {
  ThreadPool pool({3, false, {}});
  DtContext context(&pool);
  for (int64_t extent : {0, 1, 2, 7, 100})
    for (int64_t grain : {1, 3, 1000}) {
      struct Cover {
        std::vector<std::atomic<int>> seen;
        std::atomic<int64_t> least{1 << 30};
      } cover{std::vector<std::atomic<int>>(static_cast<size_t>(extent))};
      dt_parallel(
          &context, extent, grain,
          [](void* arg, int64_t lo, int64_t n) {
            auto& c = *static_cast<Cover*>(arg);
            for (int64_t i = lo; i < lo + n; ++i) c.seen[static_cast<size_t>(i)]++;
            for (int64_t least = c.least; n < least && !c.least.compare_exchange_weak(least, n);) {
            }
          },
          &cover);
      for (const auto& count : cover.seen) REQUIRE(count == 1);
      if (extent > 0) REQUIRE(cover.least >= std::min(grain, extent));
    }
}

TEST_CASE("scratch is aligned, disjoint, and the same memory for the same calls") {
  ThreadPool pool({1, false, {}});
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
  ThreadPool pool({1, false, {}});
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
