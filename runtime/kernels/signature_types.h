// Which element types and how many dims the arguments of a slot may have: what stands after the
// colon of a slot in signatures/*.calls (signature.h).
//
//   X:float             a class of types: bool … are types (runtime/base/dtype.h), and
//                       index (int32, int64), float (float32, float64), anyfloat (with float16 and
//                       bfloat16), number (index, float), whole (bool and signed or 8-bit
//                       integers), plain (float, whole), real, complex, any; float|bool is both
//   Y:X                 the type of the arguments of slot X, which names a class
//   Out:complex(X)      the complex type of X's real one; real(X) the other way round
//   X*:each float       a list whose arguments need not agree; without `each` they have one type.
//                       A list tied to such a list agrees with it place by place.
//   X:float[2]          two dims; [2..] at least two, [1..3] one to three
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "runtime/kernels/type_set.h"

namespace dtranspile::kernels {

struct Signature;

struct TypeDemand {
  enum class Relation : uint8_t { kSame, kRealOf, kComplexOf };

  TypeSet types = 0;
  // The slot that has the type, as its number among inputs and outputs; its own where it names a
  // class.
  int like = -1;
  Relation relation = Relation::kSame;
  bool each = false;
  int32_t least_dims = 0, most_dims = std::numeric_limits<int32_t>::max();
};

// The slots' texts after the colon, in the order inputs, outputs. kInvalidArgument says which of
// them is wrong, without the line.
absl::Status ParseDemands(const std::vector<std::string>& texts, Signature& signature);

// The type that a slot of this relation has where the other one has `type`; `type` itself where it
// has no such partner (its class is what is refused then).
DType Related(TypeDemand::Relation relation, DType type);

// "float32 or float64".
std::string TextOf(TypeSet types);

}  // namespace dtranspile::kernels
