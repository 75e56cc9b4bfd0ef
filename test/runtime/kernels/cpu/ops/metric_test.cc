// Kernels of the families metric, loss and amp: what the corpus does not reach, and what is
// refused.
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>

#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

using Catch::Contains;

template <typename T>
Tensor<T> Of(std::vector<int64_t> dims, std::vector<T> values) {
  Tensor<T> tensor(std::move(dims));
  tensor.data = std::move(values);
  return tensor;
}

SlotCall Auc(Tensor<float>& scores, Tensor<int64_t>& labels, Tensor<int64_t>& positive,
             Tensor<int64_t>& negative) {
  SlotCall call("dt_auc");
  call.In(scores, "scores")
      .In(labels)
      .In(positive, "pos")
      .In(negative, "neg")
      .Out(DType::kFloat64)
      .Out(DType::kInt64)
      .Out(DType::kInt64);
  call.Text("ROC").Ints({3}).Ints({0});
  return call;
}

SlotCall Chunks(Tensor<int64_t>& found, Tensor<int64_t>& labels, Tensor<int64_t>& lengths,
                const char* scheme, int64_t types) {
  SlotCall call("dt_chunk_eval");
  call.In(found, "found").In(labels, "labels").In(lengths, "lengths");
  for (int k = 0; k < 3; ++k) call.Out(DType::kFloat32);
  for (int k = 0; k < 3; ++k) call.Out(DType::kInt64);
  call.Ints({types}).Text(scheme).Ints({});
  return call;
}

TEST_CASE("the area is half for scores that say nothing, and needs scores from 0 to 1") {
  auto scores = Of<float>({2, 1}, {0.5f, 0.5f});
  auto labels = Of<int64_t>({2, 1}, {0, 1});
  Tensor<int64_t> positive({4}), negative({4}), short_state({3});
  SlotCall even = Auc(scores, labels, positive, negative);
  REQUIRE(even.Run().ok());
  CHECK(even.Data<double>()[0] == 0.5);
  CHECK(even.Data<int64_t>(1) == std::vector<int64_t>{0, 1, 0, 0});
  CHECK_THAT(Auc(scores, labels, positive, short_state).Message(),
             Contains("'neg'") && Contains("expected 4"));
  for (float bad : {-0.1f, 1.1f, std::numeric_limits<float>::quiet_NaN()}) {
    scores[1] = bad;
    CHECK_THAT(Auc(scores, labels, positive, negative).Message(),
               Contains("'scores'") && Contains("sample 1"));
  }
}

// Two types. Chunks as (first, last, type).
TEST_CASE("chunks of the schemes") {
  auto lengths = Of<int64_t>({1}, {6});
  const auto counts = [&](const char* scheme, std::vector<int64_t> found,
                          std::vector<int64_t> labels) {
    auto a = Of<int64_t>({1, 6}, std::move(found)), b = Of<int64_t>({1, 6}, std::move(labels));
    SlotCall call = Chunks(a, b, lengths, scheme, 2);
    REQUIRE(call.Run().ok());
    return std::vector<int64_t>{call.Data<int64_t>(3)[0], call.Data<int64_t>(4)[0],
                                call.Data<int64_t>(5)[0]};
  };
  // IOB: B-0 I-0 B-0 O B-1 I-1 against B-0 I-0 I-0 O B-1 I-1.
  CHECK(counts("IOB", {0, 1, 0, 4, 2, 3}, {0, 1, 1, 4, 2, 3}) == std::vector<int64_t>{3, 2, 1});
  // IOE: I-0 E-0 E-0 O I-1 E-1 against the same.
  CHECK(counts("IOE", {0, 1, 1, 4, 2, 3}, {0, 1, 1, 4, 2, 3}) == std::vector<int64_t>{3, 3, 3});
  // IOBES: S-0 B-0 E-0 O B-1 E-1 against S-0 S-0 S-0 O B-1 E-1.
  CHECK(counts("IOBES", {3, 0, 2, 8, 4, 6}, {3, 3, 3, 8, 4, 6}) == std::vector<int64_t>{3, 4, 2});
  // plain: runs of one type.
  CHECK(counts("plain", {0, 0, 1, 1, 2, 0}, {0, 0, 1, 2, 2, 0}) == std::vector<int64_t>{3, 3, 2});
}

TEST_CASE("tags, lengths and schemes that are none are refused") {
  auto found = Of<int64_t>({1, 2}, {0, 5}), labels = Of<int64_t>({1, 2}, {0, 1}),
       lengths = Of<int64_t>({1}, {3});
  CHECK_THAT(Chunks(found, labels, lengths, "IOB", 2).Message(),
             Contains("'found'") && Contains("5") && Contains("0 to 4"));
  CHECK_THAT(Chunks(labels, labels, lengths, "IOB", 2).Message(),
             Contains("'lengths'") && Contains("3") && Contains("padded to 2"));
  CHECK_THAT(Chunks(labels, labels, lengths, "BIO", 2).Message(), Contains("'BIO'"));
}

TEST_CASE("classes out of range are refused") {
  auto found = Of<int32_t>({2}, {0, 3}), labels = Of<int32_t>({2}, {0, -1});
  SlotCall iou("dt_mean_iou"), other("dt_mean_iou");
  CHECK_THAT(iou.In(found, "found")
                 .In(labels)
                 .Slot()
                 .Slot()
                 .Slot()
                 .Out(DType::kFloat32)
                 .Out(DType::kInt32)
                 .Out(DType::kInt32)
                 .Ints({3})
                 .Message(),
             Contains("'found'") && Contains("class 3") && Contains("3 classes"));
  CHECK_THAT(other.In(labels, "labels")
                 .In(labels)
                 .Slot()
                 .Slot()
                 .Slot()
                 .Out(DType::kFloat32)
                 .Out(DType::kInt32)
                 .Out(DType::kInt32)
                 .Ints({3})
                 .Message(),
             Contains("'labels'") && Contains("class -1"));
  Tensor<float> x({2, 2}), centers({3, 2}), rate({1});
  auto classes = Of<int64_t>({2, 1}, {1, 3});
  SlotCall center("dt_center_loss");
  CHECK_THAT(center.In(x)
                 .In(classes, "ids")
                 .In(centers)
                 .In(rate)
                 .Out(DType::kFloat32)
                 .Out(DType::kFloat32)
                 .Out(DType::kFloat32)
                 .Ints({3})
                 .Ints({1})
                 .Message(),
             Contains("'ids'") && Contains("label 3") && Contains("3 clusters"));
}

TEST_CASE("gradients of half precision are scaled, and times zero from the first that is not finite") {
  // 2, 4 and infinity as float16.
  auto good = Of<uint16_t>({2}, {0x4000, 0x4400}), bad = Of<uint16_t>({1}, {0x7c00});
  auto scale = Of<float>({1}, {2});
  SlotCall call("dt_check_finite_and_unscale");
  call.In(good).With(bad).With(good).In(scale).Out(DType::kFloat16, 3).Out(DType::kBool);
  REQUIRE(call.Run().ok());
  CHECK(call.Data<uint16_t>(0) == std::vector<uint16_t>{0x3c00, 0x4000});
  CHECK((call.Data<uint16_t>(1)[0] & 0x7fff) == 0x7e00);
  CHECK(call.Data<uint16_t>(2) == std::vector<uint16_t>{0, 0});
  CHECK(call.Data<uint8_t>(3) == std::vector<uint8_t>{1});
}

}  // namespace
}  // namespace dtranspile::kernels
