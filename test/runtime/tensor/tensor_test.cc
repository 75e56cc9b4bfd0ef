// Extents, views, and the cuts of ragged tensors.
#include "runtime/tensor/tensor.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <numeric>

#include "runtime/tensor/lod.h"
#include "runtime/tensor/widen.h"

namespace dtranspile {
namespace {

constexpr int64_t kBig = int64_t{1} << 40;

Tensor Counting(std::vector<int64_t> dims) {
  Tensor tensor = *Tensor::Zeros(DType::kInt64, std::move(dims));
  std::iota(tensor.as<int64_t>(), tensor.as<int64_t>() + tensor.bytes.size() / 8, 0);
  return tensor;
}

std::vector<int64_t> Values(const Tensor& tensor) {
  return {tensor.as<int64_t>(), tensor.as<int64_t>() + tensor.bytes.size() / 8};
}

TEST_CASE("element counts are checked") {
  CHECK(*ElementCount({}) == 1);
  CHECK(*ElementCount({2, 3, 4}) == 24);
  CHECK(*ElementCount({5, 0}) == 0);
  CHECK(*ElementCount({kBig, kBig, 0}) == 0);
  CHECK_FALSE(ElementCount({kBig, kBig}).ok());
  CHECK_FALSE(ElementCount({-1}).ok());
  CHECK_FALSE(ElementCount({0, -1}).ok());
  CHECK(*ByteCount(DType::kFloat16, {3}) == 6);
  CHECK_FALSE(ByteCount(DType::kFloat64, {kBig, int64_t{1} << 21}).ok());
  CHECK_FALSE(ByteCount(static_cast<DType>(99), {1}).ok());
}

TEST_CASE("memory is aligned, zero, and refused when there is none") {
  const Tensor tensor = *Tensor::Zeros(DType::kFloat32, {7});
  CHECK(reinterpret_cast<uintptr_t>(tensor.bytes.data()) % 64 == 0);
  CHECK(tensor.bytes.size() == 28);
  for (int i = 0; i < 7; ++i) CHECK(tensor.as<float>()[i] == 0.0f);
  CHECK(AlignedBytes::Zeros(INT64_MAX).status().code() == absl::StatusCode::kResourceExhausted);
  CHECK(AlignedBytes::Zeros(-1).status().code() == absl::StatusCode::kInvalidArgument);
  CHECK(Tensor::Zeros(DType::kFloat32, {0, 4})->bytes.size() == 0);
}

TEST_CASE("a view of rows is a view, and a clone is a copy") {
  const Tensor tensor = Counting({4, 3});
  const TensorView rows = *tensor.view().Rows(1, 2);
  CHECK(rows.dims == std::vector<int64_t>{2, 3});
  CHECK(rows.data == tensor.bytes.data() + 24);
  CHECK(rows.bytes() == 48);
  CHECK(Values(*Tensor::Copy(rows)) == std::vector<int64_t>{3, 4, 5, 6, 7, 8});
  CHECK(tensor.view().Rows(4, 0).ok());
  CHECK(tensor.view().Rows(3, 2).status().code() == absl::StatusCode::kOutOfRange);
  CHECK_FALSE(tensor.view().Rows(-1, 1).ok());
  CHECK_FALSE(tensor.view().Rows(0, INT64_MAX).ok());
  CHECK_FALSE(Counting({}).view().Rows(0, 1).ok());
  const Tensor clone = *tensor.Clone();
  CHECK(clone.bytes.data() != tensor.bytes.data());
  CHECK(Values(clone) == Values(tensor));
}

TEST_CASE("LoD levels must partition the rows") {
  CHECK(CheckLod({}, 5).ok());
  CHECK(CheckLod({{0, 2, 5}}, 5).ok());
  CHECK(CheckLod({{0, 1, 2}, {0, 2, 5}}, 5).ok());
  CHECK(CheckLod({{0, 0, 5}}, 5).ok());
  CHECK_FALSE(CheckLod({{0, 2, 4}}, 5).ok());
  CHECK_FALSE(CheckLod({{1, 5}}, 5).ok());
  CHECK_FALSE(CheckLod({{0, 3, 2, 5}}, 5).ok());
  CHECK_FALSE(CheckLod({{}}, 0).ok());
  CHECK_FALSE(CheckLod({{0, 3}, {0, 2, 5}}, 5).ok());
}

TEST_CASE("ragged tensors are cut by sequence") {
  Tensor tensor = Counting({6, 1});
  tensor.lod = {{0, 1, 3}, {0, 2, 3, 6}};
  CHECK(SequenceCount(tensor) == 2);
  const Tensor second = *SliceSequences(tensor, 1, 1);
  CHECK(second.lod == Lod{{0, 2}, {0, 1, 4}});
  CHECK(Values(second) == std::vector<int64_t>{2, 3, 4, 5});
  const Tensor none = *SliceSequences(tensor, 2, 0);
  CHECK(none.lod == Lod{{0}, {0}});
  CHECK(none.dims == std::vector<int64_t>{0, 1});
  CHECK(SliceSequences(tensor, 1, 2).status().code() == absl::StatusCode::kOutOfRange);
  tensor.lod = {{0, 9}};
  CHECK(SliceSequences(tensor, 0, 1).status().code() == absl::StatusCode::kInvalidArgument);
  tensor.lod.clear();
  CHECK(Values(*SliceSequences(tensor, 4, 2)) == std::vector<int64_t>{4, 5});
}

TEST_CASE("what is wrong with extents, sizes and levels is said") {
  const auto said = [](const absl::Status& status) { return std::string(status.message()); };
  CHECK(said(ElementCount({kBig, kBig}).status()) ==
        "the extents [1099511627776, 1099511627776] have more than 2^63 elements");
  CHECK(said(ElementCount({0, -1}).status()) == "negative extent -1");
  CHECK(said(ByteCount(DType::kFloat64, {kBig, int64_t{1} << 21}).status()) ==
        "float64[1099511627776, 2097152] has more than 2^63 bytes");
  CHECK(said(ByteCount(static_cast<DType>(99), {1}).status()) == "an element type without a size");
  CHECK(said(AlignedBytes::Zeros(-1).status()) == "negative size -1");
  CHECK(said(AlignedBytes::Zeros(INT64_MAX).status()) == "no memory for 9223372036854775807 bytes");
  const Tensor scalar = Counting({});
  CHECK(said(scalar.view().Rows(0, 1).status()) == "a tensor of rank 0 has no rows");
  CHECK(said(SliceSequences(scalar, 0, 1).status()) == "a tensor of rank 0 has no sequences");
  CHECK(said(CheckLod({{1, 5}}, 5)) == "LoD level 0 does not begin with offset 0");
  CHECK(said(CheckLod({{0, 3, 2, 5}}, 5)) == "LoD level 0 decreases at offset 2");
  CHECK(said(CheckLod({{0, 2, 4}}, 5)) == "LoD level 0 ends with 4, but there are 5 rows");
  CHECK(said(CheckLod({{0, 3}, {0, 2, 5}}, 5)) ==
        "LoD level 0 ends with 3, but there are 2 sequences in the next level");
  CHECK(said(Widened(Counting({2}), DType::kFloat64).status()) ==
        "only float32 widens, to float64");
}

}  // namespace
}  // namespace dtranspile
