// .npy: the header as NumPy writes it, both orders, parts, and files that are refused.
#include "runtime/io/npy.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <filesystem>
#include <numeric>

#include "test/corpus_path.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

using test::Slurp;
using test::Spill;
using test::TempFolder;

std::string File(int version, const std::string& dict, const std::string& data) {
  std::string out = "\x93NUMPY";
  out += {static_cast<char>(version), '\0', static_cast<char>(dict.size()),
          static_cast<char>(dict.size() >> 8)};
  if (version > 1) out += std::string(2, '\0');
  return out + dict + data;
}

std::string Dict(const std::string& descr, const std::string& shape,
                 const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': (" + shape + "), }\n";
}

absl::StatusOr<Tensor> Parse(const std::string& bytes) {
  absl::StatusOr<NpyFile> file = NpyFile::Open(OpenMemory("memory", bytes.data(), bytes.size()));
  if (!file.ok()) return file.status();
  return file->ReadAll();
}

std::string Message(const std::string& bytes) {
  return std::string(Parse(bytes).status().message());
}

std::string Doubles(std::vector<double> values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)};
}

TEST_CASE("the header is NumPy's") {
  const std::string header = NpyHeader(DType::kFloat32, {3, 4});
  CHECK(header.size() == 128);
  CHECK(header.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
  CHECK(header.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), } ");
  CHECK(header.back() == '\n');
  CHECK(NpyHeader(DType::kBool, {3}).find("'|b1', 'fortran_order': False, 'shape': (3,), }") !=
        std::string::npos);
  CHECK(NpyHeader(DType::kInt64, {}).find("'shape': (), }") != std::string::npos);
}

TEST_CASE("versions 1 to 3, keys in any order, the spelling of Python 2") {
  const std::string data = Doubles({1, 2});
  for (int version : {1, 2, 3}) {
    CAPTURE(version);
    const absl::StatusOr<Tensor> tensor = Parse(File(version, Dict("<f8", "2,"), data));
    REQUIRE(tensor.ok());
    CHECK(tensor->dims == std::vector<int64_t>{2});
    CHECK(tensor->as<double>()[1] == 2);
  }
  CHECK(Parse(File(1, "{\"shape\":(1L,2L),\"fortran_order\":False,\"descr\":\"f8\"}", data)).ok());
  CHECK(Parse(File(1, Dict("<f8", ""), Doubles({3})))->dims.empty());
}

TEST_CASE("Fortran order becomes row-major") {
  const absl::StatusOr<Tensor> tensor =
      Parse(File(1, Dict("<f8", "2, 3", "True"), Doubles({0, 3, 1, 4, 2, 5})));
  REQUIRE(tensor.ok());
  for (int i = 0; i < 6; ++i) CHECK(tensor->as<double>()[i] == i);
}

TEST_CASE("what no tensor can hold is refused by name") {
  const std::string data = Doubles({1});
  CHECK(Message(File(1, Dict(">f8", "1,"), data)).find("big-endian elements '>f8'") !=
        std::string::npos);
  CHECK(Message(File(1, Dict("|O", "1,"), data)).find("Python objects") != std::string::npos);
  CHECK(Message(File(1, Dict("<M8[s]", "1,"), data)).find("'<M8[s]'") != std::string::npos);
  CHECK(Message(File(1, "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", data))
            .find("structured") != std::string::npos);
}

TEST_CASE("broken files are refused") {
  const std::string data = Doubles({1});
  const std::string good = File(1, Dict("<f8", "1,"), data);
  for (size_t size = 0; size < good.size(); ++size) CHECK_FALSE(Parse(good.substr(0, size)).ok());
  CHECK_FALSE(Parse(good + "x").ok());
  for (const std::string& dict :
       {std::string("{}"), Dict("<f8", "-1,"), Dict("<f8", "9223372036854775808,"),
        Dict("<f8", "1 1"), Dict("<f8", "01,"), Dict("<f8", "00,"), Dict("<f8", "-01,"),
        Dict("<f8", "1"), Dict("<f8", "1L"), Dict("<f8", ","), Dict("<f8", "a,"),
        Dict("<f8", "1,", "Maybe"), Dict("<f8", "4294967296, 4294967296"), Dict("<f8", "1,") + "x",
        std::string("{'descr': '<f8"),
        std::string("{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}"),
        std::string("{'shape': (1,), 'fortran_order': False}"), std::string("{'x': 1}")}) {
    CAPTURE(dict);
    CHECK_FALSE(Parse(File(1, dict, data)).ok());
  }
  CHECK_FALSE(Parse(File(4, Dict("<f8", "1,"), data)).ok());
  CHECK(Message(File(2, std::string(60000, ' '), data)).find("'{' expected") != std::string::npos);
  std::string long_header = File(2, Dict("<f8", "1,"), data);
  long_header[10] = 1;
  CHECK(Message(long_header).find("at most 65536") != std::string::npos);
  std::string rank;
  for (int i = 0; i < 65; ++i) rank += "1,";
  CHECK(Message(File(1, Dict("<f8", rank), data)).find("more than 64 dimensions") !=
        std::string::npos);
}

