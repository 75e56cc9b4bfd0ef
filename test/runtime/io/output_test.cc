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

TEST_CASE("a file appears at commit, and nothing is left without") {
  const TempFolder folder;
  const std::string path = folder / "x";
  Spill(path, "old");
  {
    absl::StatusOr<AtomicFile> file = AtomicFile::Create(path);
    REQUIRE(file.ok());
    REQUIRE(file->Write("new", 3).ok());
    CHECK(Slurp(path) == "old");
    CHECK(folder.entries() == 2);
  }
  CHECK(Slurp(path) == "old");
  CHECK(folder.entries() == 1);
  REQUIRE(WriteFile(path, "newer", 5).ok());
  CHECK(Slurp(path) == "newer");
  CHECK(folder.entries() == 1);
  CHECK(WriteFile(folder / "no/x", "", 0).code() == absl::StatusCode::kNotFound);
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
