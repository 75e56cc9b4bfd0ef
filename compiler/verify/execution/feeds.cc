#include "compiler/verify/execution/feeds.h"

#include <xxhash.h>

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::verify {
namespace {

// Numbers that depend on where they stand only, so that equal samples are equal numbers.
class Numbers {
 public:
  explicit Numbers(const std::string& key) : key_(XXH3_64bits(key.data(), key.size())) {}

  uint64_t bits(int64_t at) const {
    const uint64_t word[] = {key_, static_cast<uint64_t>(at)};
    return XXH3_64bits(word, sizeof word);
  }
  // In [0, 1).
  double real(int64_t at) const { return static_cast<double>(bits(at) >> 11) * 0x1p-53; }

 private:
  uint64_t key_;
};

// A value of the demanded domain, made from the `at`-th pseudo-random number of the feed: so a
// value depends on its place and the seed alone, and not on the order in which feeds are made.
double valueOf(const FeedDemand& demand, const FeedPlan& plan, const Numbers& numbers, int64_t at) {
  const double u = numbers.real(at);
  const bool real = demand.dtype == DType::kFloat32 || demand.dtype == DType::kFloat64;
  switch (demand.domain) {
    case Domain::Real: return real ? plan.magnitude * (2 * u - 1) : static_cast<double>(u < 0.5);
    case Domain::Positive: return real ? 0.5 + u : 1 + static_cast<double>(u < 0.5);
    case Domain::Unit: return real ? 0.1 + 0.8 * u : static_cast<double>(u < 0.5);
    case Domain::Binary: return static_cast<double>(u < 0.5);
    case Domain::Index:
      return static_cast<double>(numbers.bits(at) % static_cast<uint64_t>(demand.bound));
    case Domain::Count:
      return 1 + static_cast<double>(numbers.bits(at) % static_cast<uint64_t>(demand.bound));
  }
  return 0;
}

template <typename T>
void fill(Tensor& tensor, const FeedDemand& demand, const FeedPlan& plan, const Numbers& numbers,
          const std::vector<int64_t>& places) {
  for (size_t i = 0; i < places.size(); ++i)
    tensor.as<T>()[i] = static_cast<T>(valueOf(demand, plan, numbers, places[i]));
}

// How many items every item of a level has: the same for all feeds of a step, since sequences that
// belong together are as long.
uint64_t lengthOf(const FeedPlan& plan, int64_t step, int level, uint64_t item) {
  constexpr uint64_t kLongest = 4;
  const Numbers numbers(absl::StrCat(plan.seed, " lengths ", step, " ", level));
  return 1 + numbers.bits(static_cast<int64_t>(item)) % kLongest;
}

// Levels of the whole batch. Of equal parts the items of each begin anew.
Lod levelsOf(const FeedDemand& demand, const FeedPlan& plan, int64_t step) {
  const int64_t parts = plan.equal ? plan.parts : 1;
  std::vector<uint64_t> items(
      static_cast<size_t>(parts),
      static_cast<uint64_t>(plan.perPart * plan.parts / parts));  // of a part
  Lod lod;
  for (int level = 0; level < demand.lodLevel; ++level) {
    std::vector<uint64_t>& offsets = lod.emplace_back(1, 0);
    for (uint64_t& count : items) {
      uint64_t inner = 0;
      for (uint64_t item = 0; item < count; ++item) {
        inner += lengthOf(plan, step, level, item);
        offsets.push_back(offsets.back() + lengthOf(plan, step, level, item));
      }
      count = inner;
    }
  }
  return lod;
}

}  // namespace

// Makes the whole batch that the reference is fed with, of which ranks take parts. `batch` is the
// dim that is cut (-1: none). With `plan.equal` all parts hold the same samples: then a rank's
// share gives what the whole gives, also through ops whose sites tell a share from the batch.
absl::StatusOr<Tensor> makeFeed(const FeedDemand& demand, int batch, const FeedPlan& plan,
                                int64_t step) {
  std::vector<int64_t> dims = demand.dims;
  for (size_t d = 0; d < dims.size(); ++d)
    if (dims[d] < 0)
      dims[d] = static_cast<int>(d) == batch ? plan.parts * plan.perPart : plan.others;
  Lod lod;
  if (demand.lodLevel > 0) {
    if (dims.empty()) return absl::InvalidArgumentError("has levels of sequences and no rows");
    lod = levelsOf(demand, plan, step);
    dims[0] = static_cast<int64_t>(lod.back().back());
  } else if (batch >= 0 && dims[static_cast<size_t>(batch)] % plan.parts != 0) {
    return absl::InvalidArgumentError(absl::StrCat("declares a batch of ",
                                                   dims[static_cast<size_t>(batch)], ", which ",
                                                   plan.parts, " parts do not divide"));
  }
  DT_ASSIGN_OR_RETURN(Tensor tensor, Tensor::Zeros(demand.dtype, dims));
  DT_ASSIGN_OR_RETURN(const int64_t count, ElementCount(dims));
  // Where the number of an element comes from: of equal parts the place within the part.
  std::vector<int64_t> places(static_cast<size_t>(count));
  int64_t inner = 1, extent = 1;
  if (batch >= 0) {
    extent = dims[static_cast<size_t>(batch)];
    for (size_t d = static_cast<size_t>(batch) + 1; d < dims.size(); ++d) inner *= dims[d];
  }
  const int64_t share = batch >= 0 && plan.equal ? extent / plan.parts : extent;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t along = i / inner % extent, outer = i / inner / extent;
    places[static_cast<size_t>(i)] = (outer * extent + along % share) * inner + i % inner;
  }
  const Numbers numbers(absl::StrCat(plan.seed, " ", demand.name, " ", step));
  switch (demand.dtype) {
    case DType::kFloat32: fill<float>(tensor, demand, plan, numbers, places); break;
    case DType::kFloat64: fill<double>(tensor, demand, plan, numbers, places); break;
    case DType::kInt64: fill<int64_t>(tensor, demand, plan, numbers, places); break;
    case DType::kInt32: fill<int32_t>(tensor, demand, plan, numbers, places); break;
    case DType::kBool: fill<bool>(tensor, demand, plan, numbers, places); break;
    case DType::kUInt8: fill<uint8_t>(tensor, demand, plan, numbers, places); break;
    default:
      return absl::UnimplementedError(
          absl::StrCat("no values of type ", NameOf(demand.dtype), " are generated"));
  }
  tensor.lod = std::move(lod);
  return tensor;
}