TEST_CASE("boxes of C and Fortran files") {
  const TempFolder folder;
  Tensor all = *Tensor::Zeros(DType::kInt32, {3, 4, 5});
  std::iota(all.as<int32_t>(), all.as<int32_t>() + 60, 0);
  REQUIRE(WriteNpy(folder / "c.npy", all.view()).ok());
  std::string columns(240, '\0');
  for (int i = 0; i < 60; ++i) {
    const int at = (i / 20) + (i / 5 % 4) * 3 + (i % 5) * 12;
    std::memcpy(columns.data() + at * 4, &i, 4);
  }
  Spill(folder / "f.npy", File(1, Dict("<i4", "3, 4, 5", "True"), columns));
  for (const std::string name : {"c.npy", "f.npy"}) {
    const absl::StatusOr<NpyFile> file = NpyFile::Open(folder / name);
    REQUIRE(file.ok());
    CHECK(file->fortran_order() == (name == "f.npy"));
    std::vector<int32_t> out(8);
    REQUIRE(file->ReadBox({1, 1, 2}, {2, 2, 2}, out.data()).ok());
    CHECK(out == std::vector<int32_t>{27, 28, 32, 33, 47, 48, 52, 53});
    out.assign(10, 0);
    REQUIRE(file->ReadStep(2, 0, 1, 2, out.data()).ok());
    CHECK(out == std::vector<int32_t>{45, 46, 47, 48, 49, 50, 51, 52, 53, 54});
    out.assign(4, 0);
    REQUIRE(file->ReadStep(0, 1, 3, 1, out.data()).ok());
    CHECK(out == std::vector<int32_t>{3, 8, 13, 18});
    CHECK(file->ReadBox({0, 0, 0}, {0, 9, 1}, out.data()).code() == absl::StatusCode::kOutOfRange);
    CHECK(file->ReadBox({0, 0, 0}, {1, 1, 6}, out.data()).code() == absl::StatusCode::kOutOfRange);
    CHECK(file->ReadBox({0, 0}, {1, 1}, out.data()).code() == absl::StatusCode::kInvalidArgument);
    CHECK(file->ReadStep(3, 0, 0, 1, out.data()).code() == absl::StatusCode::kOutOfRange);
    CHECK(file->ReadStep(0, 2, 0, 1, out.data()).code() == absl::StatusCode::kOutOfRange);
    CHECK(file->ReadBox({0, 0, 0}, {0, 4, 5}, nullptr).ok());
  }
}

TEST_CASE("a box that spans more than a window is read row by row") {
  const TempFolder folder;
  Tensor all = *Tensor::Zeros(DType::kInt32, {3, 1 << 20});
  for (int i = 0; i < 3 << 20; ++i) all.as<int32_t>()[i] = i;
  REQUIRE(WriteNpy(folder / "x.npy", all.view()).ok());
  int32_t out[3];
  REQUIRE(NpyFile::Open(folder / "x.npy")->ReadBox({0, 77}, {3, 1}, out).ok());
  CHECK(out[0] == 77);
  CHECK(out[1] == (1 << 20) + 77);
  CHECK(out[2] == (2 << 20) + 77);
}

TEST_CASE("bfloat16 is uint16, in both directions") {
  const TempFolder folder;
  Tensor tensor = *Tensor::Zeros(DType::kBFloat16, {2});
  tensor.as<uint16_t>()[0] = 0x3f80;
  REQUIRE(WriteNpy(folder / "x.npy", tensor.view()).ok());
  CHECK(Slurp(folder / "x.npy").find("'<u2'") != std::string::npos);
  const absl::StatusOr<Tensor> back = ReadNpy(folder / "x.npy");
  REQUIRE(back.ok());
  CHECK(back->dtype == DType::kBFloat16);
  CHECK(back->as<uint16_t>()[0] == 0x3f80);
  CHECK(Parse(File(1, Dict("<V2", "1,"), "ab"))->dtype == DType::kBFloat16);
}

TEST_CASE("a stack grows by equal entries and is left only when it is full") {
  const TempFolder folder;
  const std::string path = folder / "x.npy";
  Tensor entry = *Tensor::Zeros(DType::kInt64, {2});
  absl::StatusOr<NpyStack> stack = NpyStack::Create(path, DType::kInt64, {2}, 2);
  REQUIRE(stack.ok());
  REQUIRE(stack->Append(entry.view()).ok());
  CHECK(stack->Finish().code() == absl::StatusCode::kFailedPrecondition);
  entry.as<int64_t>()[1] = 9;
  CHECK_FALSE(stack->Append(Tensor::Zeros(DType::kInt64, {3})->view()).ok());
  CHECK_FALSE(stack->Append(Tensor::Zeros(DType::kFloat64, {2})->view()).ok());
  REQUIRE(stack->Append(entry.view()).ok());
  CHECK_FALSE(stack->Append(entry.view()).ok());
  REQUIRE(stack->Finish().ok());
  const absl::StatusOr<Tensor> back = ReadNpy(path);
  REQUIRE(back.ok());
  CHECK(back->dims == std::vector<int64_t>{2, 2});
  CHECK(back->as<int64_t>()[3] == 9);
  {
    REQUIRE(NpyStack::Create(folder / "y.npy", DType::kInt64, {2}, 2)->Append(entry.view()).ok());
  }
  CHECK_FALSE(std::filesystem::exists(folder / "y.npy"));
}

TEST_CASE("every .npy of the corpora is read and written back the same") {
  namespace fs = std::filesystem;
  int files = 0;
  for (const std::string corpus : {"fluid18", "static26", "pir33", "ops"}) {
    for (const auto& entry : fs::recursive_directory_iterator(test::CorpusPath(corpus))) {
      if (!entry.is_regular_file() || entry.path().extension() != ".npy") continue;
      CAPTURE(entry.path());
      const absl::StatusOr<Tensor> tensor = ReadNpy(entry.path());
      REQUIRE(tensor.ok());
      const std::string bytes = NpyHeader(tensor->dtype, tensor->dims) +
                                std::string(reinterpret_cast<const char*>(tensor->bytes.data()),
                                            static_cast<size_t>(tensor->bytes.size()));
      REQUIRE(bytes == Slurp(entry.path()));
      ++files;
    }
  }
  CHECK(files > 9000);
}

}  // namespace
}  // namespace dtranspile::io
