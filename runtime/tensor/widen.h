// float32 data for a program in float64: every value of the one type is a value of the other. Used
// where files meet declarations (runtime/io, runtime/exec); the opposite way would lose digits and
// is an error there.
#pragma once

#include "absl/status/statusor.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile {

// Whether data of type `from` stand for a variable of type `to` as they are or widened.
inline bool FitsOrWidens(DType from, DType to) {
  return from == to || (from == DType::kFloat32 && to == DType::kFloat64);
}

// The tensor in type `to`; `tensor` itself where it is of that type already. The types must fit
// (FitsOrWidens).
absl::StatusOr<Tensor> Widened(Tensor tensor, DType to);

}  // namespace dtranspile
