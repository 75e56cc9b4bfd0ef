// A folder that members fill together: whole or not there, whoever is last, whatever an earlier job
// has left.
#include "runtime/io/shared_folder.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using test::TempFolder;

const std::vector<std::string> kMembers = {"server.0", "server.1", "trainer.0"};
constexpr char kSeal[] = "seal.json";

std::string TextOf(const std::string& path) {
  std::ifstream in(path);
  std::stringstream text;
  text << in.rdbuf();
  return text.str();
}

// What a member writes: its letter at its place.
bool Write(const std::string& below, const std::string& name, size_t member) {
  const auto folder = SharedFolder::Open(below, name);
  REQUIRE(folder.ok());
  const auto size = static_cast<int64_t>(kMembers.size());
  const auto file = SharedFile::Open(folder->path() + "/w", size);
  REQUIRE(file.ok());
  const char letter = static_cast<char>('a' + member);
  REQUIRE(file->WriteAt(&letter, 1, static_cast<int64_t>(member)).ok());
  REQUIRE(file->Sync().ok());
  const auto last = folder->Finish(kMembers[member], kMembers, kSeal, "{}\n");
  INFO(last.status().ToString());
  REQUIRE(last.ok());
  return *last;
}

}  // namespace

TEST_CASE("the last member puts the folder in place, in exchange for an older one") {
  const TempFolder folder;
  const std::string below = folder / "deep/er";
  for (const size_t first : {0, 1, 2}) {
    for (size_t i = 0; i < kMembers.size(); ++i) {
      const bool last = Write(below, "step", (first + i) % kMembers.size());
      CHECK(last == (i + 1 == kMembers.size()));
      if (first == 0) CHECK(std::filesystem::exists(below + "/step") == last);
    }
    CHECK(TextOf(below + "/step/w") == "abc");
    CHECK(TextOf(below + "/step/" + kSeal) == "{}\n");
    CHECK(std::distance(std::filesystem::directory_iterator(below + "/step"), {}) == 2);
    CHECK_FALSE(std::filesystem::exists(below + "/" + kUnfinishedPrefix + "step"));
  }
}

TEST_CASE("what an earlier job has left unfinished counts for nobody who has begun anew") {
  const TempFolder folder;
  const std::string below = folder / "all", left = below + "/" + kUnfinishedPrefix + "step";
  CHECK_FALSE(Write(below, "step", 0));
  CHECK_FALSE(Write(below, "step", 1));
  // It was killed before it put the sealed folder in place, and had a longer file.
  std::ofstream(left + "/" + kSeal) << "half";
  std::ofstream(left + "/w") << "abcdefgh";
  for (const std::string& member : kMembers) SharedFolder::Forget(below, member, kSeal);
  CHECK_FALSE(Write(below, "step", 2));
  CHECK_FALSE(Write(below, "step", 0));
  CHECK(Write(below, "step", 1));
  CHECK(TextOf(below + "/step/w") == "abc");
  CHECK(TextOf(below + "/step/" + kSeal) == "{}\n");
}

TEST_CASE("members at once: one of them is the last") {
  const TempFolder folder;
  for (int turn = 0; turn < 20; ++turn) {
    const std::string name = "step" + std::to_string(turn);
    std::vector<pid_t> pids;
    for (size_t i = 0; i < kMembers.size(); ++i) {
      const pid_t pid = fork();
      if (pid == 0) _exit(Write(folder / "all", name, i) ? 1 : 0);
      pids.push_back(pid);
    }
    int lasts = 0;
    for (const pid_t pid : pids) {
      int status = 0;
      waitpid(pid, &status, 0);
      REQUIRE(WIFEXITED(status));
      lasts += WEXITSTATUS(status);
    }
    CHECK(lasts == 1);
    CHECK(TextOf(folder / ("all/" + name + "/w")) == "abc");
  }
}

TEST_CASE("no room, and a link in the way, are said with the file") {
  const TempFolder folder;
  const auto shared = SharedFolder::Open(folder / "all", "step");
  REQUIRE(shared.ok());
  const std::string link = shared->path() + "/link";
  std::filesystem::create_symlink("/tmp", link);
  CHECK_FALSE(SharedFile::Open(link, 1).ok());
  const pid_t pid = fork();
  if (pid == 0) {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    setrlimit(RLIMIT_FSIZE, &none);
    const auto file = SharedFile::Open(shared->path() + "/w", 1 << 20);
    const std::string message(file.status().message());
    _exit(!file.ok() && message.find("/w: ") != std::string::npos ? 0 : 1);
  }
  int status = 0;
  waitpid(pid, &status, 0);
  CHECK(status == 0);
}

}  // namespace dtranspile::io
