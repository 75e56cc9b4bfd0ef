#include "test/compiler/verify/claims/draws.h"

#include <cmath>
#include <cstdio>

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

// Numbers of the parts in the order of the whole; empty where their extents do not add up.
std::vector<double> joined(const Tensors& parts, const Tensor& whole, size_t dim) {
  std::vector<double> all(static_cast<size_t>(countOf(whole)));
  int64_t inner = numbersPerElement(whole.dtype), outer = 1, begin = 0;
  for (size_t d = 0; d < whole.dims.size(); ++d)
    (d < dim ? outer : inner) *= d == dim ? 1 : whole.dims[d];
  for (const TensorPtr& part : parts) {
    if (part->dims.size() != whole.dims.size()) return {};
    for (size_t d = 0; d < whole.dims.size(); ++d)
      if (d != dim && part->dims[d] != whole.dims[d]) return {};
    const int64_t extent = part->dims[dim];
    if (begin + extent > whole.dims[dim]) return {};
    for (int64_t o = 0; o < outer; ++o)
      for (int64_t i = 0; i < extent * inner; ++i)
        all[static_cast<size_t>((o * whole.dims[dim] + begin) * inner + i)] =
            number(*part, o * extent * inner + i);
    begin += extent;
  }
  return begin == whole.dims[dim] ? all : std::vector<double>();
}

// Of the numbers that stand at one place in the parts of the first two coordinates.
double correlation(const std::vector<std::vector<double>>& runs,
                   const std::vector<Moments>& moments, const Tensor& whole, size_t dim,
                   int64_t extent) {
  int64_t inner = numbersPerElement(whole.dtype), outer = 1;
  for (size_t d = 0; d < whole.dims.size(); ++d)
    (d < dim ? outer : inner) *= d == dim ? 1 : whole.dims[d];
  double both = 0, one = 0, other = 0;
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t i = 0; i < extent * inner; ++i) {
      const auto a = static_cast<size_t>(o * whole.dims[dim] * inner + i);
      const size_t b = a + static_cast<size_t>(extent * inner);
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
  const auto at = static_cast<size_t>(dim);
  if (at >= whole[0]->dims.size()) return "there is no dim " + std::to_string(dim);
  const auto count = static_cast<size_t>(countOf(*whole[0]));
  std::vector<Moments> right(count), drawn(count);
  std::vector<std::vector<double>> rights, runs;
  for (size_t k = 0; k < whole.size(); ++k) {
    if (whole[k]->dims != whole[0]->dims) return "";  // as many as the data say
    runs.push_back(joined(parts[k], *whole[k], at));
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
  const int64_t extent = parts[0][0]->dims[at];
  if (parts[0].size() < 2 || parts[0][1]->dims[at] != extent || extent == 0) return "";
  const double together = correlation(runs, drawn, *whole[0], at, extent),
               apart = correlation(rights, right, *whole[0], at, extent);
  if (std::fabs(together - apart) <= kMostCorrelation) return "";
  std::snprintf(text, sizeof text,
                "two coordinates draw with a correlation of %.2g, the reference with one of %.2g",
                together, apart);
  return text;
}

}  // namespace dtranspile::claims
