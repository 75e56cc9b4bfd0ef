// Sums of many values in library calls: their error against float64 and their bits for any number
// of threads. Kernels of formulas: test/compiler/lower/kernel/sums_test.cc.
#include <catch2/catch.hpp>
#include <functional>

#include "test/runtime/kernels/cpu/ops/bag.h"
#include "test/runtime/kernels/cpu/ops/slot_call.h"

namespace dtranspile::kernels {
namespace {

using Floats = std::vector<float>;

// 256 additions one after the other (long_sum.h), and the rounding of the result.
constexpr double kBound = 257 * 0x1p-24;

Floats Tenths(int64_t count) { return Floats(static_cast<size_t>(count), 0.1f); }

void CheckSums(const Floats& sums, const std::vector<double>& exact) {
  REQUIRE(sums.size() == exact.size());
  for (size_t i = 0; i < sums.size(); ++i) {
    INFO("sum " << i);
    CHECK(std::fabs(sums[i] - exact[i]) <= kBound * std::fabs(exact[i]));
  }
}

// Of the rows 0 … 4 of a table row 3 is looked up `count` times, the others once.
std::vector<int64_t> FrequentRow(int64_t count) {
  std::vector<int64_t> rows = {0, 1, 2, 4};
  rows.insert(rows.begin() + 2, static_cast<size_t>(count), 3);
  return rows;
}

TEST_CASE("gradients of a row that is looked up often, whatever the threads") {
  for (int64_t count : {1, 256, 257, 3000000}) {
    Tensor<int64_t> rows({count + 4});
    rows.data = FrequentRow(count);
    Tensor<float> table({5, 1});
    Tensor<float> gradient({count + 4, 1}, 0.1f);
    const double one = 0.1f, many = static_cast<double>(count) * one;
    std::vector<Floats> results;
    for (int threads : {1, 2, 3}) {
      SlotCall call("dt_lookup_table_grad");
      call.In(table).In(rows).In(gradient).Out(DType::kFloat32).Ints({-1});
      REQUIRE(call.Run(threads).ok());
      results.push_back(call.Data<float>());
    }
    CheckSums(results[0], {one, one, one, many, one});
    CHECK(results[0] == results[1]);
    CHECK(results[0] == results[2]);
  }
}

TEST_CASE("rows that are gathered, and SelectedRows that are merged") {
  const int64_t count = 2000000;
  Bag bag;
  bag.Put<float>("X", {5, 1}, Floats(5));
  bag.Put<int64_t>("Index", {count + 4}, FrequentRow(count));
  bag.Put<float>("G", {count + 4, 1}, Tenths(count + 4));
  const double one = 0.1f, many = static_cast<double>(count) * one;
  REQUIRE(bag.Run("dt_gather_grad", {"X", "Index", "", "G"}, {"dX:float"},
                  Attributes().Int(0).Int(0).Int(2006002).Int(0))
              .ok());
  CheckSums(bag.Data<float>("dX"), {one, one, one, many, one});
  bag.at("G").kind = exec::Value::Kind::kRows;
  bag.at("G").rows = FrequentRow(count);
  bag.at("G").height = 5;
  exec::Value merged(exec::Value::Kind::kRows, DType::kFloat32);
  SlotCall call("dt_merge_selected_rows");
  call.Slot().With(bag.at("G")).Slot().With(merged);
  REQUIRE(call.Run().ok());
  CHECK(merged.rows == std::vector<int64_t>{0, 1, 2, 3, 4});
  CheckSums({merged.as<float>(), merged.as<float>() + 5}, {one, one, one, many, one});
}

TEST_CASE("what was repeated by expand is summed up") {
  const int64_t count = 1500000;
  Bag bag;
  bag.Put<float>("X", {2, 1}, Floats(2));
  bag.Put<float>("G", {2, count}, Tenths(2 * count));
  REQUIRE(bag.Run("dt_expand_grad", {"X", "", "", "G"}, {"dX:float"}, Attributes().Ints({2, count}))
              .ok());
  const double many = static_cast<double>(count) * 0.1f;
  CheckSums(bag.Data<float>("dX"), {many, many});
}

TEST_CASE("sums up to every place, and of a long sequence") {
  const int64_t count = 3000000;
  Bag bag;
  bag.Put<float>("X", {count, 1}, Tenths(count), {{0, static_cast<size_t>(count)}});
  REQUIRE(
      bag.Run("dt_cumsum", {"X"}, {"Out:float"}, Attributes().Int(0).Int(0).Int(0).Int(0)).ok());
  const Floats sums = bag.Data<float>("Out");
  const double many = static_cast<double>(count) * 0.1f;
  CheckSums({sums[999], sums.back()}, {1000 * double{0.1f}, many});
  REQUIRE(bag.Run("dt_sequence_pool", {"X"}, {"Pooled:float", "Index:int32"},
                  Attributes().Text("SUM").Real(0))
              .ok());
  CheckSums(bag.Data<float>("Pooled"), {many});
}

}  // namespace
}  // namespace dtranspile::kernels
