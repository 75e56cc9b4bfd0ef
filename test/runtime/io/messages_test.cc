// What is said of files, folders and values that cannot be read or written: the whole sentence, its
// place in the file included.
#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>

#include "runtime/io/feed.h"
#include "runtime/io/filesystem.h"
#include "runtime/io/npy.h"
#include "runtime/io/npy_type.h"
#include "runtime/io/output.h"
#include "runtime/io/pickle.h"
#include "runtime/io/tensor_record.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using test::Spill;
using test::TempFolder;

std::string Said(const absl::Status& status) {
  return status.ok() ? "nothing" : std::string(status.message());
}

struct Case {
  std::string bytes, message;
};

Tensor Zeros(std::vector<int64_t> dims, DType dtype = DType::kFloat32) {
  return *Tensor::Zeros(dtype, std::move(dims));
}

}  // namespace

TEST_CASE("pickles that are none") {
  const std::string p = "\x80\x02";
  const Case kCases[] = {
      {"ab", "memory: does not begin as a pickle of protocol 2 to 5"},
      {p + "\xff.", "memory: offset 2: end of file: byte 0xff is no opcode"},
      {p + "}}.", "memory: offset 4: STOP: the pickle ends with 2 values instead of one"},
      {p + "\x85.", "memory: offset 2: TUPLE1: 1 values wanted, the stack has 0"},
      {p + "t.", "memory: offset 2: TUPLE: no mark on the stack"},
      {p + "}(K\x01u.", "memory: offset 6: SETITEMS: a key without a value"},
      {p + "}}\x93.", "memory: offset 4: STACK_GLOBAL: a name that is no text"},
      {p + "}r" + std::string("\xff\xff\xff\0", 4) + ".",
       "memory: offset 3: LONG_BINPUT: memo entry 16777215 of a file of 9 bytes"},
      {p + "}.xy", "memory: offset 4: 2 bytes after the pickle"},
      {p + "].", "memory: the state is list, not a dict"},
      {p + "}(K\x01K\x02u.", "memory: the state has a key that is int"},
      {p + std::string(2'000'000, ']') + ".",
       "memory: offset 732201: EMPTY_LIST: more than 732203 values, too many for a file of this "
       "size"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.bytes.substr(0, 20));
    CHECK(Said(ReadPickleState(*OpenMemory("memory", c.bytes.data(), c.bytes.size())).status()) ==
          c.message);
  }
}

TEST_CASE("descriptions of tensors that are none") {
  const TempFolder folder;
  // No levels of LoD, then the description.
  const std::string start(16, '\0');
  const auto said = [&](const std::string& description) {
    Spill(folder / "t",
          start + static_cast<char>(description.size()) + std::string(3, '\0') + description);
    return Said(ReadTensorFile(folder / "t").status());
  };
  std::string many = "\x08\x05";
  for (int i = 0; i < 65; ++i) many += "\x10\x01";
  const Case kCases[] = {
      {"\x08", "the tensor description breaks off or has a number of more than 10 bytes"},
      {"\x08" + std::string(11, '\xff'),
       "the tensor description breaks off or has a number of more than 10 bytes"},
      {"\x12\x05\x01", "the tensor description breaks off"},
      {"\x1b", "the tensor description has wire type 3"},
      {"\x10\x01", "the tensor description has no element type"},
      {"\x08\x63", "VarType code 99 is no element type"},
      {many, "a tensor of more than 64 dimensions"},
  };
  for (const Case& c : kCases) {
    CAPTURE(c.message);
    CHECK(said(c.bytes) ==
          folder / "t" + ": offset " + std::to_string(20 + c.bytes.size()) + ": " + c.message);
  }
  SelectedRows rows{{1, 2}, 9, Zeros({3, 4})};
  CHECK(Said(WriteSelectedRowsFile(folder / "rows", rows)) ==
        folder / "rows" + ": 2 rows with a value of float32[3, 4]");
}

