// Works on blocks that stay in the first-level cache: combine the sources into one block, store
// that. Compiled with -O3 (BUILD.bazel), since the loops below are meant to be vectorised: elements
// are read one by one, through memcpy, from memory of any alignment, into an array that the
// compiler knows to overlap with nothing.
#include "runtime/comm/reduce.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <string>
#include <type_traits>

#include "runtime/comm/half.h"

namespace dtranspile::comm {
namespace {

constexpr int64_t kBlock = 512;

// Elements that are added as they are stored.
template <typename T>
struct Plain {
  using Value = T;
  static constexpr int64_t kBytes = sizeof(T);
  static constexpr bool kDirect = true;
  static T At(const std::byte* from, int64_t i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    return value;
  }
  static void Load(const std::byte* from, T* to, int64_t n) {
    std::memcpy(to, from, n * sizeof(T));
  }
  static void Store(const T* from, std::byte* to, int64_t n) {
    std::memcpy(to, from, n * sizeof(T));
  }
};

// Any byte but 0 is true; 0 or 1 is stored.
struct Bool {
  using Value = uint8_t;
  static constexpr int64_t kBytes = 1;
  static constexpr bool kDirect = true;
  static uint8_t At(const std::byte* from, int64_t i) { return from[i] != std::byte{0}; }
  static void Load(const std::byte* from, uint8_t* to, int64_t n) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i] != std::byte{0};
  }
  static void Store(const uint8_t* from, std::byte* to, int64_t n) { std::memcpy(to, from, n); }
};

// Added in float32 and rounded once, when the block is stored: sums of many ranks do not lose a bit
// per rank.
struct Half {
  using Value = float;
  static constexpr int64_t kBytes = 2;
  static constexpr bool kDirect = false;  // converted by the block
  static void Load(const std::byte* from, float* to, int64_t n) { LoadFloat16(from, to, n); }
  static void Store(const float* from, std::byte* to, int64_t n) { StoreFloat16(from, to, n); }
};

struct BFloat16 {
  using Value = float;
  static constexpr int64_t kBytes = 2;
  static constexpr bool kDirect = false;  // converted by the block
  static void Load(const std::byte* from, float* to, int64_t n) { LoadBFloat16(from, to, n); }
  static void Store(const float* from, std::byte* to, int64_t n) { StoreBFloat16(from, to, n); }
};

