// What appears whole: folders, files, pairs of files.
#include "runtime/io/staged.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

namespace fs = std::filesystem;
using test::Slurp;
using test::Spill;
using test::TempFolder;

absl::Status Anything(const std::string&) { return absl::OkStatus(); }

// A new folder for `target` with one file.
absl::StatusOr<StagedFolder> StageOne(const std::string& target, const std::string& file,
                                      const std::string& text) {
  absl::StatusOr<StagedFolder> staged = StagedFolder::Create(target);
  if (staged.ok()) Spill(staged->path() + "/" + file, text);
  return staged;
}

bool Says(const absl::Status& status, const std::string& text) {
  INFO(status);
  return !status.ok() && std::string(status.message()).find(text) != std::string::npos;
}

TEST_CASE("a folder takes its name when it is complete") {
  TempFolder folder;
  {
    // A slash at the end, and folders that are not there yet.
    auto staged = StageOne(folder / "a/b/", "file", "new");
    REQUIRE(staged.ok());
    CHECK_FALSE(fs::exists(folder / "a/b"));
    REQUIRE(staged->PublishNew().ok());
  }
  CHECK(Slurp(folder / "a/b/file") == "new");
  CHECK(std::distance(fs::directory_iterator(folder / "a"), {}) == 1);
}

