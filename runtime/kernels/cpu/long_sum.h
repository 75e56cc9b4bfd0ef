// Sums of many values in library calls: formed in a type that keeps the digits of its terms. Not
// for others.
#pragma once

#include <algorithm>
#include <type_traits>

#include "absl/types/span.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// What sums of T are formed in: float64 of floats, T itself of integers (which wrap).
template <typename T>
using Total = std::conditional_t<std::is_floating_point_v<T>, double, T>;

// So many values may be added one after the other in their own type.
constexpr int64_t kShortSum = 256;

// Adds rows of values to rows of a table: row at[i] += row i, in the order of i whatever the number
// of threads; what is below 0 goes nowhere. Rows that get more than kShortSum others have their
// total formed beside the table.
template <typename T>
class RowAdder {
 public:
  // `at` outlives it; memory is the call's scratch.
  RowAdder(OpCall& call, absl::Span<const int64_t> at, int64_t width, int64_t height)
      : call_(call), at_(at), width_(width), height_(height) {
    if (!std::is_floating_point_v<T> || static_cast<int64_t>(at.size()) <= kShortSum) return;
    total_of_ = Scratch<int64_t>(height);
    if (!ok_) return;
    std::fill_n(total_of_, height, 0);
    for (int64_t row : at)
      if (row >= 0) ++total_of_[row];
    for (int64_t row = 0; row < height; ++row)
      total_of_[row] = total_of_[row] > kShortSum ? frequent_++ : -1;
    if (frequent_ > 0) totals_ = Scratch<Total<T>>(frequent_ * width);
  }

  // False, with a message, without memory.
  bool Add(const T* from, T* to) const {
    if (!ok_) return call_.Fail("no memory for the totals of frequent rows"), false;
    Parallel(call_.context(), height_, GrainFor(width_ * static_cast<int64_t>(sizeof(T))),
             [&](int64_t lo, int64_t n) { AddWithin(lo, lo + n, from, to); });
    return true;
  }

 private:
  template <typename U>
  U* Scratch(int64_t count) {
    void* memory = dt_scratch(call_.context(), count * static_cast<int64_t>(sizeof(U)));
    ok_ &= memory != nullptr;
    return static_cast<U*>(memory);
  }

  // Where the total of a row stands; null for those that need none.
  Total<T>* TotalOf(int64_t row) const {
    return frequent_ == 0 || total_of_[row] < 0 ? nullptr : totals_ + total_of_[row] * width_;
  }

  // Rows [lo, end) of the table.
  void AddWithin(int64_t lo, int64_t end, const T* from, T* to) const {
    for (int64_t row = lo; row < end && frequent_ > 0; ++row)
      if (Total<T>* total = TotalOf(row)) std::copy_n(to + row * width_, width_, total);
    for (size_t i = 0; i < at_.size(); ++i) {
      const int64_t row = at_[i];
      if (row < lo || row >= end) continue;
      const T* values = from + static_cast<int64_t>(i) * width_;
      if (Total<T>* total = TotalOf(row)) AddTo(total, values);
      else AddTo(to + row * width_, values);
    }
    for (int64_t row = lo; row < end && frequent_ > 0; ++row)
      if (const Total<T>* total = TotalOf(row))
        std::transform(total, total + width_, to + row * width_,
                       [](Total<T> sum) { return static_cast<T>(sum); });
  }

  template <typename Sum>
  void AddTo(Sum* __restrict sum, const T* __restrict values) const {
    for (int64_t j = 0; j < width_; ++j) sum[j] = Plus<Sum>(sum[j], values[j]);
  }

  OpCall& call_;
  const absl::Span<const int64_t> at_;
  const int64_t width_, height_;
  bool ok_ = true;
  int64_t* total_of_ = nullptr;  // how often a row comes, then the number of its total or -1
  int64_t frequent_ = 0;
  Total<T>* totals_ = nullptr;
};

}  // namespace dtranspile::kernels
