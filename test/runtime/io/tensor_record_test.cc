// The framework's tensor files: bytes as specified, every corpus file read and written back, and
// broken ones refused.
#include "runtime/io/tensor_record.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>

#include "test/corpus_path.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using test::Slurp;
using test::Spill;
using test::TempFolder;

std::string Bytes(std::initializer_list<int> values) {
  std::string out;
  for (int value : values) out.push_back(static_cast<char>(value));
  return out;
}

absl::StatusOr<Tensor> Parse(const std::string& bytes) {
  const auto source = OpenMemory("memory", bytes.data(), bytes.size());
  Cursor cursor(*source);
  return ReadRecord(cursor);
}

absl::StatusOr<SelectedRows> ParseRows(const std::string& bytes) {
  const auto source = OpenMemory("memory", bytes.data(), bytes.size());
  Cursor cursor(*source);
  return ReadSelectedRowsRecord(cursor);
}

// float32 [2, 3], the example of the format's description.
std::string Example() {
  return std::string(16, '\0') + Bytes({6, 0, 0, 0, 8, 5, 16, 2, 16, 3}) + std::string(24, '\x01');
}

TEST_CASE("a record is read as specified") {
  const absl::StatusOr<Tensor> tensor = Parse(Example());
  REQUIRE(tensor.ok());
  CHECK(tensor->dtype == DType::kFloat32);
  CHECK(tensor->dims == std::vector<int64_t>{2, 3});
  CHECK(RecordHeader(DType::kFloat32, {2, 3}, {}) + std::string(24, '\x01') == Example());
}

TEST_CASE("packed extents and unknown fields are read") {
  const std::string desc = Bytes({8, 3, 18, 2, 2, 1, 26, 1, 7, 32, 9});
  const std::string bytes = std::string(16, '\0') +
                            Bytes({static_cast<int>(desc.size()), 0, 0, 0}) + desc +
                            std::string(16, 'x');
  const absl::StatusOr<Tensor> tensor = Parse(bytes);
  REQUIRE(tensor.ok());
  CHECK(tensor->dtype == DType::kInt64);
  CHECK(tensor->dims == std::vector<int64_t>{2, 1});
}

TEST_CASE("records survive a round trip") {
  const TempFolder folder;
  struct Case {
    DType dtype;
    std::vector<int64_t> dims;
    Lod lod;
  };
  const Case cases[] = {
      {DType::kFloat32, {}, {}},        {DType::kInt64, {0}, {}},
      {DType::kBool, {3}, {}},          {DType::kBFloat16, {2, 2}, {}},
      {DType::kComplex128, {1}, {}},    {DType::kInt64, {5, 1}, {{0, 1, 2}, {0, 2, 5}}},
      {DType::kUInt8, {1, 300, 1}, {}},
  };
  for (const Case& one : cases) {
    Tensor tensor = *Tensor::Zeros(one.dtype, one.dims);
    for (int64_t i = 0; i < tensor.bytes.size(); ++i)
      tensor.bytes.data()[i] = static_cast<std::byte>(i * 7);
    tensor.lod = one.lod;
    REQUIRE(WriteTensorFile(folder / "x", tensor).ok());
    const absl::StatusOr<Tensor> back = ReadTensorFile(folder / "x");
    REQUIRE(back.ok());
    CHECK(back->dtype == one.dtype);
    CHECK(back->dims == one.dims);
    CHECK(back->lod == one.lod);
    const absl::StatusOr<Tensor> described = ReadTensorFile(folder / "x", Elements::kSkip);
    REQUIRE(described.ok());
    CHECK(described->dtype == one.dtype);
    CHECK(described->dims == one.dims);
    CHECK(described->lod == one.lod);
    REQUIRE(back->bytes.size() == tensor.bytes.size());
    if (tensor.bytes.size() > 0) {
      CHECK(std::memcmp(back->bytes.data(), tensor.bytes.data(),
                        static_cast<size_t>(tensor.bytes.size())) == 0);
    }
  }
}

