// What the launcher works out before and after processes run: groups of ranks, lines, combined
// values.
#include "runtime/launch/ranks.h"

#include <fcntl.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>

#include "runtime/io/feed.h"
#include "runtime/io/output.h"
#include "runtime/launch/groups.h"
#include "runtime/launch/lines.h"
#include "runtime/launch/processors.h"
#include "runtime/launch/report.h"
#include "runtime/launch/step_log.h"

namespace dtranspile::launch {

TEST_CASE("ranks and their groups in a mesh of two axes") {
  const std::vector<std::pair<std::string, int64_t>> mesh{{"pp", 2}, {"dp", 3}};
  CHECK(CoordinatesOf(mesh, 4) == std::map<std::string, int64_t>{{"pp", 1}, {"dp", 1}});
  std::map<std::string, std::vector<int>> members;
  for (int rank = 0; rank < 6; ++rank) {
    const auto group = GroupOf({"grad", {"dp"}}, "trainer", mesh, CoordinatesOf(mesh, rank));
    REQUIRE(group.ok());
    CHECK((*group)->size == 3);
    CHECK((*group)->rank == rank % 3);
    members[(*group)->group].push_back(rank);
  }
  CHECK(members == std::map<std::string, std::vector<int>>{{"trainer.grad.0", {0, 1, 2}},
                                                           {"trainer.grad.1", {3, 4, 5}}});
  const auto world = GroupOf({"world", {"dp", "pp"}}, "trainer", mesh, CoordinatesOf(mesh, 4));
  REQUIRE(world.ok());
  CHECK((*world)->group == "trainer.world");
  CHECK((*world)->rank == 1 * 2 + 1);  // the communicator's first axis is major
  // Of a subset its ranks only, numbered among themselves; the others join nothing.
  members.clear();
  for (int rank = 0; rank < 6; ++rank) {
    const exec::PlanComm ends{
        "ends", {"pp", "dp"}, exec::CommKind::kGroup, {{{"dp", {0, 1, 2, 3}}}}};
    const auto group = GroupOf(ends, "trainer", mesh, CoordinatesOf(mesh, rank));
    REQUIRE(group.ok());
    CHECK(group->has_value() == (rank % 3 != 1));
    if (!group->has_value()) continue;
    CHECK((*group)->size == 4);
    members[(*group)->group].push_back((*group)->rank);
  }
  CHECK(members == std::map<std::string, std::vector<int>>{{"trainer.ends", {0, 1, 2, 3}}});
  CHECK(GroupOf({"x", {"mp"}}, "trainer", mesh, CoordinatesOf(mesh, 0)).status().message() ==
        "communicator 'x' runs along axis 'mp', which the mesh lacks");
}

TEST_CASE("values of ranks are combined as the plan says") {
  const std::vector<Json> two{Json{1.0, 4.0}, Json{3.0, "inf"}};
  const std::vector<int> ranks{1, 3};  // that hold the value
  CHECK(*Combine("mean", two, ranks) == Json{2.0, "inf"});
  CHECK(*Combine("sum", {Json{1.0}, Json{2.5}}, ranks) == Json{3.5});
  CHECK(*Combine("concat", two, ranks) == Json{1.0, 4.0, 3.0, "inf"});
  CHECK(*Combine("list", {Json{1.0}, Json{2.5}}, ranks) == Json{Json{1.0}, Json{2.5}});
  CHECK(*Combine("same", {Json{"nan"}, Json{"nan"}}, ranks) == Json{"nan"});
  CHECK(Combine("same", two, ranks)
            .status()
            .message()
            .find("ranks 1 and 3 should have the same value") == 0);
  CHECK(!Combine("mean", {Json{1.0}, Json{1.0, 2.0}}, ranks).ok());
  CHECK(Combine("mean", {Json(), Json()}, ranks)->is_null());
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
  REQUIRE(CombineFiles(folder, {{"y", {"concat", {0, 1}}}}).ok());
  const auto joined = io::Feed::Open(folder, "y");
  REQUIRE(joined.ok());
  const auto step = joined->Read(0);
  REQUIRE(step.ok());
  CHECK(step->lod == Lod{{0, 1, 3, 5}});
  CHECK(std::vector<float>(step->as<float>(), step->as<float>() + 5) ==
        std::vector<float>{1, 2, 3, 1, 2});
  CHECK(CombineFiles(folder, {{"y", {"mean", {0, 1}}}}).message() ==
        "fetch 'y': ranks have values of different extents");
  std::filesystem::remove_all(folder);
}

TEST_CASE("processors: what the affinity mask and the control groups grant") {
  CHECK(UsableProcessors() >= 1);
  // This process may use fewer once its mask says so.
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(0, sizeof(before), &before) == 0);
  CPU_ZERO(&one);
  for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  REQUIRE(sched_setaffinity(0, sizeof(one), &one) == 0);
  CHECK(UsableProcessors() == 1);
  REQUIRE(sched_setaffinity(0, sizeof(before), &before) == 0);

