// What the recurrent kernels of this folder share: the order in which the rows of a ragged batch
// are computed, activations by name, scratch.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/gemm.h"
#include "runtime/kernels/cpu/op_call.h"
#include "runtime/kernels/cpu/sequences.h"

namespace dtranspile::kernels {

// Rows of sequences ordered by time step (sequence2batch of the framework): longer sequences first,
// so that those which go on are the first ones of every step. Intermediate outputs (BatchGate …)
// have their rows in this order.
struct Steps {
  std::vector<int64_t> sequences;  // their numbers, longer ones first, equal ones as they come
  std::vector<int64_t> starts;     // step n has the places [starts[n], starts[n + 1])
  std::vector<int64_t> rows;       // the row of the ragged tensor at each place

  int64_t count() const { return static_cast<int64_t>(starts.size()) - 1; }
  int64_t begin(int64_t n) const { return starts[static_cast<size_t>(n)]; }
  int64_t size(int64_t n) const { return begin(n + 1) - begin(n); }
  int64_t total() const { return static_cast<int64_t>(rows.size()); }
};

inline Steps StepsOf(const Offsets& offsets, bool reverse) {
  Steps steps;
  const int64_t count = CountOf(offsets);
  for (int64_t i = 0; i < count; ++i) steps.sequences.push_back(i);
  std::sort(steps.sequences.begin(), steps.sequences.end(), [&](int64_t a, int64_t b) {
    const int64_t at_a = LengthAt(offsets, a), at_b = LengthAt(offsets, b);
    return at_a > at_b || (at_a == at_b && a < b);
  });
  steps.starts = {0};
  for (int64_t n = 0; n < LongestOf(offsets); ++n) {
    for (int64_t i : steps.sequences) {
      if (LengthAt(offsets, i) <= n) break;
      const int64_t first = offsets[static_cast<size_t>(i)];
      steps.rows.push_back(reverse ? first + LengthAt(offsets, i) - 1 - n : first + n);
    }
    steps.starts.push_back(steps.total());
  }
  return steps;
}

// to[place] = from[row of that place], or back: rows of `width` elements.
template <typename T>
void ToSteps(const Steps& steps, const T* from, int64_t width, T* to) {
  for (int64_t k = 0; k < steps.total(); ++k)
    std::copy_n(from + steps.rows[static_cast<size_t>(k)] * width, width, to + k * width);
}
template <typename T>
void FromSteps(const Steps& steps, const T* from, int64_t width, T* to) {
  for (int64_t k = 0; k < steps.total(); ++k)
    std::copy_n(from + k * width, width, to + steps.rows[static_cast<size_t>(k)] * width);
}

enum class Activation { kIdentity, kSigmoid, kTanh, kRelu };

inline bool ActivationOf(OpCall& call, int attr, Activation& activation) {
  constexpr struct {
    std::string_view name;
    Activation activation;
  } kNames[] = {{"sigmoid", Activation::kSigmoid},
                {"tanh", Activation::kTanh},
                {"relu", Activation::kRelu},
                {"identity", Activation::kIdentity},
                {"", Activation::kIdentity}};
  const std::string_view wanted = call.Text(attr);
  for (const auto& row : kNames) {
    if (row.name == wanted) return activation = row.activation, true;
  }
  return call.Fail("activation '%.*s' is not supported", static_cast<int>(wanted.size()),
                   wanted.data()),
         false;
}

template <typename T>
T Activate(Activation activation, T x) {
  switch (activation) {
    case Activation::kSigmoid: return T{1} / (T{1} + std::exp(-x));
    case Activation::kTanh: return std::tanh(x);
    case Activation::kRelu: return x > 0 ? x : T{0};
    default: return x;
  }
}

// The gradient before an activation, from that after it and the activation's result.
template <typename T>
T Deactivate(Activation activation, T gradient, T y) {
  switch (activation) {
    case Activation::kSigmoid: return gradient * y * (T{1} - y);
    case Activation::kTanh: return gradient * (T{1} - y * y);
    case Activation::kRelu: return y > 0 ? gradient : T{0};
    default: return gradient;
  }
}

// Memory until the call returns; extents were those of arguments, so their product does not
// overflow.
template <typename T>
T* Scratch(OpCall& call, int64_t elements) {
  return static_cast<T*>(
      dt_scratch(call.context(), std::max<int64_t>(elements, 1) * static_cast<int64_t>(sizeof(T))));
}

// Memory of [rows, width] for an output, or scratch where nobody reads it; null after a message.
template <typename T>
T* OutputOrScratch(OpCall& call, int slot, int64_t rows, int64_t width) {
  if (!call.Has(slot)) return Scratch<T>(call, rows * width);
  return call.Resize(call.Arg(slot), {rows, width}) ? Data<T>(call.Arg(slot)) : nullptr;
}

// Whether an argument is [rows, columns]; leaves a message if not.
inline bool CheckMatrix(OpCall& call, const DtBuffer& buffer, int64_t rows, int64_t columns) {
  if (buffer.rank == 2 && buffer.dims[0] == rows && buffer.dims[1] == columns) return true;
  call.Fail("'%s' must be [%lld, %lld]", buffer.name, static_cast<long long>(rows),
            static_cast<long long>(columns));
  return false;
}

// Sums of columns of [rows, width], added to `to`.
template <typename T>
void AddColumnSums(const T* from, int64_t rows, int64_t width, int64_t stride, T* to) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < width; ++j) to[j] += from[i * stride + j];
}

}  // namespace dtranspile::kernels
