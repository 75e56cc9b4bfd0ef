// What the launcher works out before and after processes run: groups of ranks, lines, combined
// values.
#include "runtime/launch/ranks.h"

#include <fcntl.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>

#include "runtime/io/feed.h"
#include "runtime/io/output.h"
#include "runtime/launch/lines.h"
#include "runtime/launch/report.h"

namespace dtranspile::launch {

TEST_CASE("ranks and their groups in a mesh of two axes") {
  const std::vector<std::pair<std::string, int64_t>> mesh{{"pp", 2}, {"dp", 3}};
  CHECK(CoordinatesOf(mesh, 4) == std::map<std::string, int64_t>{{"pp", 1}, {"dp", 1}});
  std::map<std::string, std::vector<int>> members;
  for (int rank = 0; rank < 6; ++rank) {
    const auto group = GroupOf({"grad", {"dp"}}, "trainer", mesh, CoordinatesOf(mesh, rank));
    REQUIRE(group.ok());
    CHECK(group->size == 3);
    CHECK(group->rank == rank % 3);
    members[group->group].push_back(rank);
  }
  CHECK(members == std::map<std::string, std::vector<int>>{{"trainer.grad.0", {0, 1, 2}},
                                                           {"trainer.grad.1", {3, 4, 5}}});
  const auto world = GroupOf({"world", {"dp", "pp"}}, "trainer", mesh, CoordinatesOf(mesh, 4));
  REQUIRE(world.ok());
  CHECK(world->group == "trainer.world");
  CHECK(world->rank == 1 * 2 + 1);  // the communicator's first axis is major
  CHECK(GroupOf({"x", {"mp"}}, "trainer", mesh, CoordinatesOf(mesh, 0)).status().message() ==
        "communicator 'x' runs along axis 'mp', which the mesh lacks");
}

TEST_CASE("values of ranks are combined as the plan says") {
  const std::vector<Json> two{Json{1.0, 4.0}, Json{3.0, "inf"}};
  CHECK(*Combine("mean", two) == Json{2.0, "inf"});
  CHECK(*Combine("sum", {Json{1.0}, Json{2.5}}) == Json{3.5});
  CHECK(*Combine("concat", two) == Json{1.0, 4.0, 3.0, "inf"});
  CHECK(*Combine("list", {Json{1.0}, Json{2.5}}) == Json{Json{1.0}, Json{2.5}});
  CHECK(*Combine("same", {Json{"nan"}, Json{"nan"}}) == Json{"nan"});
  CHECK(Combine("same", two).status().message().find("ranks 0 and 1 should have the same value") ==
        0);
  CHECK(!Combine("mean", {Json{1.0}, Json{1.0, 2.0}}).ok());
  CHECK(Combine("mean", {Json(), Json()})->is_null());
  CHECK(Shown(Json{2.0}) == 2.0);
  CHECK(Shown(Json{2.0, 3.0}) == Json{2.0, 3.0});
}

TEST_CASE("ragged values of ranks are joined by sequences") {
  char name[] = "/tmp/dtranspile-ranks-XXXXXX";
  const std::string folder = mkdtemp(name);
  const float values[] = {1, 2, 3};
  for (int rank = 0; rank < 2; ++rank) {
    const auto stem = io::PrepareInside(folder + "/" + std::to_string(rank), "y");
    REQUIRE(stem.ok());
    const Lod lod = rank == 0 ? Lod{{0, 1, 3}} : Lod{{0, 2}};
    REQUIRE(io::WriteStep(
                *stem, 0,
                {DType::kFloat32, {3 - rank, 1}, reinterpret_cast<const std::byte*>(values)}, lod)
                .ok());
  }
  REQUIRE(CombineFiles(folder, {{"y", "concat"}}, 2).ok());
  const auto joined = io::Feed::Open(folder, "y");
  REQUIRE(joined.ok());
  const auto step = joined->Read(0);
  REQUIRE(step.ok());
  CHECK(step->lod == Lod{{0, 1, 3, 5}});
  CHECK(std::vector<float>(step->as<float>(), step->as<float>() + 5) ==
        std::vector<float>{1, 2, 3, 1, 2});
  CHECK(CombineFiles(folder, {{"y", "mean"}}, 2).message() ==
        "fetch 'y': ranks have values of different extents");
  std::filesystem::remove_all(folder);
}

TEST_CASE("lines are whole, and cut when they have no end") {
  int ends[2];
  REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
  Lines lines(8);
  std::vector<std::string> got;
  REQUIRE(write(ends[1], "one\ntw", 6) == 6);
  CHECK(lines.Read(ends[0], got));
  CHECK(got == std::vector<std::string>{"one"});
  REQUIRE(write(ends[1], "o\n0123456789", 12) == 12);
  close(ends[1]);
  CHECK(!lines.Read(ends[0], got));
  CHECK(got == std::vector<std::string>{"one", "two", "01234567", "89"});
  close(ends[0]);
}

}  // namespace dtranspile::launch
