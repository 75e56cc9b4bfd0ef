// Persistent memory without what a rank does not have.
#include "runtime/exec/storage.h"

#include <catch2/catch.hpp>

#include "runtime/exec/left_memory.h"
#include "test/runtime/exec/plan_builder.h"

namespace dtranspile::exec {
namespace {

Plan Parsed(const Json& json) {
  auto plan = ParsePlan("plan.json", json.dump());
  INFO(plan.status().ToString());
  REQUIRE(plan.ok());
  return *std::move(plan);
}

Storage MakeStorage(const Plan& plan, int64_t at, int64_t of) {
  auto storage = Storage::Make(plan, {{{"dp", at}}, {{"dp", of}}}, false);
  INFO(storage.status().ToString());
  REQUIRE(storage.ok());
  return *std::move(storage);
}

}  // namespace

TEST_CASE("a variable is on its ranks only, and takes memory there only") {
  PlanBuilder b;
  const int all = b.Variable("all", "float32", {4});
  const int own = b.Variable("own", "float32", {1000});
  b.variable()["at"] = {{"dp", {1, 2}}};
  const int view = b.View("own.rows", own, 0, {10, 100});
  const int tail = b.View("own.tail", own, 3200, {200});
  const int last = b.Variable("last", "float32", {4});
  const Plan plan = Parsed(b.json);
  const Storage here = MakeStorage(plan, 1, 2), there = MakeStorage(plan, 0, 2);
  CHECK(here.persistent_bytes() >= 4000);
  CHECK(there.persistent_bytes() <= 2 * 64);
  for (int id : {own, view, tail}) {
    CHECK(here.whole(id));
    CHECK(there.data(id) == nullptr);
    CHECK(!there.whole(id));
    CHECK(there.bytes(id) == 0);
  }
  CHECK(here.data(view) == here.data(own));
  CHECK(here.data(tail) == here.data(own) + 3200);
  for (const Storage* storage : {&here, &there})
    for (int id : {all, last}) {
      CHECK(storage->whole(id));
      CHECK(reinterpret_cast<uintptr_t>(storage->data(id)) % 64 == 0);
      CHECK(storage->data(id)[15] == std::byte{0});
    }
  CHECK(there.data(last) == there.data(all) + 64);
}

TEST_CASE("what waits in pinned memory lies in an arena of its own") {
  PlanBuilder b;
  const int near = b.Arena("near", "float32", {100});
  const int first = b.Pinned("first", "float32", {100}),
            second = b.Pinned("second", "float32", {8});
  const Plan plan = Parsed(b.json);
  CHECK(plan.arena_bytes == 448);
  CHECK(plan.pinned_bytes == 512);
  const Storage storage = MakeStorage(plan, 0, 1);
  CHECK(storage.data(second) == storage.data(first) + 448);
  const std::byte* at = storage.data(near);
  CHECK((storage.data(first) >= at + 448 || storage.data(second) + 32 <= at));
}

TEST_CASE("a cut variable has memory for the rank's part, and its blocks keep their places") {
  PlanBuilder b;
  // 7 rows of 32 bytes in blocks of 2 over 2 ranks: 0, 2 on the first one, 1, 3 (of one row) on the
  // other.
  const int w = b.Variable("w", "float32", {4, 8});
  b.variable()["layout"] = LayoutNodeJson("blocks", "dp", {7, 8}, 2);
  const int block = b.View("w.block", w, 0, {2, 8}, 64, 2);
  const int end = b.View("w.end", w, 0, {1, 8}, 64, 2);
  const int next = b.Variable("next", "float32", {1});
  const Plan plan = Parsed(b.json);
  const Storage first = MakeStorage(plan, 0, 2), second = MakeStorage(plan, 1, 2);
  CHECK(first.bytes(w) == 128);
  CHECK(second.bytes(w) == 96);
  CHECK(!second.whole(w));
  CHECK(second.whole(block, 0));
  CHECK(!second.whole(block, 1));
  CHECK(second.whole(end, 1));
  CHECK(second.data(end, 1) == second.data(w) + 64);
  CHECK(first.whole(block, 1));
  CHECK(second.whole(next));
  const auto other = Storage::Make(plan, {{{"dp", 0}}, {{"dp", 3}}}, false);
  CHECK(other.status().message() ==
        "variable 'w' is float32[4, 8], but its parts on 3 ranks have up to float32[3, 8]; was the "
        "plan compiled for another mesh?");
  CHECK(Storage::Make(plan, {{{"mp", 0}}, {{"mp", 2}}}, false).status().message() ==
        "variable 'w': axis 'dp' is none of this rank's mesh");
}

TEST_CASE("even parts have their pad, memory without variables stays") {
  PlanBuilder b;
  const int w = b.Variable("w", "float32", {3});
  b.variable()["layout"] = LayoutNodeJson("even", "dp", {5});
  const int counter = b.View("counter", w, 64, {1});
  b.json["persistent_bytes"] = 128;
  const Plan plan = Parsed(b.json);
  const Storage storage = MakeStorage(plan, 1, 2);
  CHECK(storage.whole(w));
  CHECK(storage.whole(counter));
}

TEST_CASE("values that grow leave a machine what its programs need") {
  constexpr int64_t kMiB = int64_t{1} << 20, kGiB = 1024 * kMiB;
  CHECK(MachineReserve(kGiB) == 128 * kMiB);
  CHECK(MachineReserve(24 * kGiB) == 768 * kMiB);
  CHECK(MachineReserve(1024 * kGiB) == kGiB);
}

}  // namespace dtranspile::exec
