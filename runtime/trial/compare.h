// Two tensors, element by element: floats within a tolerance, everything else exactly. Used by
// trial.cc.
#pragma once

#include <optional>
#include <string>

#include "runtime/tensor/tensor.h"

namespace dtranspile::trial {

// The element that differs most.
struct Apart {
  int64_t element = -1;  // -1: they differ in type or extents
  double got = 0, wanted = 0;
  double relative = 0;  // |got - wanted|, as a share of what it is held against
  std::string text;     // for messages: "element 3 is 0.5, not 0.25"
};

// Nothing where `got` is `scale` times `wanted` within `tolerance`; of floats a difference is held
// against the largest magnitude of `wanted`, or 1 where all are smaller. Not a number agrees with
// nothing.
std::optional<Apart> Compare(const TensorView& got, const TensorView& wanted, double scale,
                             double tolerance);

// Whether all elements are finite numbers.
bool IsFinite(const TensorView& tensor);

// Adds `from` to `to`, of the same type and extents: floats and integers.
bool AddTo(Tensor& to, const TensorView& from);

}  // namespace dtranspile::trial
