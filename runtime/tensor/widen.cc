#include "runtime/tensor/widen.h"

#include <algorithm>

#include "runtime/base/status.h"

namespace dtranspile {

absl::StatusOr<Tensor> Widened(Tensor tensor, DType to) {
  if (tensor.dtype == to) return tensor;
  if (!FitsOrWidens(tensor.dtype, to))
    return absl::InternalError("only float32 widens, to float64");
  DT_ASSIGN_OR_RETURN(Tensor wide, Tensor::Zeros(to, tensor.dims));
  const int64_t count = tensor.view().bytes() / static_cast<int64_t>(sizeof(float));
  std::copy_n(tensor.as<float>(), count, wide.as<double>());
  wide.lod = std::move(tensor.lod);
  return wide;
}

}  // namespace dtranspile