TEST_CASE("SelectedRows with repeated rows survive a round trip") {
  const TempFolder folder;
  SelectedRows rows{{7, 2, 7}, 10, *Tensor::Zeros(DType::kFloat32, {3, 2})};
  rows.value.as<float>()[5] = 2.5f;
  REQUIRE(WriteSelectedRowsFile(folder / "x", rows).ok());
  const absl::StatusOr<SelectedRows> back = ReadSelectedRowsFile(folder / "x");
  REQUIRE(back.ok());
  CHECK(back->rows == rows.rows);
  CHECK(back->height == 10);
  CHECK(back->value.dims == std::vector<int64_t>{3, 2});
  CHECK(back->value.as<float>()[5] == 2.5f);
  CHECK(Slurp(folder / "x").size() == 4 + 8 + 24 + 8 + 4 + 4 + 6 + 24);
  rows.rows.pop_back();
  CHECK_FALSE(WriteSelectedRowsFile(folder / "x", rows).ok());
}

TEST_CASE("broken records are refused") {
  const std::string good = Example();
  // Every prefix is too short.
  for (size_t size = 0; size < good.size(); ++size) {
    CAPTURE(size);
    CHECK_FALSE(Parse(good.substr(0, size)).ok());
  }
  const auto with = [&](size_t at, int value) {
    std::string bytes = good;
    bytes[at] = static_cast<char>(value);
    return Parse(bytes).status();
  };
  CHECK(std::string(with(0, 1).message()).find("record version 1") != std::string::npos);
  CHECK_FALSE(with(11, 0x7f).ok());  // levels
  CHECK_FALSE(with(12, 1).ok());     // tensor version
  CHECK_FALSE(with(19, 0x80).ok());  // a negative length
  CHECK_FALSE(with(21, 7).ok());     // a kind, not an element type
  CHECK_FALSE(with(21, 33).ok());    // fp8
  CHECK_FALSE(with(20, 24).ok());    // no element type
  CHECK_FALSE(with(25, 100).ok());   // more elements than bytes
  CHECK_FALSE(with(24, 0x13).ok());  // a group
  const auto huge = [&](const std::string& desc) {
    return Parse(std::string(16, '\0') + Bytes({static_cast<int>(desc.size()), 0, 0, 0}) + desc)
        .status();
  };
  const std::string big = "\x10\xff\xff\xff\xff\xff\xff\xff\xff\x7f";
  CHECK_THAT(std::string(huge("\x08\x05" + big).message()), Catch::Contains("2^63 bytes"));
  CHECK_FALSE(huge("\x08\x05" + big + big).ok());
  const std::string minus_one = "\x10\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01";
  CHECK(std::string(huge("\x08\x05" + minus_one).message()).find("negative extent -1") !=
        std::string::npos);
  std::string many = "\x08\x05";
  for (int i = 0; i < 60; ++i) many += "\x10\x01";
  CHECK_FALSE(huge(many + many).ok());
}

TEST_CASE("illegal LoD is refused with its level") {
  const std::string tail = Bytes({0, 0, 0, 0, 4, 0, 0, 0, 8, 20, 16, 3}) + "abc";
  const auto parse = [&](int bytes, int last) {
    std::string level = Bytes({0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, bytes, 0, 0, 0, 0, 0, 0, 0});
    level += std::string(8, '\0') + Bytes({last, 0, 0, 0, 0, 0, 0, 0});
    return Parse(level + tail).status();
  };
  CHECK(parse(16, 3).ok());
  CHECK(std::string(parse(16, 2).message()).find("level 0 ends with 2") != std::string::npos);
  CHECK_FALSE(parse(15, 3).ok());
  CHECK_FALSE(parse(0x78, 3).ok());
}

