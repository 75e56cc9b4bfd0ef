// What the library calls of this folder share: checks of a call's arguments, loops over threads,
// choice of a type. Not for others.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "runtime/base/dtype.h"
#include "runtime/exec/abi.h"

namespace dtranspile::kernels {

// Whether every buffer of the call is in host memory and has valid extents. Leaves a message if
// not.
bool CheckCall(DtContext* context, const DtCall* call);

// Product of the extents (checked by CheckCall not to overflow).
int64_t Elements(const DtBuffer& buffer);
// Product of the extents [from, to).
int64_t Elements(const DtBuffer& buffer, int32_t from, int32_t to);

// Whether the extents agree.
bool SameShape(const DtBuffer& a, const DtBuffer& b);

inline DType TypeOf(const DtBuffer& buffer) { return static_cast<DType>(buffer.dtype); }
inline const char* TypeName(const DtBuffer& buffer) { return NameOf(TypeOf(buffer)); }
inline int64_t ElementSize(const DtBuffer& buffer) {
  return static_cast<int64_t>(SizeOf(TypeOf(buffer)));
}

template <typename T>
T* Data(const DtBuffer& buffer) {
  return static_cast<T*>(buffer.data);
}

// body(lo, n) over [0, extent) on the threads of the context.
template <typename Body>
void Parallel(DtContext* context, int64_t extent, int64_t grain, Body&& body) {
  using Plain = std::remove_reference_t<Body>;
  dt_parallel(
      context, extent, grain,
      [](void* arg, int64_t lo, int64_t n) { (*static_cast<Plain*>(arg))(lo, n); },
      const_cast<std::remove_const_t<Plain>*>(&body));
}

template <typename T>
struct TypeTag {
  using type = T;
};

// visit(TypeTag<T>) for float32 and float64; a message for any other.
template <typename Visit>
int32_t VisitFloat(DtContext* context, const DtBuffer& buffer, Visit&& visit) {
  switch (TypeOf(buffer)) {
    case DType::kFloat32: return visit(TypeTag<float>());
    case DType::kFloat64: return visit(TypeTag<double>());
    default:
      return dt_fail(context, "element type %s, expected float32 or float64", TypeName(buffer));
  }
}

// visit(TypeTag<T>) for int32 and int64; a message for any other.
template <typename Visit>
int32_t VisitIndex(DtContext* context, const DtBuffer& buffer, Visit&& visit) {
  switch (TypeOf(buffer)) {
    case DType::kInt32: return visit(TypeTag<int32_t>());
    case DType::kInt64: return visit(TypeTag<int64_t>());
    default:
      return dt_fail(context, "element type %s of indices, expected int32 or int64",
                     TypeName(buffer));
  }
}

// visit(TypeTag<T>) for the four types that arithmetic calls know; a message for any other.
template <typename Visit>
int32_t VisitNumber(DtContext* context, const DtBuffer& buffer, Visit&& visit) {
  switch (TypeOf(buffer)) {
    case DType::kFloat32: return visit(TypeTag<float>());
    case DType::kFloat64: return visit(TypeTag<double>());
    case DType::kInt32: return visit(TypeTag<int32_t>());
    case DType::kInt64: return visit(TypeTag<int64_t>());
    default:
      return dt_fail(context, "element type %s, expected float32, float64, int32 or int64",
                     TypeName(buffer));
  }
}

// visit(TypeTag<T>) for every type that C++ has: floats, integers of all widths, bool; a message
// for any other.
template <typename Visit>
int32_t VisitPlain(DtContext* context, const DtBuffer& buffer, Visit&& visit) {
  switch (TypeOf(buffer)) {
    case DType::kFloat32: return visit(TypeTag<float>());
    case DType::kFloat64: return visit(TypeTag<double>());
    case DType::kBool: return visit(TypeTag<bool>());
    case DType::kInt8: return visit(TypeTag<int8_t>());
    case DType::kUInt8: return visit(TypeTag<uint8_t>());
    case DType::kInt16: return visit(TypeTag<int16_t>());
    case DType::kInt32: return visit(TypeTag<int32_t>());
    case DType::kInt64: return visit(TypeTag<int64_t>());
    default:
      return dt_fail(context, "element type %s, expected a float, an integer or bool",
                     TypeName(buffer));
  }
}

// a + b; integers wrap, as the framework's do.
template <typename T>
T Plus(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  else return a + b;
}

// Whether a stands before b where larger numbers come first and NaN last: an order for sorting.
template <typename T>
bool Larger(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    if (a != a || b != b) return a == a;
  }
  return a > b;
}

// A number as an integer, its fraction cut off. What the 32 bits (of integers of 64, the 64 bits)
// that it is converted in do not hold, NaN among it, becomes the smallest number of these, as in
// generated kernels (compiler/lower/kernel/emit_integers.cc).
template <typename To, typename From>
To ToInteger(From value) {
  using Bits =
      std::conditional_t<(sizeof(To) > 4 || std::is_same_v<To, uint32_t>), int64_t, int32_t>;
  constexpr Bits kLeast = std::numeric_limits<Bits>::min();
  const From least = static_cast<From>(kLeast);
  return static_cast<To>(value >= least && value < -least ? static_cast<Bits>(value) : kLeast);
}

// Smallest part of a loop that is worth a second thread, when one item costs about `bytes` of
// memory traffic.
inline int64_t GrainFor(int64_t bytes) {
  constexpr int64_t kWorthAThread = 32 << 10;
  return bytes <= 0 ? kWorthAThread : (kWorthAThread + bytes - 1) / bytes;
}

}  // namespace dtranspile::kernels
