#include "test/compiler/verify/claims/parts.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "dialects/dist/dist.h"
#include "runtime/tensor/lod.h"
#include "test/compiler/verify/claims/elements.h"

namespace dtranspile::claims {
namespace {

using dist::Reduce;
using verify::Rational;

double valueOf(const Rational& scale) {
  return static_cast<double>(scale.numerator()) / static_cast<double>(scale.denominator());
}

TensorPtr shared(Tensor tensor) { return std::make_shared<const Tensor>(std::move(tensor)); }

// Indices [begin, end) of a dim.
std::optional<Tensor> sliceOf(const Tensor& whole, size_t dim, int64_t begin, int64_t end) {
  std::vector<int64_t> dims = whole.dims;
  dims[dim] = end - begin;
  auto part = Tensor::Zeros(whole.dtype, dims);
  if (!part.ok()) return std::nullopt;
  size_t inner = SizeOf(whole.dtype), outer = 1;
  for (size_t i = 0; i < dims.size(); ++i)
    (i < dim ? outer : inner) *= i == dim ? 1 : static_cast<size_t>(dims[i]);
  const size_t extent = static_cast<size_t>(whole.dims[dim]), first = static_cast<size_t>(begin),
               size = static_cast<size_t>(end - begin) * inner;
  for (size_t o = 0; o < outer && size; ++o)
    std::memcpy(part->bytes.data() + o * size, whole.bytes.data() + (o * extent + first) * inner,
                size);
  if (dim != 0) part->lod = whole.lod;
  return std::move(*part);
}

std::optional<Tensor> flatSlice(const Tensor& whole, int64_t begin, int64_t end) {
  auto part = Tensor::Zeros(whole.dtype, {end - begin});
  if (!part.ok()) return std::nullopt;
  const size_t size = SizeOf(whole.dtype);
  std::memcpy(part->bytes.data(), whole.bytes.data() + static_cast<size_t>(begin) * size,
              static_cast<size_t>(end - begin) * size);
  return std::move(*part);
}

std::optional<Tensors> slices(const Tensor& whole, const verify::State& split, int64_t n,
                              const Cuts& cuts) {
  std::optional<Bounds> bounds = boundsOf(whole, split, n, cuts);
  if (!bounds) return std::nullopt;
  Tensors parts;
  for (size_t c = 0; c < static_cast<size_t>(n); ++c) {
    const int64_t begin = (*bounds)[c], end = (*bounds)[c + 1];
    std::optional<Tensor> part;
    if (split.dim == dist::kFlat) {
      part = flatSlice(whole, begin, end);
    } else if (split.dim == 0 && !whole.lod.empty()) {
      if (auto cut = SliceSequences(whole, begin, end - begin); cut.ok()) part = std::move(*cut);
    } else {
      part = sliceOf(whole, static_cast<size_t>(split.dim), begin, end);
    }
    if (!part) return std::nullopt;
    parts.push_back(shared(std::move(*part)));
  }
  return parts;
}

// Numbers that `reduce` joins to `value`; `whole`: they differ from it by whole numbers, which
// integers and half floats hold exactly.
std::vector<double> terms(Reduce reduce, double value, size_t n, bool whole, Random& random) {
  std::uniform_real_distribution<double> spread(-1.5, 1.5), factor(0.5, 2);
  std::uniform_int_distribution<int> small(-3, 3), coin(0, 1);
  std::vector<double> all(n);
  const size_t last = random() % n;
  double rest = value;
  for (size_t c = 0; c < n; ++c) {
    if (c == last) continue;
    switch (reduce) {
      case Reduce::Sum: rest -= all[c] = whole ? small(random) : spread(random); break;
      case Reduce::Max: all[c] = value - (whole ? coin(random) : factor(random)); break;
      case Reduce::Min: all[c] = value + (whole ? coin(random) : factor(random)); break;
      case Reduce::Prod: rest /= all[c] = whole ? 1 : factor(random); break;
      default: all[c] = value != 0 && coin(random); break;
    }
  }
  all[last] = rest;
  return all;
}

double join(Reduce reduce, double a, double b) {
  switch (reduce) {
    case Reduce::Sum: return a + b;
    case Reduce::Max: return std::fmax(a, b);
    case Reduce::Min: return std::fmin(a, b);
    case Reduce::Prod: return a * b;
    default: return a != 0 || b != 0;
  }
}

std::optional<Tensor> scaled(const Tensor& whole, double scale) {
  auto copy = whole.Clone();
  if (!copy.ok()) return std::nullopt;
  for (int64_t i = 0, count = countOf(whole); scale != 1 && i < count; ++i)
    setNumber(*copy, i, scale * number(whole, i));
  return std::move(*copy);
}

// Values of shares, each with the signs of the whole's.
std::optional<Tensors> perShare(const Tensor& whole, int64_t n, Random& random) {
  std::uniform_real_distribution<double> factor(0.5, 1.5);
  Tensors parts;
  for (int64_t c = 0; c < n; ++c) {
    auto own = whole.Clone();
    if (!own.ok()) return std::nullopt;
    for (int64_t i = 0, count = countOf(whole); i < count; ++i)
      setNumber(*own, i, factor(random) * number(whole, i));
    if (!isHalf(whole.dtype)) {
      parts.push_back(shared(std::move(*own)));
      continue;
    }
    TensorPtr rounded = onGrid(*own, whole.dtype);
    if (!rounded) return std::nullopt;
    parts.push_back(std::move(rounded));
  }
  return parts;
}

std::string textOf(const std::vector<int64_t>& dims) {
  std::string text = "[";
  for (size_t i = 0; i < dims.size(); ++i) text += (i ? ", " : "") + std::to_string(dims[i]);
  return text + "]";
}

std::string textOf(const Lod& lod) {
  std::string text;
  for (const auto& level : lod) text += textOf(std::vector<int64_t>(level.begin(), level.end()));
  return text;
}

// Parts along dim 0, put together.
Lod joined(const Tensors& parts) {
  Lod lod = parts[0]->lod;
  for (size_t c = 1; c < parts.size(); ++c)
    for (size_t level = 0; level < lod.size() && level < parts[c]->lod.size(); ++level) {
      const uint64_t from = lod[level].back();
      const auto& more = parts[c]->lod[level];
      for (size_t i = 1; i < more.size(); ++i) lod[level].push_back(from + more[i]);
    }
  return lod;
}

// Of what an op computes, in units of the largest number.
double roundingOf(DType dtype) {
  switch (dtype) {
    case DType::kFloat16: return 8e-3;
    case DType::kBFloat16: return 6e-2;
    case DType::kFloat32:
    case DType::kComplex64: return 1e-4;
    default: return 1e-9;
  }
}

// Compares number by number; tells of the first that differs by more than rounding.
class Comparison {
 public:
  Comparison(const Tensor& whole, const Tensors& parts, double scale, bool equalInfinities)
      : whole_(whole), scale_(scale), equalInfinities_(equalInfinities) {
    exact_ = !isFloating(whole.dtype);
    for (int64_t i = 0, n = countOf(whole); i < n; ++i) widen(scale * number(whole, i));
    for (const TensorPtr& part : parts)
      for (int64_t i = 0, n = countOf(*part); i < n; ++i) widen(number(*part, i));
    const double rounding = roundingOf(whole.dtype);
    // Where everything cancels out, what is left is the rounding of operands, which are about 1.
    constexpr double kLeft = 16 * std::numeric_limits<double>::epsilon();
    tolerance_ = std::fmax(rounding * largest_, kLeft);
  }

