// Names that stay inside, files that appear whole.
#include "runtime/io/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/io/bytes.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using test::Slurp;
using test::Spill;
using test::TempFolder;

TEST_CASE("names stay inside their folder") {
  CHECK(*PathInside("out", "fc_0.w_0") == "out/fc_0.w_0");
  CHECK(*PathInside("out", "a/b@GRAD") == "out/a/b@GRAD");
  CHECK(PathInside("out", "..w").ok());
  for (const std::string bad :
       {"", "/etc/passwd", "..", "../x", "a/../../x", "a//b", "a/", ".", "./a"}) {
    CAPTURE(bad);
    CHECK(PathInside("out", bad).status().code() == absl::StatusCode::kInvalidArgument);
  }
  CHECK_FALSE(PathInside("out", std::string("a\0b", 3)).ok());
}

TEST_CASE("sub-folders are made, links on the way are refused") {
  const TempFolder folder;
  const std::string out = folder / "new/out";
  REQUIRE(PrepareInside(out, "a/b/c").ok());
  CHECK(std::filesystem::is_directory(out + "/a/b"));
  std::filesystem::create_directory_symlink(folder.path(), out + "/link");
  CHECK(PrepareInside(out, "link/c").status().code() == absl::StatusCode::kInvalidArgument);
  Spill(out + "/file", "x");
  CHECK_FALSE(PrepareInside(out, "file/c").ok());
}

TEST_CASE("names that no file can have") {
  const TempFolder folder;
  const absl::Status status = PrepareInside(folder.path(), std::string(70000, 'k')).status();
  CHECK(status.code() == absl::StatusCode::kInvalidArgument);
  CHECK(status.message().size() < 300);
  CHECK_FALSE(PrepareInside(folder.path(), "a/" + std::string(256, 'k')).ok());
  CHECK(PrepareInside(folder.path(), "a/" + std::string(255, 'k')).ok());
}

TEST_CASE("a file that is not complete is removed") {
  const TempFolder folder;
  {
    absl::StatusOr<OutputFile> file = OutputFile::Create(folder / "x");
    REQUIRE(file.ok());
    REQUIRE(file->Write("new", 3).ok());
    CHECK(folder.entries() == 1);
  }
  CHECK(folder.entries() == 0);
  REQUIRE(WriteFile(folder / "x", "newer", 5).ok());
  REQUIRE(WriteFile(folder / "x", "new", 3).ok());
  CHECK(Slurp(folder / "x") == "new");
  CHECK(WriteFile(folder / "no/x", "", 0).code() == absl::StatusCode::kNotFound);
  std::filesystem::create_symlink(folder / "x", folder / "link");
  CHECK_FALSE(WriteFile(folder / "link", "y", 1).ok());
  CHECK(Slurp(folder / "x") == "new");
}

TEST_CASE("what a user names and is no file stays what it is") {
  const TempFolder folder;
  std::filesystem::create_symlink(folder / "target", folder / "link");
  for (const char* text : {"long", "new"}) {
    REQUIRE(CheckNamed(folder / "link").ok());
    REQUIRE(WriteNamed(folder / "link", text, static_cast<int64_t>(strlen(text))).ok());
    CHECK(Slurp(folder / "target") == text);
  }
  CHECK(std::filesystem::is_symlink(folder / "link"));
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  const int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(CheckNamed(folder / "pipe").ok());
  REQUIRE(WriteNamed(folder / "pipe", "x", 1).ok());
  char byte = 0;
  CHECK(read(reader, &byte, 1) == 1);
  CHECK(byte == 'x');
  close(reader);
  CHECK(std::filesystem::is_fifo(folder / "pipe"));
  CHECK(WriteNamed("/dev/null", "x", 1).ok());
  CHECK(absl::IsResourceExhausted(WriteNamed("/dev/full", "x", 1)));
  // A descriptor is written through, not replaced behind its owner's back.
  const int own = open((folder / "own").c_str(), O_WRONLY | O_CREAT, 0600);
  REQUIRE(WriteNamed("/proc/self/fd/" + std::to_string(own), "z", 1).ok());
  struct stat before, after;
  CHECK((fstat(own, &before) == 0 && stat((folder / "own").c_str(), &after) == 0 &&
         before.st_ino == after.st_ino));
  CHECK(Slurp(folder / "own") == "z");
  close(own);
  std::filesystem::remove(folder / "own");

  Spill(folder / "file", "old");
  REQUIRE(CheckNamed(folder / "file").ok());
  CHECK(Slurp(folder / "file") == "old");
  CHECK(CheckNamed(folder / "new").ok());
  CHECK(folder.entries() == 4);
  CHECK(CheckNamed(folder.path()).code() == absl::StatusCode::kInvalidArgument);
  CHECK(CheckNamed(folder / "no/x").code() == absl::StatusCode::kNotFound);
}

TEST_CASE("sources refuse what is not there") {
  const TempFolder folder;
  CHECK(OpenFile(folder / "none").status().code() == absl::StatusCode::kNotFound);
  CHECK(OpenFile(folder.path()).status().code() == absl::StatusCode::kInvalidArgument);
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  CHECK(OpenFile(folder / "pipe").status().code() == absl::StatusCode::kInvalidArgument);

  Spill(folder / "x", "0123456789");
  const std::unique_ptr<ByteSource> source = *OpenFile(folder / "x");
  char out[4];
  REQUIRE(source->ReadAt(6, 4, out).ok());
  CHECK(std::string(out, 4) == "6789");
  CHECK(source->ReadAt(7, 4, out).code() == absl::StatusCode::kDataLoss);
  CHECK_FALSE(source->ReadAt(-1, 1, out).ok());
  CHECK_FALSE(source->ReadAt(1, INT64_MAX, out).ok());
  std::filesystem::resize_file(folder / "x", 2);
  CHECK(source->ReadAt(6, 4, out).code() == absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace dtranspile::io
