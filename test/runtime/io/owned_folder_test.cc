// What is removed of what others have left, and what is not.
#include "runtime/io/owned_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <thread>

#include "test/killed_at.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using test::Slurp;
using test::Spill;
using test::TempFolder;

// A folder as a killed process leaves it.
std::string Left(const TempFolder& folder, const std::string& name) {
  const pid_t child = fork();
  if (child == 0) {
    auto made = OwnedFolder::Make(folder.path(), name, "a test");
    if (!made.ok()) _exit(1);
    Spill(made->path() + "/inside", "x");
    _exit(0);  // without destructors
  }
  int status = 0;
  waitpid(child, &status, 0);
  REQUIRE(status == 0);
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (entry.path().filename().string().rfind(name, 0) == 0) return entry.path();
  return "";
}

TEST_CASE("a folder says whose it is, and goes with its owner") {
  TempFolder folder;
  {
    auto made = OwnedFolder::Make(folder.path(), "run-", "the work of a test");
    REQUIRE(made.ok());
    CHECK(Slurp(made->path() + "/dtranspile.owner")
              .find("the work of a test\nmade by process " + std::to_string(getpid())) !=
          std::string::npos);
    struct stat info;
    REQUIRE(stat(made->path().c_str(), &info) == 0);
    CHECK((info.st_mode & 077) == 0);
    fs::create_directories(made->path() + "/a/b");
    OwnedFolder::ClearLeft(folder.path(), "run-");  // somebody works there
    CHECK(fs::exists(made->path() + "/a/b"));
    CHECK(std::string(FolderForHandler(0)) == made->path());
  }
  CHECK(FolderForHandler(0) == nullptr);
  CHECK(folder.entries() == 0);
}

TEST_CASE("what a killed process has left goes, and nothing else") {
  TempFolder folder;
  const std::string left = Left(folder, "run-left-");
  const std::string other = Left(folder, "other-");
  fs::create_directory(folder / "run-checkpoint");
  Spill(folder / "run-checkpoint/w", "of the user");
  fs::create_directory(folder / "run-empty");
  fs::create_directory(folder / "run-marked");
  Spill(folder / "run-marked/dtranspile.owner", "my own text");
  Spill(folder / "run-file", "of the user");
  fs::create_symlink(other, folder / "run-link");
  fs::create_directory(folder / "run-piped");
  REQUIRE(mkfifo((folder / "run-piped/dtranspile.owner").c_str(), 0600) == 0);
  OwnedFolder::ClearLeft(folder.path(), "run-");
  CHECK_FALSE(fs::exists(left));
  for (const char* name :
       {"run-checkpoint/w", "run-empty", "run-marked/dtranspile.owner", "run-file", "run-piped"})
    CHECK(fs::exists(folder / name));
  CHECK(fs::is_symlink(folder / "run-link"));
  CHECK(fs::exists(other + "/inside"));
}

TEST_CASE("a copied marker does not make a folder of the user ours") {
  TempFolder folder;
  const std::string left = Left(folder, "run-");
  fs::create_directory(folder / "run-mine");
  fs::copy_file(left + "/dtranspile.owner", folder / "run-mine/dtranspile.owner");
  Spill(folder / "run-mine/w", "of the user");
  OwnedFolder::ClearLeft(folder.path(), "run-");
  CHECK_FALSE(fs::exists(left));
  CHECK(fs::exists(folder / "run-mine/w"));
}

TEST_CASE("a folder of another user is left alone") {
  if (geteuid() != 0) return;
  TempFolder folder;
  const std::string left = Left(folder, "run-");
  REQUIRE(chown(left.c_str(), 65534, 65534) == 0);
  OwnedFolder::ClearLeft(folder.path(), "run-");
  CHECK(fs::exists(left));
  REQUIRE(chown(left.c_str(), 0, 0) == 0);
  REQUIRE(chown((left + "/dtranspile.owner").c_str(), 65534, 65534) == 0);
  OwnedFolder::ClearLeft(folder.path(), "run-");
  CHECK(fs::exists(left));
}

TEST_CASE("whenever a process is killed, the next one finds nothing or removes it") {
  TempFolder folder;
  for (int k = 1;; ++k) {
    CAPTURE(k);
    const Ended ended = test::KillAt(
        [&] {
          auto made = OwnedFolder::Make(folder.path(), "run-", "a test");
          if (!made.ok()) _exit(1);
          fs::create_directory(made->path() + "/a");
          Spill(made->path() + "/a/b", "x");
        },
        k);
    REQUIRE(ended != Ended::kBadly);
    if (ended == Ended::kWell) break;
    OwnedFolder::ClearLeft(folder.path(), "run-");
    CHECK(folder.entries() == 0);
  }
}

TEST_CASE("those who make and those who clear do not disturb each other") {
  TempFolder folder;
  std::vector<std::thread> threads;
  std::atomic<int> failures{0};
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (int time = 0; time < 300; ++time) {
        auto made = OwnedFolder::Make(folder.path(), "run-", "a test");
        OwnedFolder::ClearLeft(folder.path(), "run-");
        failures += !made.ok() || !fs::exists(made->path() + "/dtranspile.owner");
      }
    });
  for (std::thread& thread : threads) thread.join();
  CHECK(failures == 0);
  CHECK(folder.entries() == 0);
}

TEST_CASE("a place where nothing can be made is an error") {
  TempFolder folder;
  CHECK(absl::IsNotFound(OwnedFolder::Make(folder / "none", "run-", "").status()));
  CHECK_FALSE(OwnedFolder::Make(folder.path(), std::string(300, 'x'), "").ok());
  Spill(folder / "file", "");
  CHECK_FALSE(OwnedFolder::Make(folder / "file", "run-", "").ok());
}

}  // namespace
}  // namespace dtranspile::io
