#include "passes/assign-stages/cost.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::passes {
namespace {

// Operations that take as long as moving one byte: 10 TFlop/s beside 100 GB/s.
constexpr double kOperationsPerByte = 100;
// Forward, and the gradients of both operands.
constexpr double kWithBackward = 3;
// A longer list is cut at its narrowest places only.
constexpr size_t kMostPlaces = 512;

double elementsOf(mlir::Type type) {
  const mlir::RankedTensorType tensor = pd::tensorOf(type);
  if (!tensor) return 0;
  double product = 1;
  for (int64_t extent : pd::dimsOf(tensor))
    product *= static_cast<double>(extent < 0 ? kNominal : extent);
  return product;
}

double elementsOf(mlir::Value value) { return value ? elementsOf(value.getType()) : 0; }

double last(mlir::Value value, int64_t back) {
  const mlir::RankedTensorType tensor = value ? pd::tensorOf(value.getType()) : nullptr;
  if (!tensor || tensor.getRank() < back) return 1;
  const int64_t extent = pd::dimsOf(tensor)[static_cast<size_t>(tensor.getRank() - back)];
  return static_cast<double>(extent < 0 ? kNominal : extent);
}

bool isSet(pd::OpView op, llvm::StringRef name) {
  auto value = llvm::dyn_cast_or_null<mlir::BoolAttr>(op.attr(name));
  return value && value.getValue();
}

// The length of the sums that make one element of the result.
double product(pd::OpView op) {
  const mlir::Value x = op.input("X"), y = op.input("Y");
  if (op.type() == "mul") return elementsOf(y) / std::max(1.0, last(op.output("Out"), 1));
  const bool turned = isSet(op, "trans_x") || isSet(op, "transpose_X");
  return last(x, turned ? 2 : 1);
}
double convolution(pd::OpView op) {
  const mlir::Value filter = op.input("Filter");
  const mlir::RankedTensorType type = filter ? pd::tensorOf(filter.getType()) : nullptr;
  return type && type.getRank() > 0 ? elementsOf(filter) / last(filter, type.getRank()) : 1;
}

struct Row {
  const char* type;
  double (*length)(pd::OpView);
};
constexpr Row kRows[] = {
    {"mul", product},        {"matmul", product},           {"matmul_v2", product},
    {"bmm", product},        {"conv2d", convolution},       {"depthwise_conv2d", convolution},
    {"conv3d", convolution}, {"conv2d_transpose", product},
};

}  // namespace

double operationsOf(pd::OpView op) {
  double made = 0;
  for (mlir::Value result : op.operation()->getResults()) made += elementsOf(result);
  for (const Row& row : kRows)
    if (op.type() == row.type) return 2 * made * row.length(op);
  return made;
}

double bytesOnWire(mlir::Type type) {
  const mlir::RankedTensorType tensor = pd::tensorOf(type);
  const std::optional<DType> dtype = tensor ? pd::dtypeOf(tensor.getElementType()) : std::nullopt;
  return dtype ? elementsOf(type) * static_cast<double>(SizeOf(*dtype)) : 0;
}

// Cuts a chain of ops into contiguous parts so that the dearest part is as cheap as possible and,
// among such cuts, the fewest bytes cross borders (the linear partition problem, by dynamic
// programming over borders). A part costs its forward and backward work and what crosses both its
// borders, there and back. At most kMostPlaces borders are looked at, those that the fewest bytes
// cross, which bounds the work by parts · kMostPlaces². Returns the number of ops of each part;
// nothing where there are fewer ops than parts.
std::vector<size_t> cutEvenly(const std::vector<Weighed>& ops, size_t parts) {
  if (ops.size() < parts || parts == 0) return {};
  // Where a part may end: behind op places[i]. The last one is the end.
  std::vector<size_t> places(ops.size() - 1);
  std::iota(places.begin(), places.end(), 0);
  if (places.size() > kMostPlaces) {
    const size_t most = std::max(kMostPlaces, parts);
    llvm::sort(places, [&](size_t a, size_t b) {
      return std::pair(ops[a].crossing, a) < std::pair(ops[b].crossing, b);
    });
    places.resize(std::min(most, places.size()));
    llvm::sort(places);
  }
  places.push_back(ops.size() - 1);
  std::vector<double> upTo(ops.size() + 1, 0);
  for (size_t i = 0; i < ops.size(); ++i) upTo[i + 1] = upTo[i] + kWithBackward * ops[i].cost;
  const auto crossing = [&](size_t place) {
    return places[place] + 1 == ops.size() ? 0
                                           : 2 * kOperationsPerByte * ops[places[place]].crossing;
  };
  const auto partCost = [&](size_t from, size_t to) {  // from: -1 is the beginning
    const bool first = from == places.size();
    const double work = upTo[places[to] + 1] - (first ? 0 : upTo[places[from] + 1]);
    return work + crossing(to) + (first ? 0 : crossing(from));
  };
  struct Best {
    double dearest = std::numeric_limits<double>::infinity(), crosses = 0;
    size_t from = 0;
  };
  const size_t count = places.size(), none = count;
  // best[p][i]: p + 1 parts, the last of which ends at place i.
  std::vector<std::vector<Best>> best(parts, std::vector<Best>(count));
  for (size_t i = 0; i < count; ++i) best[0][i] = {partCost(none, i), crossing(i), none};
  for (size_t p = 1; p < parts; ++p)
    for (size_t i = p; i < count; ++i)
      for (size_t from = p - 1; from < i; ++from) {
        const Best& before = best[p - 1][from];
        const Best found{std::max(before.dearest, partCost(from, i)), before.crosses + crossing(i),
                         from};
        Best& now = best[p][i];
        if (std::pair(found.dearest, found.crosses) < std::pair(now.dearest, now.crosses) ||
            now.dearest == std::numeric_limits<double>::infinity())
          now = found;
      }
  if (best[parts - 1][count - 1].dearest == std::numeric_limits<double>::infinity()) return {};
  std::vector<size_t> sizes(parts);
  size_t at = count - 1;
  for (size_t p = parts; p-- > 0;) {
    const size_t from = best[p][at].from;
    sizes[p] = places[at] - (p == 0 ? static_cast<size_t>(-1) : places[from]);
    at = from;
  }
  return sizes;
}

}  // namespace dtranspile::passes