TEST_CASE("without Publish nothing is left, folders that were made neither") {
  TempFolder folder;
  {
    auto staged = StageOne(folder / "a/b/c", "file", "new");
    REQUIRE(staged.ok());
    CHECK(folder.entries() == 1);
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("nothing is replaced but an empty folder where nothing may be") {
  TempFolder folder;
  fs::create_directory(folder / "empty");
  Spill(folder / "file", "mine");
  fs::create_directory(folder / "full");
  Spill(folder / "full/file", "mine");
  fs::create_symlink(folder / "nowhere", folder / "link");
  REQUIRE(StageOne(folder / "empty", "w", "new")->PublishNew().ok());
  CHECK(Slurp(folder / "empty/w") == "new");
  CHECK(absl::IsAlreadyExists(StageOne(folder / "full", "w", "new")->PublishNew()));
  CHECK(Slurp(folder / "full/file") == "mine");
  CHECK(Says(StagedFolder::Create(folder / "file").status(), "is no folder"));
  CHECK(Says(StagedFolder::Create(folder / "link").status(), "is a link that leads nowhere"));
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(folder.entries() == 4);

  auto staged = StageOne(folder / "late", "w", "new");
  fs::create_symlink(folder / "nowhere", folder / "late");  // somebody is in between
  CHECK_FALSE(staged->PublishNew().ok());
  CHECK(fs::is_symlink(folder / "late"));
}

TEST_CASE("what is there is exchanged where it is accepted") {
  TempFolder folder;
  fs::create_directory(folder / "a");
  Spill(folder / "a/old", "old");
  fs::permissions(folder / "a", fs::perms::owner_all);
  auto refuse = [](const std::string&) { return absl::AlreadyExistsError("no"); };
  CHECK(absl::IsAlreadyExists(StageOne(folder / "a", "w", "new")->PublishOver(refuse)));
  CHECK(Slurp(folder / "a/old") == "old");
  // Looked at before, it is another folder in the instant of the exchange.
  int asked = 0;
  auto between = [&](const std::string& old) {
    return ++asked == 1 ? absl::OkStatus() : absl::AlreadyExistsError(old);
  };
  CHECK_FALSE(StageOne(folder / "a", "w", "new")->PublishOver(between).ok());
  CHECK(asked == 2);
  CHECK(Slurp(folder / "a/old") == "old");
  REQUIRE(StageOne(folder / "a", "w", "new")->PublishOver(Anything).ok());
  CHECK_FALSE(fs::exists(folder / "a/old"));
  CHECK(Slurp(folder / "a/w") == "new");
  CHECK(fs::status(folder / "a").permissions() == fs::perms::owner_all);
  CHECK(folder.entries() == 1);
}

TEST_CASE("a link to a folder stays one") {
  TempFolder folder;
  fs::create_directory(folder / "real");
  fs::create_symlink("real", folder / "link");
  REQUIRE(StageOne(folder / "link/", "w", "new")->PublishOver(Anything).ok());
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(Slurp(folder / "real/w") == "new");
}

TEST_CASE("files are put into a folder of other files") {
  TempFolder folder;
  fs::create_directories(folder / "to/sub");
  fs::create_directories(folder / "to/3");
  Spill(folder / "to/kept", "kept");
  Spill(folder / "to/w", "old");
  Spill(folder / "to/sub/kept", "kept");
  Spill(folder / "to/3/w.npy", "old");
  REQUIRE(mkfifo((folder / "to/pipe").c_str(), 0600) == 0);
  fs::create_symlink("nowhere", folder / "to/link");
  struct stat before, after;
  REQUIRE(stat((folder / "to/kept").c_str(), &before) == 0);
  {
    auto staged = StageOne(folder / "to", "w", "new");
    REQUIRE(staged.ok());
    fs::create_directory(staged->path() + "/sub");
    Spill(staged->path() + "/sub/v", "v");
    CHECK(Slurp(folder / "to/w") == "old");
    REQUIRE(staged->PublishInto([](const std::string& name) { return name == "3/w.npy"; }).ok());
  }
  CHECK(Slurp(folder / "to/kept") == "kept");
  CHECK(Slurp(folder / "to/w") == "new");
  CHECK(Slurp(folder / "to/sub/v") == "v");
  CHECK(Slurp(folder / "to/sub/kept") == "kept");
  CHECK_FALSE(fs::exists(folder / "to/3"));
  CHECK(fs::is_fifo(folder / "to/pipe"));
  CHECK(fs::is_symlink(folder / "to/link"));
  REQUIRE(stat((folder / "to/kept").c_str(), &after) == 0);
  CHECK(before.st_ino == after.st_ino);
  CHECK(folder.entries() == 1);
}

TEST_CASE("files that have no place are not lost") {
  TempFolder folder;
  fs::create_directories(folder / "to/w");
  {
    auto staged = StageOne(folder / "to", "w", "new");
    REQUIRE(staged.ok());
    const absl::Status status = staged->PublishInto();
    CHECK(Says(status, "is a folder, and a file of this name is to be written"));
    CHECK(Says(status, "the new files are in " + folder.path() + "/to.unpublished-"));
  }
  CHECK(folder.entries() == 2);
  for (const auto& entry : fs::directory_iterator(folder.path()))
    if (entry.path().filename() != "to") CHECK(Slurp(entry.path() / "w") == "new");
}

TEST_CASE("what cannot be exchanged is said before the work") {
  TempFolder folder;
  fs::create_directories(folder / "here/below");
  const fs::path back = fs::current_path();
  fs::current_path(folder / "here/below");
  CHECK(Says(StagedFolder::Create(folder / "here").status(), "holds the working folder"));
  CHECK(Says(StagedFolder::Create(".").status(), "holds the working folder"));
  fs::current_path(back);
  CHECK(Says(StagedFolder::Create("/proc").status(), "/"));
  CHECK(Says(StagedFolder::Create("/dev/shm").status(), "is the root of a file system"));
  CHECK_FALSE(StagedFolder::Create(folder / std::string(300, 'x')).ok());
  CHECK_FALSE(StagedFolder::Create(folder / std::string(5000, 'x')).ok());
  fs::create_symlink("loop", folder / "loop");
  CHECK_FALSE(StagedFolder::Create(folder / "loop").ok());
  Spill(folder / "file", "");
  CHECK_FALSE(StagedFolder::Create(folder / "file/a").ok());
}

TEST_CASE("long names and names of several bytes a character") {
  TempFolder folder;
  std::string name(255, 'x');
  CHECK(StageOne(folder / name, "w", "new")->PublishNew().ok());
  name.clear();
  for (int i = 0; i < 85; ++i) name += "語";
  CHECK(StageOne(folder / name, "w", "new")->PublishNew().ok());
  CHECK(Slurp(folder / name + "/w") == "new");
  CHECK(folder.entries() == 2);
}

TEST_CASE("a file is replaced whole, keeps its permissions, and its links lead to it") {
  TempFolder folder;
  Spill(folder / "x", "old");
  fs::permissions(folder / "x", fs::perms::owner_read | fs::perms::owner_write);
  fs::create_symlink("x", folder / "link");
  {
    auto staged = StagedFiles::Create({folder / "link"});
    REQUIRE(staged.ok());
    Spill(staged->path(), "new");
    CHECK(Slurp(folder / "x") == "old");
    REQUIRE(staged->Publish().ok());
  }
  CHECK(Slurp(folder / "x") == "new");
  CHECK(fs::is_symlink(folder / "link"));
  CHECK(fs::status(folder / "x").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  CHECK(folder.entries() == 2);
  CHECK(Says(StagedFiles::Create({folder.path()}).status(), "is a folder"));
  CHECK(absl::IsNotFound(StagedFiles::Create({folder / "no/x"}).status()));
  fs::create_directory(folder / "sub");
  CHECK(Says(StagedFiles::Create({folder / "x", folder / "sub/x"}).status(), "another folder"));
}

TEST_CASE("what holds something of another kind is told apart") {
  TempFolder folder;
  CHECK(HoldsOnly(folder.path(), {"a", "b"}));
  Spill(folder / "a", "");
  CHECK(HoldsOnly(folder.path(), {"a", "b"}));
  Spill(folder / "thesis.txt", "");
  CHECK_FALSE(HoldsOnly(folder.path(), {"a", "b"}));
  CHECK_FALSE(HoldsOnly(folder / "a", {"a"}));
  CHECK_FALSE(HoldsOnly(folder / "none", {"a"}));
  fs::remove(folder / "thesis.txt");
  REQUIRE(mkfifo((folder / "b").c_str(), 0600) == 0);
  CHECK_FALSE(HoldsOnly(folder.path(), {"a", "b"}));
}

}  // namespace
}  // namespace dtranspile::io
