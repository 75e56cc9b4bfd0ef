// Sets of element types: what signatures of library calls (signature.h) and tables of kernels
// (cpu/ops/families.h) say of arguments.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "runtime/base/dtype.h"

namespace dtranspile::kernels {

// Bit 1 << code.
using TypeSet = uint64_t;

constexpr TypeSet TypesOf(std::initializer_list<DType> types) {
  TypeSet set = 0;
  for (DType type : types) set |= TypeSet{1} << static_cast<int>(type);
  return set;
}

constexpr bool Holds(TypeSet set, DType type) { return (set & TypesOf({type})) != 0; }

// The choices of cpu/support.h and cpu/small_float.h.
constexpr TypeSet kBools = TypesOf({DType::kBool});
constexpr TypeSet kIndices = TypesOf({DType::kInt32, DType::kInt64});
constexpr TypeSet kWholes =
    kBools | kIndices | TypesOf({DType::kInt8, DType::kUInt8, DType::kInt16});
constexpr TypeSet kFloats = TypesOf({DType::kFloat32, DType::kFloat64});
constexpr TypeSet kAnyFloats = kFloats | TypesOf({DType::kFloat16, DType::kBFloat16});
constexpr TypeSet kNumbers = kFloats | kIndices;
constexpr TypeSet kPlain = kFloats | kWholes;
constexpr TypeSet kReals =
    kAnyFloats | kWholes | TypesOf({DType::kUInt32, DType::kUInt64, DType::kSizeT});
constexpr TypeSet kComplex = TypesOf({DType::kComplex64, DType::kComplex128});
constexpr TypeSet kAnyType = kReals | kComplex;  // moves elements or reads extents only

}  // namespace dtranspile::kernels