struct Sum {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct Prod {
  template <typename T>
  static T Apply(T a, T b) {
    if constexpr (std::is_integral_v<T>) {
      using Wide = std::common_type_t<T, unsigned>;  // 16-bit operands would be promoted to int,
                                                     // which may overflow
      return static_cast<T>(static_cast<Wide>(a) * static_cast<Wide>(b));
    } else {
      return a * b;
    }
  }
};
// NaN wins on either side: a != a keeps one on the left, and a comparison with one on the right is
// false, which takes b.
struct Max {
  template <typename T>
  static T Apply(T a, T b) {
    return (a > b || a != a) ? a : b;
  }
};
struct Min {
  template <typename T>
  static T Apply(T a, T b) {
    return (a < b || a != a) ? a : b;
  }
};
struct Or {
  template <typename T>
  static T Apply(T a, T b) {
    return static_cast<T>(a | b);
  }
};

using Function = void (*)(const std::byte* const* sources, int num_sources, std::byte* out,
                          int64_t count, std::byte* copy);

// sum = sum ⊕ source, or a ⊕ b.
template <typename E, typename Op>
void Add(typename E::Value* sum, const std::byte* source, int64_t n) {
  if constexpr (E::kDirect) {
    for (int64_t j = 0; j < n; ++j) sum[j] = Op::Apply(sum[j], E::At(source, j));
  } else {
    alignas(64) typename E::Value next[kBlock];
    E::Load(source, next, n);
    for (int64_t j = 0; j < n; ++j) sum[j] = Op::Apply(sum[j], next[j]);
  }
}
// The first two sources at once, without storing the first one by itself.
template <typename E, typename Op>
void AddTwo(typename E::Value* sum, const std::byte* a, const std::byte* b, int64_t n) {
  if constexpr (E::kDirect) {
    for (int64_t j = 0; j < n; ++j) sum[j] = Op::Apply(E::At(a, j), E::At(b, j));
  } else {
    E::Load(a, sum, n);
    Add<E, Op>(sum, b, n);
  }
}

// The sources are combined in their order, ((s0 ⊕ s1) ⊕ s2) …, for every element alike: the result
// does not depend on how the work is cut among threads or ranks. `copy` gets the result a second
// time.
template <typename E, typename Op>
void Loop(const std::byte* const* sources, int num_sources, std::byte* out, int64_t count,
          std::byte* copy) {
  alignas(64) typename E::Value sum[kBlock];
  for (int64_t i = 0; i < count; i += kBlock) {
    const int64_t n = std::min(kBlock, count - i), at = i * E::kBytes;
    if (num_sources == 1) {
      E::Load(sources[0] + at, sum, n);
    } else {
      AddTwo<E, Op>(sum, sources[0] + at, sources[1] + at, n);
    }
    for (int s = 2; s < num_sources; ++s) Add<E, Op>(sum, sources[s] + at, n);
    E::Store(sum, out + at, n);
    if (copy != nullptr) E::Store(sum, copy + at, n);
  }
}

struct Row {
  DType dtype;
  Function sum, max, min, prod, any;
};

template <typename E>
constexpr Row Integer(DType dtype) {
  return {dtype, Loop<E, Sum>, Loop<E, Max>, Loop<E, Min>, Loop<E, Prod>, Loop<E, Or>};
}
template <typename E>
constexpr Row Float(DType dtype) {
  return {dtype, Loop<E, Sum>, Loop<E, Max>, Loop<E, Min>, Loop<E, Prod>, nullptr};
}
template <typename E>
constexpr Row Complex(DType dtype) {
  return {dtype, Loop<E, Sum>, nullptr, nullptr, Loop<E, Prod>, nullptr};
}

// Sums, products and or of signed integers are those of unsigned ones (wrap-around, no undefined
// overflow); order is not.
template <typename T>
constexpr Row Signed(DType dtype) {
  using U = Plain<std::make_unsigned_t<T>>;
  return {dtype,         Loop<U, Sum>, Loop<Plain<T>, Max>, Loop<Plain<T>, Min>,
          Loop<U, Prod>, Loop<U, Or>};
}

constexpr Row kRows[] = {
    {DType::kBool, Loop<Bool, Or>, Loop<Bool, Or>, Loop<Bool, Min>, Loop<Bool, Min>,
     Loop<Bool, Or>},
    Signed<int8_t>(DType::kInt8),
    Signed<int16_t>(DType::kInt16),
    Signed<int32_t>(DType::kInt32),
    Signed<int64_t>(DType::kInt64),
    Integer<Plain<uint8_t>>(DType::kUInt8),
    Integer<Plain<uint32_t>>(DType::kUInt32),
    Integer<Plain<uint64_t>>(DType::kUInt64),
    Integer<Plain<uint64_t>>(DType::kSizeT),
    Float<Half>(DType::kFloat16),
    Float<BFloat16>(DType::kBFloat16),
    Float<Plain<float>>(DType::kFloat32),
    Float<Plain<double>>(DType::kFloat64),
    Complex<Plain<std::complex<float>>>(DType::kComplex64),
    Complex<Plain<std::complex<double>>>(DType::kComplex128),
};

// Null where the row has no such reduction (an order of complex numbers, or any of numbers).
Function Find(DType dtype, ReduceOp reduce) {
  for (const Row& row : kRows) {
    if (row.dtype != dtype) continue;
    switch (reduce) {
      case ReduceOp::kSum: return row.sum;
      case ReduceOp::kMax: return row.max;
      case ReduceOp::kMin: return row.min;
      case ReduceOp::kProd: return row.prod;
      case ReduceOp::kOr: return row.any;
    }
  }
  return nullptr;
}

}  // namespace

absl::Status CheckReduce(DType dtype, ReduceOp reduce) {
  if (Find(dtype, reduce) != nullptr) return absl::OkStatus();
  return absl::InvalidArgumentError(std::string("reduction ") + NameOf(reduce) +
                                    " is not defined for " + dtranspile::NameOf(dtype));
}

void Reduce(DType dtype, ReduceOp reduce, const std::byte* const* sources, int num_sources,
            std::byte* out, int64_t count, std::byte* copy) {
  Find(dtype, reduce)(sources, num_sources, out, count, copy);
}

}  // namespace dtranspile::comm
