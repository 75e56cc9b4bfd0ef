// What calls on complex numbers share: their parts, and places of what is broadcast.
#pragma once

#include <algorithm>
#include <vector>

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// visit(TypeTag<float or double>) by the parts of a complex buffer.
template <typename Visit>
int32_t VisitParts(OpCall& call, const DtBuffer& buffer, Visit&& visit) {
  switch (TypeOf(buffer)) {
    case DType::kComplex64: return visit(TypeTag<float>());
    case DType::kComplex128: return visit(TypeTag<double>());
    default:
      return call.Fail("'%s' has the element type %s, expected a complex one", buffer.name,
                       TypeName(buffer));
  }
}

// Where an element of a tensor of extents `dims` is found in one that is broadcast to them.
class Broadcast {
 public:
  Broadcast(absl::Span<const int64_t> dims, const DtBuffer& from)
      : Broadcast(dims, OpCall::Dims(from)) {}
  Broadcast(absl::Span<const int64_t> dims, absl::Span<const int64_t> from)
      : dims_(dims.begin(), dims.end()), strides_(dims.size(), 0) {
    int64_t stride = 1;
    for (size_t i = 0; i < from.size(); ++i) {
      const int64_t extent = from[from.size() - 1 - i];
      if (i < dims.size() && extent != 1) strides_[dims.size() - 1 - i] = stride;
      stride *= extent;
    }
  }

  int64_t operator()(int64_t element) const {
    int64_t at = 0;
    for (size_t d = dims_.size(); d-- > 0; element /= dims_[d])
      at += element % dims_[d] * strides_[d];
    return at;
  }

 private:
  std::vector<int64_t> dims_, strides_;
};

// Extents of the broadcast of two tensors, aligned at the right; false with a message where they do
// not fit.
inline bool BroadcastDims(OpCall& call, const DtBuffer& x, const DtBuffer& y,
                          std::vector<int64_t>& dims) {
  dims.assign(static_cast<size_t>(std::max(x.rank, y.rank)), 1);
  for (const DtBuffer* from : {&x, &y}) {
    for (int32_t i = 0; i < from->rank; ++i) {
      const int64_t extent = from->dims[from->rank - 1 - i];
      int64_t& to = dims[dims.size() - 1 - static_cast<size_t>(i)];
      if (to != 1 && extent != 1 && extent != to)
        return call.Fail("'%s' and '%s' cannot be broadcast to one another", x.name, y.name), false;
      if (extent != 1) to = extent;
    }
  }
  return true;
}

}  // namespace dtranspile::kernels
