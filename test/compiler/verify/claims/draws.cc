#include "test/compiler/verify/claims/draws.h"

#include <cmath>
#include <cstdio>

#include "dialects/dist/dist.h"
#include "test/compiler/verify/claims/elements.h"

namespace dtranspile::claims {
namespace {

// Standard deviations by which a mean of kDraws runs may be off: seeds are fixed, so that what
// passes once passes always.
constexpr double kMostDeviations = 7;
// Correlation of what two coordinates draw.
constexpr double kMostCorrelation = 0.4;

struct Moments {
  double sum = 0, squares = 0;

  void add(double value) { sum += value, squares += value * value; }
  double mean() const { return sum / kDraws; }
  double variance() const { return std::fmax(0, squares / kDraws - mean() * mean()); }
};

// A value as [outer, extent, inner] around the dim that is cut; the flattened one as [1, elements,
// numbers of one].
struct Shape {
  int64_t outer = 1, extent = 1, inner = 1;

  Shape(const Tensor& tensor, int64_t dim) : inner(numbersPerElement(tensor.dtype)) {
    if (dim == dist::kFlat) {
      extent = countOf(tensor) / inner;
      return;
    }
    const auto at = static_cast<size_t>(dim);
    for (size_t d = 0; d < tensor.dims.size(); ++d)
      (d < at ? outer : d == at ? extent : inner) *= tensor.dims[d];
  }
};

// Numbers of the parts in the order of the whole; empty where their extents do not add up.
std::vector<double> joined(const Tensors& parts, const Tensor& whole, int64_t dim) {
  std::vector<double> all(static_cast<size_t>(countOf(whole)));
  const Shape of(whole, dim);
  int64_t begin = 0;
  for (const TensorPtr& part : parts) {
    if (dim != dist::kFlat && part->dims.size() != whole.dims.size()) return {};
    const Shape own(*part, dim);
    if (own.outer != of.outer || own.inner != of.inner || begin + own.extent > of.extent) return {};
    for (int64_t o = 0; o < own.outer; ++o)
      for (int64_t i = 0; i < own.extent * own.inner; ++i)
        all[static_cast<size_t>((o * of.extent + begin) * of.inner + i)] =
            number(*part, o * own.extent * own.inner + i);
    begin += own.extent;
  }
  return begin == of.extent ? all : std::vector<double>();
}

// Of the numbers that stand at one place in the parts of the first two coordinates.
double correlation(const std::vector<std::vector<double>>& runs,
                   const std::vector<Moments>& moments, const Shape& whole, int64_t extent) {
  double both = 0, one = 0, other = 0;
  for (int64_t o = 0; o < whole.outer; ++o)
    for (int64_t i = 0; i < extent * whole.inner; ++i) {
      const auto a = static_cast<size_t>(o * whole.extent * whole.inner + i);
      const size_t b = a + static_cast<size_t>(extent * whole.inner);
      for (const std::vector<double>& run : runs) {
        const double left = run[a] - moments[a].mean(), right = run[b] - moments[b].mean();
        both += left * right, one += left * left, other += right * right;
      }
    }
  return one == 0 || other == 0 ? 0 : both / std::sqrt(one * other);
}

}  // namespace

std::string compareDraws(const Tensors& whole, const std::vector<Tensors>& parts, int64_t dim,
                         double scale) {
  if (dim != dist::kFlat && dim >= static_cast<int64_t>(whole[0]->dims.size()))
    return "there is no dim " + std::to_string(dim);
  const auto count = static_cast<size_t>(countOf(*whole[0]));
  std::vector<Moments> right(count), drawn(count);
  std::vector<std::vector<double>> rights, runs;
  for (size_t k = 0; k < whole.size(); ++k) {
    if (whole[k]->dims != whole[0]->dims) return "";  // as many as the data say
    runs.push_back(joined(parts[k], *whole[k], dim));
    if (runs.back().size() != count) return "the parts' extents do not add up to the reference's";
    rights.emplace_back();
    for (size_t i = 0; i < count; ++i) {
      rights.back().push_back(scale * number(*whole[k], static_cast<int64_t>(i)));
      right[i].add(rights.back()[i]);
      drawn[i].add(runs.back()[i]);
    }
  }
  char text[160];
  for (size_t i = 0; i < count; ++i) {
    const double spread = std::sqrt((right[i].variance() + drawn[i].variance()) / kDraws),
                 off = std::fabs(right[i].mean() - drawn[i].mean());
    if (off <= kMostDeviations * spread + 1e-9 * std::fabs(right[i].mean())) continue;
    std::snprintf(text, sizeof text, "element %zu is drawn as %.6g on average, not %.6g", i,
                  drawn[i].mean(), right[i].mean());
    return text;
  }
  const int64_t extent = Shape(*parts[0][0], dim).extent;
  if (parts[0].size() < 2 || Shape(*parts[0][1], dim).extent != extent || extent == 0) return "";
  const Shape shape(*whole[0], dim);
  const double together = correlation(runs, drawn, shape, extent),
               apart = correlation(rights, right, shape, extent);
  if (std::fabs(together - apart) <= kMostCorrelation) return "";
  std::snprintf(text, sizeof text,
                "two coordinates draw with a correlation of %.2g, the reference with one of %.2g",
                together, apart);
  return text;
}

}  // namespace dtranspile::claims
