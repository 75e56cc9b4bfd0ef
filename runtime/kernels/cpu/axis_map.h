// Tensors whose elements are those of another tensor, dim by dim: out[i0, i1, …] = x[m0[i0],
// m1[i1], …]. Slices, repetitions, paddings, flips, rolls, selections along an axis and their
// gradients are tables m and one of the three walks below; a kernel of ops/shape or ops/indexing
// only fills the tables.
#pragma once

#include <cstdint>
#include <type_traits>
#include <vector>

#include "absl/types/span.h"
#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

// Tables cost 8 bytes per position: dims that repetitions and paddings make are at most this long.
constexpr int64_t kMostPositions = int64_t{1} << 26;

struct AxisMap {
  // Extents of x, with extents of 1 in front where the result has more dims.
  std::vector<int64_t> x;
  // at[d][i]: position along dim d of x for position i of the result; -1: outside of x, the result
  // has `fill` there.
  std::vector<std::vector<int64_t>> at;
  // Extents of the result where they are not those of `at`: dims of extent 1 dropped or added, or
  // all dims made one.
  std::vector<int64_t> out;
  double fill = 0;

  // x as it is, in as many dims as it has.
  explicit AxisMap(absl::Span<const int64_t> dims = {});
  void Prepend(int64_t dims);  // dims of extent 1 in front
  std::vector<int64_t> Extents() const;
  std::vector<int64_t> OutDims() const { return out_given ? out : Extents(); }
  void SetOut(std::vector<int64_t> dims) { out = std::move(dims), out_given = true; }
  // Whether no position of x is used twice.
  bool Distinct() const;

  bool out_given = false;
};

// `dense` has the extents of the map, `x` those of map.x; both `size` bytes per element.
// dense = x[map], or fill (one element) outside.
int32_t GatherMapped(OpCall& call, const AxisMap& map, const void* x, void* dense, int64_t size,
                     const void* fill);
// x[map] = dense; the map is distinct.
int32_t PutMapped(OpCall& call, const AxisMap& map, const void* dense, void* x, int64_t size);
// x[map] += dense, in the order of dense whatever the number of threads; elements as of `type`.
int32_t AddMapped(OpCall& call, const AxisMap& map, const DtBuffer& type, const void* dense,
                  void* x);

// Dims of the map, aligned at the end with `target`: an extent of 1 becomes the target's, -1 keeps.
// False (with a message that says `name`) where they do not fit.
bool BroadcastTo(OpCall& call, const char* name, absl::Span<const int64_t> target, AxisMap& map);
// Positions 0 … extent - 1 of a dim, `times` times over.
bool RepeatDim(OpCall& call, const char* name, int64_t times, std::vector<int64_t>& at);

// A number as T, integers by way of int64; false (with a message) for what is no such integer.
template <typename T>
bool FromNumber(OpCall& call, const DtBuffer& like, double number, T& value) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    if (!(number > -9.2e18 && number < 9.2e18))
      return call.Fail("%g is no %s for '%s'", number, TypeName(like), like.name), false;
    value = static_cast<T>(static_cast<int64_t>(number));
  } else {
    value = static_cast<T>(number);
  }
  return true;
}

// A number as one element of that type; false (with a message) for types without numbers.
bool NumberTo(OpCall& call, const DtBuffer& like, double number, void* element);

// Elements of `from`, walked with `strides` (in elements) over `extents`, one after the other to
// `to`.
int32_t GatherStrided(OpCall& call, absl::Span<const int64_t> extents,
                      absl::Span<const int64_t> strides, const void* from, void* to, int64_t size);

// A kernel of one tensor by a map. `build` reads the attributes and tensors of the call and fills
// the map (false: it has left a message).
//   Mapped      slot 0 X … last slot Out
//   MappedGrad  slot 0 X … last but one Out@GRAD, last X@GRAD
using MapBuilder = bool (*)(OpCall& call, const DtBuffer& x, AxisMap& map);
int32_t RunMapped(OpCall& call, MapBuilder build);
int32_t RunMappedGrad(OpCall& call, MapBuilder build);

template <MapBuilder build>
int32_t Mapped(OpCall& call) {
  return RunMapped(call, build);
}

template <MapBuilder build>
int32_t MappedGrad(OpCall& call) {
  return RunMappedGrad(call, build);
}

// Numbers from a list of one-element tensors, one tensor, or an attribute, in this order of
// precedence. Slots below 0: none.
bool NumbersFrom(OpCall& call, int list_slot, int tensor_slot, absl::Span<const int64_t> attribute,
                 std::vector<int64_t>& values);

}  // namespace dtranspile::kernels
