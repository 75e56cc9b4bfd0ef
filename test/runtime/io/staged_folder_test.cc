// Folders that appear whole.
#include "runtime/io/staged_folder.h"

#include <catch2/catch.hpp>

#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using test::Slurp;
using test::Spill;
using test::TempFolder;

TEST_CASE("a folder takes its name when it is complete") {
  TempFolder folder;
  // A slash at the end, and folders that are not there yet.
  auto staged = StagedFolder::Create(folder / "a/b/");
  REQUIRE(staged.ok());
  Spill(staged->path() + "/file", "new");
  CHECK_FALSE(std::filesystem::exists(folder / "a/b"));
  REQUIRE(staged->Publish().ok());
  CHECK(Slurp(folder / "a/b/file") == "new");
  CHECK(std::distance(std::filesystem::directory_iterator(folder / "a"), {}) == 1);
}

TEST_CASE("without Publish nothing is left") {
  TempFolder folder;
  {
    auto staged = StagedFolder::Create(folder / "a");
    REQUIRE(staged.ok());
    Spill(staged->path() + "/file", "new");
  }
  CHECK(folder.entries() == 0);
}

TEST_CASE("what was there is replaced as a whole") {
  TempFolder folder;
  std::filesystem::create_directory(folder / "a");
  Spill(folder / "a/old", "old");
  auto staged = StagedFolder::Create(folder / "a");
  REQUIRE(staged.ok());
  CHECK(std::filesystem::exists(folder / "a/old"));
  REQUIRE(staged->Publish().ok());
  CHECK_FALSE(std::filesystem::exists(folder / "a/old"));
  CHECK(folder.entries() == 1);
}

TEST_CASE("names that others have are left alone") {
  TempFolder folder;
  auto first = StagedFolder::Create(folder / "a"), second = StagedFolder::Create(folder / "a");
  REQUIRE((first.ok() && second.ok()));
  CHECK(first->path() != second->path());
}

TEST_CASE("files are added to a folder when all of them are there") {
  TempFolder folder;
  Spill(folder / "kept", "kept");
  Spill(folder / "w", "old");
  auto staged = StagedFolder::CreateInside(folder.path());
  REQUIRE(staged.ok());
  std::filesystem::create_directory(staged->path() + "/sub");
  Spill(staged->path() + "/w", "new");
  Spill(staged->path() + "/sub/v", "v");
  CHECK(Slurp(folder / "w") == "old");
  REQUIRE(staged->Merge().ok());
  CHECK(Slurp(folder / "kept") == "kept");
  CHECK(Slurp(folder / "w") == "new");
  CHECK(Slurp(folder / "sub/v") == "v");
  CHECK(folder.entries() == 3);
}

TEST_CASE("a file that has no place moves none") {
  TempFolder folder;
  std::filesystem::create_directory(folder / "w");
  {
    auto staged = StagedFolder::CreateInside(folder.path());
    REQUIRE(staged.ok());
    Spill(staged->path() + "/a", "new");
    Spill(staged->path() + "/w", "new");
    const absl::Status status = staged->Merge();
    CHECK_FALSE(status.ok());
    CHECK(std::string(status.message()).find("is a folder") != std::string::npos);
  }
  CHECK(folder.entries() == 1);
}

TEST_CASE("a folder that was made for nothing goes again") {
  TempFolder folder;
  {
    REQUIRE(StagedFolder::CreateInside(folder / "a").ok());
  }
  CHECK_FALSE(std::filesystem::exists(folder / "a"));
  {
    auto staged = StagedFolder::CreateInside(folder / "a");
    REQUIRE(staged.ok());
    Spill(staged->path() + "/w", "");
    REQUIRE(staged->Merge().ok());
  }
  CHECK(std::filesystem::exists(folder / "a/w"));
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
}

TEST_CASE("a folder that cannot be made is an error") {
  TempFolder folder;
  Spill(folder / "file", "");
  CHECK_FALSE(StagedFolder::Create(folder / "file/a").ok());
}

}  // namespace
}  // namespace dtranspile::io