// The first of equal parts along dim `batch`. Of sequences the first items of the outermost level,
// whose offsets lead to the rows level by level.
absl::StatusOr<Tensor> firstPart(const Tensor& whole, int batch, int64_t parts) {
  if (batch < 0 || parts == 1) return whole.Clone();
  std::vector<int64_t> dims = whole.dims;
  Lod lod;
  if (whole.lod.empty()) {
    dims[static_cast<size_t>(batch)] /= parts;
  } else {
    uint64_t items = (whole.lod.front().size() - 1) / static_cast<uint64_t>(parts);
    for (const std::vector<uint64_t>& level : whole.lod) {
      lod.emplace_back(level.begin(), level.begin() + static_cast<int64_t>(items) + 1);
      items = level[items];
    }
    dims[0] = static_cast<int64_t>(items);
  }
  DT_ASSIGN_OR_RETURN(Tensor part, Tensor::Zeros(whole.dtype, dims));
  int64_t outer = 1, inner = static_cast<int64_t>(SizeOf(whole.dtype));
  for (size_t d = 0; d < dims.size(); ++d) {
    if (static_cast<int>(d) < batch) outer *= dims[d];
    if (static_cast<int>(d) > batch) inner *= dims[d];
  }
  const int64_t taken = dims[static_cast<size_t>(batch)] * inner;
  const int64_t stride = whole.dims[static_cast<size_t>(batch)] * inner;
  for (int64_t o = 0; o < outer; ++o)
    std::copy_n(whole.bytes.data() + o * stride, taken, part.bytes.data() + o * taken);
  part.lod = std::move(lod);
  return part;
}

}  // namespace dtranspile::verify