TEST_CASE("broken SelectedRows are refused") {
  const std::string value = Bytes({0, 0, 0, 0, 6, 0, 0, 0, 8, 20, 16, 1, 16, 2}) + "ab";
  const auto parse = [&](int count, int row, int height) {
    return ParseRows(Bytes({0, 0, 0, 0, count, 0, 0,      0, 0, 0, 0, 0, row, 0,
                            0, 0, 0, 0, 0,     0, height, 0, 0, 0, 0, 0, 0,   0}) +
                     value)
        .status();
  };
  CHECK(parse(1, 3, 4).ok());
  CHECK_FALSE(parse(1, 4, 4).ok());
  CHECK_FALSE(parse(0, 0, 4).ok());
  CHECK_FALSE(parse(99, 3, 4).ok());
}

TEST_CASE("trailing bytes are refused") {
  const TempFolder folder;
  Spill(folder / "x", Example() + "!");
  const absl::Status status = ReadTensorFile(folder / "x").status();
  CHECK(std::string(status.message()).find("x: offset 50: 1 bytes after the last tensor") !=
        std::string::npos);
}

TEST_CASE("combined files follow the byte order of the names") {
  const TempFolder folder;
  std::map<std::string, Tensor> tensors;
  std::map<std::string, TensorView> views;
  std::vector<Expected> expected;
  int64_t extent = 1;
  // Not the order of writing: upper case first, '_' next, digits of a10 before a2.
  for (const std::string name : {"a10", "b_1", "a2", "B1"}) {
    tensors.emplace(name, *Tensor::Zeros(DType::kInt32, {extent++}));
    tensors.at(name).as<int32_t>()[0] = static_cast<int32_t>(extent);
    views.emplace(name, tensors.at(name).view());
    expected.push_back({name, DType::kInt32, tensors.at(name).dims});
  }
  REQUIRE(WriteCombined(folder / "x", views).ok());
  const std::string bytes = Slurp(folder / "x");
  CHECK(static_cast<int>(bytes[23]) == 4);  // the extent of B1

  expected.push_back(expected[1]);  // names count once
  const auto back = ReadCombined(folder / "x", expected);
  REQUIRE(back.ok());
  REQUIRE(back->size() == 4);
  CHECK(back->at("a2").as<int32_t>()[0] == 4);

  const auto message = [&](const std::vector<Expected>& wanted) {
    return std::string(ReadCombined(folder / "x", wanted).status().message());
  };
  CHECK(message({expected[0], expected[1], expected[2]})
            .find("record 0 is int32[4], but 'a10' is int32[1]") != std::string::npos);
  std::vector<Expected> more = expected;
  more.push_back({"c", DType::kInt32, {1}});
  CHECK(message(more).find("the program has 5 persistables, the next one is 'c'") !=
        std::string::npos);
  CHECK(message({expected[3]}).find("bytes after the last tensor") != std::string::npos);
  expected[0].dtype = DType::kInt64;
  CHECK(message(expected).find("'a10'") != std::string::npos);
  Spill(folder / "x", bytes.substr(0, bytes.size() - 1));
  expected[0].dtype = DType::kInt32;
  CHECK(message(expected).find("'b_1'") != std::string::npos);
}

TEST_CASE("every tensor file of the corpora is read and written back the same") {
  namespace fs = std::filesystem;
  const TempFolder folder;
  int files = 0;
  for (const std::string corpus : {"fluid18", "static26", "pir33", "ops"}) {
    for (const auto& entry : fs::recursive_directory_iterator(test::CorpusPath(corpus))) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || path.find("/init/") == std::string::npos) continue;
      CAPTURE(path);
      const absl::StatusOr<Tensor> tensor = ReadTensorFile(path);
      REQUIRE(tensor.ok());
      const std::string bytes = RecordHeader(tensor->dtype, tensor->dims, tensor->lod) +
                                std::string(reinterpret_cast<const char*>(tensor->bytes.data()),
                                            static_cast<size_t>(tensor->bytes.size()));
      REQUIRE(bytes == Slurp(path));
      ++files;
    }
  }
  CHECK(files > 2000);
}

}  // namespace
}  // namespace dtranspile::io