  std::string at(int64_t i, double got, const std::string& what) const {
    const double want = scale_ * number(whole_, i);
    if (!std::isfinite(want)) {
      const bool same = std::isnan(want) ? std::isnan(got) : got == want;
      return same || !equalInfinities_ ? "" : differ(i, got, want, what);
    }
    const double allowed = exact_ ? 1e-9 * std::fabs(want) : tolerance_;
    return std::fabs(got - want) <= allowed ? "" : differ(i, got, want, what);
  }

 private:
  void widen(double value) {
    if (std::isfinite(value)) largest_ = std::fmax(largest_, std::fabs(value));
  }
  static std::string differ(int64_t i, double got, double want, const std::string& what) {
    char text[128];
    std::snprintf(text, sizeof text, "element %lld is %.12g, not %.12g", static_cast<long long>(i),
                  got, want);
    return text + what;
  }

  const Tensor& whole_;
  double scale_, largest_ = 0, tolerance_ = 0;
  bool equalInfinities_, exact_ = false;
};

}  // namespace

std::string Held::text() const {
  return (zero ? "zero " : "") + state.text() + (scale.isOne() ? "" : " x" + scale.text());
}

bool addCuts(const Tensor& ragged, int64_t n, Cuts& cuts) {
  const int64_t sequences = SequenceCount(ragged);
  if (sequences == 0 || sequences % n) return false;
  Bounds bounds;
  for (int64_t c = 0; c <= n; ++c) bounds.push_back(c * (sequences / n));
  for (const auto& level : ragged.lod) {
    for (int64_t& bound : bounds) bound = static_cast<int64_t>(level[static_cast<size_t>(bound)]);
    cuts[bounds.back()] = bounds;
  }
  return true;
}

std::optional<Bounds> boundsOf(const Tensor& tensor, const verify::State& split, int64_t n,
                               const Cuts& cuts) {
  const bool flat = split.dim == dist::kFlat, ragged = split.dim == 0 && !tensor.lod.empty();
  if (!flat && split.dim >= static_cast<int64_t>(tensor.dims.size())) return std::nullopt;
  const int64_t extent = flat     ? countOf(tensor) / numbersPerElement(tensor.dtype)
                         : ragged ? SequenceCount(tensor)
                                  : tensor.dims[static_cast<size_t>(split.dim)];
  Bounds bounds = {0};
  if (auto found = cuts.find(extent); found != cuts.end() && !flat && !ragged) return found->second;
  const dist::LayoutAttr layout = split.layoutAttr();
  if (extent < n || (!layout && extent % n) || (layout && layout.getExtent() != extent))
    return std::nullopt;
  const int64_t per = layout ? layout.getPer() : extent / n;
  while (bounds.back() < extent) bounds.push_back(std::min(extent, bounds.back() + per));
  return bounds;
}

dist::LayoutAttr unevenLayout(mlir::MLIRContext* context, int64_t extent, int64_t n) {
  const int64_t per = extent / n + 1;
  if (extent <= n || (extent + per - 1) / per != n) return {};
  return dist::LayoutAttr::get(context, dist::LayoutKind::Blocks, extent, per, 0);
}

std::optional<Tensors> partsOf(const Tensor& whole, const Held& held, int64_t n, const Cuts& cuts,
                               Random& random) {
  // Not 0 times the value, which may be infinite or negative.
  const TensorPtr zeros = held.zero ? zerosLike(whole) : nullptr;
  if (held.zero && !zeros) return std::nullopt;
  std::optional<Tensor> multiple = scaled(zeros ? *zeros : whole, zeros ? 1 : valueOf(held.scale));
  if (!multiple) return std::nullopt;
  if (held.state.isReplicated())
    return Tensors(static_cast<size_t>(n), shared(std::move(*multiple)));
  if (held.state.isSplit()) return slices(*multiple, held.state, n, cuts);
  if (held.state.isParts()) return perShare(*multiple, n, random);
  std::vector<Tensor> made;
  for (int64_t c = 0; c < n; ++c) {
    auto copy = multiple->Clone();
    if (!copy.ok()) return std::nullopt;
    copy->lod = whole.lod;
    made.push_back(std::move(*copy));
  }
  for (int64_t i = 0, count = countOf(whole); i < count; ++i) {
    std::vector<double> each =
        terms(held.state.reduce, number(*multiple, i), static_cast<size_t>(n),
              !isFloating(whole.dtype) || isHalf(whole.dtype), random);
    for (size_t c = 0; c < made.size(); ++c) setNumber(made[c], i, each[c]);
  }
  Tensors parts;
  for (Tensor& part : made) parts.push_back(shared(std::move(part)));
  return parts;
}

TensorPtr timesScale(const TensorPtr& tensor, const Rational& scale) {
  std::optional<Tensor> multiple = scaled(*tensor, valueOf(scale));
  if (!multiple) return nullptr;
  multiple->lod = tensor->lod;
  return shared(std::move(*multiple));
}

TensorPtr zerosLike(const Tensor& tensor) {
  auto zeros = Tensor::Zeros(tensor.dtype, tensor.dims);
  if (!zeros.ok()) return nullptr;
  zeros->lod = tensor.lod;
  return shared(std::move(*zeros));
}

std::string compareZero(const Tensors& parts) {
  for (const TensorPtr& part : parts)
    for (int64_t i = 0, n = countOf(*part); i < n; ++i)
      if (number(*part, i) != 0)
        return "element " + std::to_string(i) + " is " + std::to_string(number(*part, i)) +
               ", not 0";
  return "";
}

std::string compareExtents(const Tensors& parts, int64_t dim) {
  for (const TensorPtr& part : parts)
    if (part->dims[static_cast<size_t>(dim)] != parts[0]->dims[static_cast<size_t>(dim)])
      return "parts are " + textOf(parts[0]->dims) + " and " + textOf(part->dims) +
             ", which the rule says are even";
  return "";
}

std::string compare(const Tensors& parts, const verify::Reading& claimed, const Tensor& whole) {
  const verify::State& state = claimed.states[0];
  const Comparison comparison(whole, parts, valueOf(claimed.scale),
                              claimed.scale.isOne() && !state.isPartial());
  auto shapes = [&](const Tensor& part) {
    return part.dims == whole.dims
               ? ""
               : "a part is " + textOf(part.dims) + ", the reference's value " + textOf(whole.dims);
  };
  if (state.isSplit() && state.dim == dist::kFlat) {
    int64_t at = 0;
    for (const TensorPtr& part : parts)
      for (int64_t i = 0, n = countOf(*part); i < n; ++i, ++at) {
        if (at >= countOf(whole)) return "the parts have more elements than the reference's value";
        if (std::string text = comparison.at(at, number(*part, i), ""); !text.empty()) return text;
      }
    return at == countOf(whole) ? "" : "the parts have fewer elements than the reference's value";
  }
  if (state.isSplit()) {
    const auto dim = static_cast<size_t>(state.dim);
    if (dim >= whole.dims.size()) return "there is no dim " + std::to_string(dim);
    int64_t begin = 0;
    for (const TensorPtr& part : parts) {
      std::vector<int64_t> dims = part->dims;
      if (dim < dims.size()) dims[dim] = whole.dims[dim];
      if (dims != whole.dims || begin + part->dims[dim] > whole.dims[dim])
        return "a part is " + textOf(part->dims) + ", the reference's value " + textOf(whole.dims);
      std::optional<Tensor> own = sliceOf(whole, dim, begin, begin + part->dims[dim]);
      begin += part->dims[dim];
      const Comparison slice(*own, {std::make_shared<const Tensor>(*whole.Clone())},
                             valueOf(claimed.scale), claimed.scale.isOne());
      for (int64_t i = 0, n = countOf(*part); i < n; ++i)
        if (std::string text = slice.at(
                i, number(*part, i), " (of the part that ends at " + std::to_string(begin) + ")");
            !text.empty())
          return text;
    }
    if (begin != whole.dims[dim])
      return "the parts have " + std::to_string(begin) + " together, the reference's value " +
             std::to_string(whole.dims[dim]);
    if (dim == 0 && joined(parts) != whole.lod)
      return "the parts have LoD " + textOf(joined(parts)) + " together, the reference's value " +
             textOf(whole.lod);
    return "";
  }
  for (const TensorPtr& part : parts)
    if (std::string text = shapes(*part); !text.empty()) return text;
  for (int64_t i = 0, n = countOf(whole); i < n; ++i) {
    double sum = number(*parts[0], i);
    for (size_t c = 1; state.isPartial() && c < parts.size(); ++c)
      sum = join(state.reduce, sum, number(*parts[c], i));
    for (size_t c = 0; c < (state.isPartial() ? 1 : parts.size()); ++c) {
      const double got = state.isPartial() ? sum : number(*parts[c], i);
      if (std::string text = comparison.at(
              i, got, state.isPartial() ? "" : " (coordinate " + std::to_string(c) + ")");
          !text.empty())
        return text;
    }
  }
  return "";
}

}  // namespace dtranspile::claims