  char name[] = "/tmp/dtranspile-cgroup-XXXXXX";
  const std::string root = mkdtemp(name);
  const auto file = [&](const std::string& path, const std::string& text) {
    const std::string whole = root + "/" + path;
    std::filesystem::create_directories(std::filesystem::path(whole).parent_path());
    std::ofstream(whole) << text;
  };
  file("a/cpu.max", "250000 100000\n");
  file("a/b/cpu.max", "max 100000\n");
  file("a/b/c/cpu.max", "400000 100000\n");
  CHECK(GrantedProcessors("0::/a/b/c\n", root) == 2.5);
  CHECK(GrantedProcessors("0::/a\n", root) == 2.5);
  CHECK(GrantedProcessors("0::/\n", root) == 0);
  CHECK(GrantedProcessors("0::/elsewhere/x\n", root) == 0);
  CHECK(GrantedProcessors("", root) == 0);
  CHECK(GrantedProcessors("no such lines\n::\n", root) == 0);
  file("cpu,cpuacct/job/cpu.cfs_quota_us", "150000\n");
  file("cpu,cpuacct/job/cpu.cfs_period_us", "100000\n");
  file("cpu,cpuacct/free/cpu.cfs_quota_us", "-1\n");
  file("cpu,cpuacct/free/cpu.cfs_period_us", "100000\n");
  CHECK(GrantedProcessors("5:memory:/job\n4:cpu,cpuacct:/job/deep\n", root) == 1.5);
  CHECK(GrantedProcessors("4:cpu,cpuacct:/free\n", root) == 0);
  // In a container the path is that of the host, and the mount is the group itself.
  file("cpu.max", "50000 100000\n");
  CHECK(GrantedProcessors("0::/host/path\n", root) == 0.5);
  std::filesystem::remove_all(root);
}

TEST_CASE("the log of steps gives back what it was given, stream by stream") {
  // Lines shorter and longer than a block, streams of none, few and very many; without a file too.
  const std::string folder = GENERATE(as<std::string>(), "/tmp", "/nonexistent");
  REQUIRE(setenv("TMPDIR", folder.c_str(), 1) == 0);
  StepLog log;
  constexpr int kLines = 5000;
  const size_t empty = log.AddStream(), few = log.AddStream(), many = log.AddStream();
  const auto line = [](int i) {
    return std::to_string(i) + std::string(i % 1000 == 7 ? 10000 : i % 50, 'x');
  };
  for (int i = 0; i < kLines; ++i) {
    log.Append(many, line(i));
    if (i % 1000 == 0) log.Append(few, std::to_string(i));
  }
  const StepLog moved = std::move(log);
  CHECK(moved.lines(many) == kLines);
  CHECK(moved.lines(empty) == 0);
  StepLog::Reader all(moved, many), some(moved, few), none(moved, empty);
  for (int i = 0; i < kLines; ++i) {
    const auto got = all.Next();
    REQUIRE(got.ok());
    REQUIRE(*got == line(i));
    if (i % 1000 == 0) CHECK(*some.Next() == std::to_string(i));
  }
  for (StepLog::Reader* reader : {&all, &some, &none})
    for (int again = 0; again < 2; ++again) CHECK(absl::IsOutOfRange(reader->Next().status()));
  unsetenv("TMPDIR");
}

TEST_CASE("a report is JSON whatever names and values are, and is written in pieces") {
  Report report;
  report.steps = 2;
  report.digest = "sha256:1";
  report.error = {{"message", "a \"quoted\"\nline"}};
  report.fetch["a\"b"] = report.log.AddStream();
  report.log.Append(report.fetch["a\"b"], "[1.5, 2]");
  report.ranks.resize(2);
  report.ranks[0].role = report.ranks[1].role = "trainer";
  for (Report::Rank& rank : report.ranks) rank.record.times = report.log.AddStream();
  report.ranks[1].record.fetch["y"] = report.log.AddStream();
  constexpr int kSteps = 30000;
  for (int i = 0; i < kSteps; ++i) report.log.Append(report.ranks[1].record.fetch["y"], "0.25");
  std::string text;
  size_t largest = 0;
  const auto sink = [&](absl::string_view piece) {
    largest = std::max(largest, piece.size());
    text.append(piece.data(), piece.size());
    return absl::OkStatus();
  };
  REQUIRE(report.Write(sink).ok());
  CHECK(largest < size_t{80} << 10);
  const Json json = Json::parse(text);
  CHECK(json["ok"] == false);
  CHECK(json["error"]["message"] == "a \"quoted\"\nline");
  CHECK(json["fetch"]["a\"b"] == Json{{1.5, 2}});
  CHECK(json["ranks"][0]["fetch"] == Json::object());
  CHECK(json["ranks"][0]["step_ms"] == Json::array());
  CHECK(json["ranks"][1]["fetch"]["y"].size() == kSteps);
  CHECK(!report.Write([](absl::string_view) { return absl::UnavailableError("full"); }).ok());
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
