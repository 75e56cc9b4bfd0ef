#include "runtime/ps/merge.h"

#include <algorithm>
#include <complex>
#include <cstring>
#include <type_traits>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/half.h"

namespace dtranspile::ps {
namespace {

// How elements of a type are read, added and written.
template <typename T>
struct Plain {
  using Sum = T;
  static constexpr bool kHasMean = !std::is_integral_v<T>;
  static void Load(const std::byte* from, T* to, int64_t n) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  }
  static void Store(const T* from, std::byte* to, int64_t n) {
    std::memcpy(to, from, static_cast<size_t>(n) * sizeof(T));
  }
};
// Sums are made in float32 and rounded once.
struct Half {
  using Sum = float;
  static constexpr bool kHasMean = true;
  static void Load(const std::byte* from, float* to, int64_t n) { comm::LoadFloat16(from, to, n); }
  static void Store(const float* from, std::byte* to, int64_t n) {
    comm::StoreFloat16(from, to, n);
  }
};
struct BFloat16 {
  using Sum = float;
  static constexpr bool kHasMean = true;
  static void Load(const std::byte* from, float* to, int64_t n) { comm::LoadBFloat16(from, to, n); }
  static void Store(const float* from, std::byte* to, int64_t n) {
    comm::StoreBFloat16(from, to, n);
  }
};

// Elements that stay in the first-level cache.
constexpr int64_t kBlock = 512;

// As the op `scale` has it: times the rounded factor.
template <typename E>
void Scale(typename E::Sum* values, int64_t n, double factor) {
  if constexpr (E::kHasMean) {
    if (factor == 1) return;
    const auto rounded = static_cast<typename E::Sum>(factor);
    for (int64_t i = 0; i < n; ++i) values[i] *= rounded;
  }
}

// Elements [begin, end).
template <typename E>
void Add(const std::vector<const std::byte*>& from, int64_t size, int64_t begin, int64_t end,
         double factor, std::byte* to) {
  typename E::Sum sum[kBlock], next[kBlock];
  for (int64_t at = begin; at < end; at += kBlock) {
    const int64_t n = std::min(kBlock, end - at);
    E::Load(from.front() + at * size, sum, n);
    for (size_t k = 1; k < from.size(); ++k) {
      E::Load(from[k] + at * size, next, n);
      for (int64_t i = 0; i < n; ++i) sum[i] += next[i];
    }
    Scale<E>(sum, n, factor);
    E::Store(sum, to + (at - begin) * size, n);
  }
}

// What the trainers of a round have pushed for a table, in the order of their ranks: the order of
// additions, and so every bit of the result, is the same whatever came first.
template <typename E>
struct Merger {
  using Sum = typename E::Sum;

  const exec::Table& table;
  const Contributions& from;

  int64_t size() const { return static_cast<int64_t>(SizeOf(table.dtype)); }
  double factor() const {
    const bool mean = !from.empty() && from.front()->merge() == exec::Merge::kMean;
    return mean ? 1.0 / static_cast<double>(from.size()) : 1.0;
  }

  // Elements [begin, end) of the part, block by block.
  void Dense(int64_t begin, int64_t end, std::byte* to) const {
    std::vector<const std::byte*> values;
    for (const Contribution* one : from) values.push_back(one->dense());
    Add<E>(values, size(), begin, end, factor(), to);
  }

  // Calls `take(row, values)` for the rows that lie in [first, first + count), trainer by trainer.
  template <typename Take>
  void EachRow(int64_t first, int64_t count, Take&& take) const {
    for (const Contribution* one : from)
      for (const auto& [unused, rows] : one->rows())
        for (int64_t i = 0; i < rows.count; ++i)
          if (const int64_t row = rows.numbers()[i] - first; row >= 0 && row < count)
            take(row, rows.values() + i * RowBytesOf(table));
  }

  // Rows [first, first + count) as a dense tensor: rows that nobody has pushed are zero, those
  // pushed several times are summed.
  void Scattered(int64_t first, int64_t count, std::byte* to) const {
    const int64_t width = WidthOf(table);
    std::vector<Sum> sums(static_cast<size_t>(count * width)), next(static_cast<size_t>(width));
    EachRow(first, count, [&](int64_t row, const std::byte* values) {
      E::Load(values, next.data(), width);
      Sum* sum = sums.data() + row * width;
      for (int64_t i = 0; i < width; ++i) sum[i] += next[static_cast<size_t>(i)];
    });
    Scale<E>(sums.data(), count * width, factor());
    E::Store(sums.data(), to, count * width);
  }

