#include "runtime/trial/compare.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace dtranspile::trial {
namespace {

template <typename T>
int64_t Count(const TensorView& tensor) {
  return tensor.bytes() / static_cast<int64_t>(sizeof(T));
}

template <typename T>
const T* Data(const TensorView& tensor) {
  return reinterpret_cast<const T*>(tensor.data);
}

// A tensor of small elements is held against this magnitude. What is zero but for rounding (the
// gradient of a bias that a softmax cancels) is another number in every order of summation, and an
// optimizer that divides by its norm makes up to 1e-10 of it in a few steps.
constexpr double kUnit = 1;

// The largest difference, relative to the largest element of what is wanted: a tolerance per
// element would blame small elements for the rounding of large ones. NaN is apart from everything.
// T is the type of parts where elements are complex.
template <typename T>
std::optional<Apart> CompareFloats(const TensorView& got, const TensorView& wanted, double scale,
                                   double tolerance) {
  const T* a = Data<T>(got);
  const T* b = Data<T>(wanted);
  double largest = kUnit;
  for (int64_t i = 0; i < Count<T>(wanted); ++i)
    largest = std::max(largest, std::abs(scale * static_cast<double>(b[i])));
  std::optional<Apart> worst;
  for (int64_t i = 0; i < Count<T>(wanted); ++i) {
    const double wants = scale * static_cast<double>(b[i]), has = static_cast<double>(a[i]);
    const double apart = std::abs(has - wants);
    if (apart <= tolerance * largest) continue;  // false of what is no number
    const double relative = apart / largest;
    if (!worst || !(relative <= worst->relative)) worst = Apart{i, has, wants, relative, ""};
  }
  return worst;
}

template <typename T>
std::optional<Apart> CompareExactly(const TensorView& got, const TensorView& wanted, double scale,
                                    double) {
  for (int64_t i = 0; i < Count<T>(wanted); ++i) {
    const double wants = scale * static_cast<double>(Data<T>(wanted)[i]);
    const auto has = static_cast<double>(Data<T>(got)[i]);
    const bool same = scale == 1 ? Data<T>(got)[i] == Data<T>(wanted)[i] : has == wants;
    if (!same) return Apart{i, has, wants, std::abs(has - wants), ""};
  }
  return std::nullopt;
}

template <typename T>
bool AllFinite(const TensorView& tensor) {
  return std::all_of(Data<T>(tensor), Data<T>(tensor) + Count<T>(tensor),
                     [](T value) { return std::isfinite(value); });
}

template <typename T>
bool AddElements(Tensor& to, const TensorView& from) {
  for (int64_t i = 0; i < Count<T>(from); ++i) to.as<T>()[i] += Data<T>(from)[i];
  return true;
}

std::optional<Apart> CompareElements(const TensorView& got, const TensorView& wanted, double scale,
                                     double tolerance) {
  switch (wanted.dtype) {
    case DType::kFloat64:
    case DType::kComplex128: return CompareFloats<double>(got, wanted, scale, tolerance);
    case DType::kFloat32:
    case DType::kComplex64: return CompareFloats<float>(got, wanted, scale, tolerance);
    case DType::kInt64: return CompareExactly<int64_t>(got, wanted, scale, tolerance);
    case DType::kInt32: return CompareExactly<int32_t>(got, wanted, scale, tolerance);
    default: return CompareExactly<uint8_t>(got, wanted, scale, tolerance);  // byte by byte
  }
}

}  // namespace

std::optional<Apart> Compare(const TensorView& got, const TensorView& wanted, double scale,
                             double tolerance) {
  if (got.dtype != wanted.dtype || got.dims != wanted.dims)
    return Apart{-1, 0, 0, 0,
                 absl::StrCat("is ", ShapeText(got.dtype, got.dims), ", not ",
                              ShapeText(wanted.dtype, wanted.dims))};
  std::optional<Apart> apart = CompareElements(got, wanted, scale, tolerance);
  if (apart)
    apart->text = absl::StrFormat("element %d is %.12g, not %.12g", apart->element, apart->got,
                                  apart->wanted);
  return apart;
}

bool IsFinite(const TensorView& tensor) {
  if (tensor.dtype == DType::kFloat64) return AllFinite<double>(tensor);
  if (tensor.dtype == DType::kFloat32) return AllFinite<float>(tensor);
  return true;
}

bool AddTo(Tensor& to, const TensorView& from) {
  if (to.dtype != from.dtype || to.dims != from.dims) return false;
  switch (from.dtype) {
    case DType::kFloat64: return AddElements<double>(to, from);
    case DType::kFloat32: return AddElements<float>(to, from);
    case DType::kInt64: return AddElements<int64_t>(to, from);
    case DType::kInt32: return AddElements<int32_t>(to, from);
    default: return false;
  }
}

}  // namespace dtranspile::trial