TEST_CASE("parts of arrays that are not there") {
  const TempFolder folder;
  const std::string path = folder / "a.npy";
  REQUIRE(WriteNpy(path, Zeros({2, 3}).view()).ok());
  const absl::StatusOr<NpyFile> file = NpyFile::Open(path);
  REQUIRE(file.ok());
  float out[6];
  CHECK(Said(file->ReadBox({0, 2}, {2, 2}, out)) ==
        path + ": entries from 2, 2 of them, of dimension 1 of float32[2, 3]");
  CHECK(Said(file->ReadBox({0}, {2}, out)) == path + ": a part of rank 1 of float32[2, 3]");
  CHECK(Said(file->ReadStep(0, 1, 0, 1, out)) ==
        path + ": dimension 1 of an entry of float32[2, 3]");
  CHECK(Said(DTypeFromNumpy("<m8").status()) == "element type '<m8' has no counterpart");
}

TEST_CASE("stacks of arrays take what they were made for") {
  const TempFolder folder;
  const std::string path = folder / "s.npy";
  absl::StatusOr<NpyStack> stack = NpyStack::Create(path, DType::kFloat32, {3}, 1);
  REQUIRE(stack.ok());
  CHECK(Said(stack->Finish()) == path + ": 1 entries are missing");
  CHECK(Said(stack->Append(Zeros({4}).view())) ==
        path + ": an entry of float32[4] in a stack of float32[3]");
  REQUIRE(stack->Append(Zeros({3}).view()).ok());
  CHECK(Said(stack->Append(Zeros({3}).view())) == path + ": the stack is full");
}

TEST_CASE("feeds that are not there, and parts that they do not have") {
  const TempFolder folder;
  CHECK(Said(Feed::Open(folder.path(), "x").status()) ==
        "no values for feed 'x': neither " + folder.path() + "/x.npy nor " + folder.path() +
            "/x.step0.npy is there");
  REQUIRE(WriteNpy(folder / "d.npy", Zeros({1, 4}).view()).ok());
  const absl::StatusOr<Feed> dense = Feed::Open(folder.path(), "d");
  REQUIRE(dense.ok());
  float out[4];
  const std::string none = folder / "d.npy" + ": no dimension 1 in float32[4]";
  CHECK(Said(dense->ReadPart(0, 1, 0, 2).status()) == none);
  CHECK(Said(dense->ReadPartInto(0, 1, 0, 2, out)) == none);
  REQUIRE(WriteStep(folder / "r", 0, Zeros({4, 1}).view(), {{0, 1, 4}}).ok());
  const absl::StatusOr<Feed> ragged = Feed::Open(folder.path(), "r");
  REQUIRE(ragged.ok());
  CHECK(Said(ragged->ReadPart(0, 1, 0, 2).status()) ==
        folder / "r" + ": a ragged feed is cut in sequences only");
  CHECK(Said(ragged->ReadPartInto(0, 0, 0, 2, out)) ==
        folder / "r" + ": the size of a ragged feed is not known beforehand");
  CHECK(Said(ParseLodJson("r", "[[0, 1").status()) == "r: ']' expected at character 6");
}

TEST_CASE("paths that lead to something else") {
  const TempFolder folder;
  Spill(folder / "file", "");
  CHECK(Said(MakeFolders(folder / "file/below")) ==
        folder / "file" + ": is in the way, not a folder");
  std::filesystem::create_directory_symlink(folder.path(), folder / "link");
  CHECK(Said(PrepareInside(folder.path(), "link/a").status()) ==
        folder / "link" + ": is in the way, not a folder of this output");
  CHECK(Said(PathInside(folder.path(), "../a").status()) ==
        "variable name '../a' does not name a file inside " + folder.path());
  setenv("TMPDIR", (folder / "gone").c_str(), 1);
  CHECK(Said(TemporaryFolder().status()) ==
        "TMPDIR=" + folder / "gone" + ": is not there; set TMPDIR to a folder that is there");
  setenv("TMPDIR", (folder / "file").c_str(), 1);
  CHECK(Said(TemporaryFolder().status()) ==
        "TMPDIR=" + folder / "file" + ": is no folder; set TMPDIR to a folder that is there");
  unsetenv("TMPDIR");
}

}  // namespace dtranspile::io