  // The same as SelectedRows of height `count`: the trainers' rows one after the other, not merged;
  // an optimizer merges them. A mean divides each by the number of trainers.
  absl::Status Rows(int64_t first, int64_t count, exec::Value& to) const {
    const int64_t width = WidthOf(table);
    int64_t rows = 0;
    EachRow(first, count, [&](int64_t, const std::byte*) { ++rows; });
    std::vector<int64_t> dims = table.dims;
    dims[0] = rows;
    DT_RETURN_IF_ERROR(to.Resize(dims));
    to.height = count;
    to.rows.clear();
    std::vector<Sum> values(static_cast<size_t>(width));
    std::byte* out = to.data();
    EachRow(first, count, [&](int64_t row, const std::byte* bytes) {
      to.rows.push_back(row);
      E::Load(bytes, values.data(), width);
      Scale<E>(values.data(), width, factor());
      E::Store(values.data(), out, width);
      out += RowBytesOf(table);
    });
    return absl::OkStatus();
  }
};

// Calls `use(E())` with the elements of a type; false for one that is not added.
template <typename Use>
bool WithElements(DType dtype, Use&& use) {
  switch (dtype) {
    case DType::kFloat32: return use(Plain<float>()), true;
    case DType::kFloat64: return use(Plain<double>()), true;
    case DType::kFloat16: return use(Half()), true;
    case DType::kBFloat16: return use(BFloat16()), true;
    case DType::kComplex64: return use(Plain<std::complex<float>>()), true;
    case DType::kComplex128: return use(Plain<std::complex<double>>()), true;
    // Sums of signed integers are those of unsigned ones: they wrap around.
    case DType::kInt8:
    case DType::kUInt8: return use(Plain<uint8_t>()), true;
    case DType::kInt16: return use(Plain<uint16_t>()), true;
    case DType::kInt32:
    case DType::kUInt32: return use(Plain<uint32_t>()), true;
    case DType::kInt64:
    case DType::kUInt64: return use(Plain<uint64_t>()), true;
    default: return false;
  }
}

}  // namespace

// Whether rounds can merge a table so. Integers have sums but no mean; bools neither.
absl::Status CheckMerge(const exec::Table& table, exec::Merge merge) {
  if (merge == exec::Merge::kEach)
    return absl::InvalidArgumentError(
        "is merged each by itself, which synchronous rounds do not do; push the mean or the sum");
  bool has_mean = false;
  const bool has_sum =
      WithElements(table.dtype, [&](auto element) { has_mean = decltype(element)::kHasMean; });
  if (merge == exec::Merge::kMean ? has_mean : has_sum) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat("is ", NameOf(table.dtype),
                                                 ", of which there is no ",
                                                 merge == exec::Merge::kMean ? "mean" : "sum"));
}

void MergeDense(const exec::Table& table, const Contributions& from, int64_t begin, int64_t end,
                std::byte* to) {
  WithElements(table.dtype,
               [&](auto element) { Merger<decltype(element)>{table, from}.Dense(begin, end, to); });
}

bool AddUp(DType dtype, const std::vector<const std::byte*>& from, int64_t count, double factor,
           std::byte* to) {
  bool done = false;
  WithElements(dtype, [&](auto element) {
    using E = decltype(element);
    done = E::kHasMean || factor == 1;
    if (done) Add<E>(from, static_cast<int64_t>(SizeOf(dtype)), 0, count, factor, to);
  });
  return done;
}

void MergeScattered(const exec::Table& table, const Contributions& from, int64_t first,
                    int64_t count, std::byte* to) {
  WithElements(table.dtype, [&](auto element) {
    Merger<decltype(element)>{table, from}.Scattered(first, count, to);
  });
}

absl::Status MergeRows(const exec::Table& table, const Contributions& from, int64_t first,
                       int64_t count, exec::Value& to) {
  absl::Status status;
  WithElements(table.dtype, [&](auto element) {
    status = Merger<decltype(element)>{table, from}.Rows(first, count, to);
  });
  return status;
}

}  // namespace dtranspile::ps
