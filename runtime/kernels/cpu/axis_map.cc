#include "runtime/kernels/cpu/axis_map.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/kernels/cpu/long_sum.h"
#include "runtime/kernels/cpu/small_float.h"

namespace dtranspile::kernels {
namespace {

// The map as rows of `block` elements that lie side by side on both sides: offsets into x (in
// elements) per position of every dim that is left, -1 outside.
struct Rows {
  std::vector<std::vector<int64_t>> offset;
  int64_t outer = 1, last = 1, block = 1;
};

// Whether the positions are a, a + 1, a + 2 … with none outside: such a dim can be copied in one
// piece.
bool Contiguous(const std::vector<int64_t>& at) {
  for (size_t i = 0; i < at.size(); ++i)
    if (at[i] < 0 || at[i] != at[0] + static_cast<int64_t>(i)) return false;
  return !at.empty();
}

// Finds the longest block that a copy can take in one piece. From the last dim backwards, dims that
// the map takes whole and in order are contiguous in x too, so they are merged; the first dim
// before them that is at least contiguous (a slice) joins the block as well, its start being added
// once to every offset of the dim that is then the last. What remains are tables of offsets already
// multiplied by the strides of x, so that walking needs additions only. Linear in the positions of
// the map.
Rows RowsOf(const AxisMap& map) {
  Rows rows;
  size_t dims = map.at.size();
  int64_t stride = 1;
  // Whole dims at the end, then at most one run of positions, are one block.
  while (dims > 0 && Contiguous(map.at[dims - 1]) &&
         static_cast<int64_t>(map.at[dims - 1].size()) == map.x[dims - 1]) {
    stride *= map.x[--dims];
  }
  rows.block = stride;
  int64_t base = 0;
  if (dims > 0 && Contiguous(map.at[dims - 1])) {
    --dims;
    base = map.at[dims][0] * stride;
    rows.block *= static_cast<int64_t>(map.at[dims].size());
    stride *= map.x[dims];
  }
  rows.offset.resize(std::max<size_t>(dims, 1));
  for (size_t d = dims; d-- > 0; stride *= map.x[d]) {
    for (int64_t at : map.at[d]) rows.offset[d].push_back(at < 0 ? -1 : at * stride);
  }
  if (dims == 0) rows.offset[0] = {0};
  for (int64_t& at : rows.offset.back())
    if (at >= 0) at += base;
  for (size_t d = 0; d + 1 < rows.offset.size(); ++d)
    rows.outer *= static_cast<int64_t>(rows.offset[d].size());
  rows.last = static_cast<int64_t>(rows.offset.back().size());
  return rows;
}

// Where the rows with outer index `index` begin, -1 outside of x.
int64_t BaseOf(const Rows& rows, int64_t index) {
  int64_t base = 0;
  bool outside = false;
  for (size_t d = rows.offset.size() - 1; d-- > 0;) {
    const auto extent = static_cast<int64_t>(rows.offset[d].size());
    const int64_t at = rows.offset[d][static_cast<size_t>(index % extent)];
    outside |= at < 0;
    base += at;
    index /= extent;
  }
  return outside ? -1 : base;
}

// visit(row of dense, offset in x or -1) for the rows [lo, lo + n).
template <typename Visit>
void WalkRows(const Rows& rows, int64_t lo, int64_t n, Visit&& visit) {
  const std::vector<int64_t>& last = rows.offset.back();
  for (int64_t row = lo, end = lo + n; row < end;) {
    const int64_t base = BaseOf(rows, row / rows.last);
    int64_t at = row % rows.last;
    for (; at < rows.last && row < end; ++at, ++row) {
      const int64_t offset = last[static_cast<size_t>(at)];
      visit(row, base < 0 || offset < 0 ? -1 : base + offset);
    }
  }
}

struct Wide {
  uint64_t words[2];
};

// Moving elements needs their size only: five instances serve all element types, complex numbers of
// 16 bytes among them.
template <typename Visit>
int32_t VisitSize(OpCall& call, int64_t size, Visit&& visit) {
  switch (size) {
    case 1: return visit(TypeTag<uint8_t>());
    case 2: return visit(TypeTag<uint16_t>());
    case 4: return visit(TypeTag<uint32_t>());
    case 8: return visit(TypeTag<uint64_t>());
    case 16: return visit(TypeTag<Wide>());
    default: return call.Fail("elements of %lld bytes", static_cast<long long>(size));
  }
}

// Adds `columns` elements of each of the rows [lo, lo + n), beginning with element `first` of the
// block. Sum may be wider than T (see AddMapped).
template <typename T, typename Sum>
void AddRows(const Rows& rows, int64_t lo, int64_t n, int64_t first, int64_t columns,
             const T* dense, Sum* x) {
  WalkRows(rows, lo, n, [&](int64_t row, int64_t at) {
    if (at < 0) return;
    Sum* __restrict to = x + at + first;
    const T* __restrict from = dense + row * rows.block + first;
    for (int64_t k = 0; k < columns; ++k) to[k] = Plus<Sum>(to[k], from[k]);
  });
}

// Whether no position of x is named twice in a dim (positions outside do not count). Where this
// holds in every dim no two elements of the result read the same element of x, and the gradient is
// a copy instead of a sum.
bool DistinctDim(const std::vector<int64_t>& at) {
  std::vector<int64_t> sorted;
  std::copy_if(at.begin(), at.end(), std::back_inserter(sorted), [](int64_t p) { return p >= 0; });
  std::sort(sorted.begin(), sorted.end());
  return std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end();
}

int64_t ProductOf(absl::Span<const int64_t> dims) {
  int64_t product = 1;
  for (int64_t d : dims) product *= d;
  return product;
}

// The number as one element of type T; false with a message where T is an integer and the number is
// not one (FromNumber).
template <typename T>
bool Store(OpCall& call, const DtBuffer& like, double number, void* element) {
  T value = {};
  if (!FromNumber(call, like, number, value)) return false;
  std::memcpy(element, &value, sizeof value);
  return true;
}

template <typename Half>
bool StoreHalf(double number, void* element) {
  const Half value = Half::From(static_cast<float>(number));
  std::memcpy(element, &value, sizeof value);
  return true;
}

}  // namespace

AxisMap::AxisMap(absl::Span<const int64_t> dims) : x(dims.begin(), dims.end()), at(dims.size()) {
  for (size_t d = 0; d < dims.size(); ++d) {
    at[d].resize(static_cast<size_t>(dims[d]));
    std::iota(at[d].begin(), at[d].end(), 0);
  }
}

void AxisMap::Prepend(int64_t dims) {
  if (dims <= 0) return;
  x.insert(x.begin(), static_cast<size_t>(dims), 1);
  at.insert(at.begin(), static_cast<size_t>(dims), {0});
}

std::vector<int64_t> AxisMap::Extents() const {
  std::vector<int64_t> extents;
  for (const auto& positions : at) extents.push_back(static_cast<int64_t>(positions.size()));
  return extents;
}

bool AxisMap::Distinct() const { return std::all_of(at.begin(), at.end(), DistinctDim); }

// dense[i] = x[map(i)], or `fill` (null: zero) where the map leads outside. By blocks, as long as
// memory runs on in both.
int32_t GatherMapped(OpCall& call, const AxisMap& map, const void* x, void* dense, int64_t size,
                     const void* fill) {
  const Rows rows = RowsOf(map);
  return VisitSize(call, size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    T outside = {};
    if (fill != nullptr) std::memcpy(&outside, fill, sizeof outside);
    const T* from = static_cast<const T*>(x);
    T* to = static_cast<T*>(dense);
    Parallel(call.context(), rows.outer * rows.last, GrainFor(2 * rows.block * size),
             [&](int64_t lo, int64_t n) {
               WalkRows(rows, lo, n, [&](int64_t row, int64_t at) {
                 if (rows.block == 1) to[row] = at < 0 ? outside : from[at];
                 else if (at < 0) std::fill_n(to + row * rows.block, rows.block, outside);
                 else
                   std::memcpy(to + row * rows.block, from + at,
                               static_cast<size_t>(rows.block * size));
               });
             });
    return 0;
  });
}

// x[map(i)] = dense[i]; places that the map does not reach keep what they hold. The map must not
// reach one twice, since rows run in parallel.
int32_t PutMapped(OpCall& call, const AxisMap& map, const void* dense, void* x, int64_t size) {
  const Rows rows = RowsOf(map);
  return VisitSize(call, size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(dense);
    T* to = static_cast<T*>(x);
    Parallel(call.context(), rows.outer * rows.last, GrainFor(2 * rows.block * size),
             [&](int64_t lo, int64_t n) {
               WalkRows(rows, lo, n, [&](int64_t row, int64_t at) {
                 if (at >= 0)
                   std::memcpy(to + at, from + row * rows.block,
                               static_cast<size_t>(rows.block * size));
               });
             });
    return 0;
  });
}

// The gradient of a map that takes elements more than once: x[at] += dense. Two ways to share the
// work without atomics, so that the order of the additions to one element, and with it the result,
// is the same with any number of threads: positions of the first dim where these meet in x never,
// else columns of the blocks, each thread walking all rows for its own columns. Sums of more values
// than kShortSum to a place are kept in a wider type (Total) first and rounded once.
int32_t AddMapped(OpCall& call, const AxisMap& map, const DtBuffer& type, const void* dense,
                  void* x) {
  const Rows rows = RowsOf(map);
  const int64_t count = rows.outer * rows.last, size = ElementSize(type);
  // Threads take whole positions of the first dim where no two of them meet in x, else columns of
  // the blocks.
  const bool split = rows.offset.size() > 1 ? DistinctDim(map.at[0]) : map.Distinct();
  return VisitNumber(call.context(), type, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = static_cast<const T*>(dense);
    const int64_t items = !split                   ? rows.block
                          : rows.offset.size() > 1 ? static_cast<int64_t>(rows.offset[0].size())
                                                   : count;
    if (items == 0 || count == 0) return 0;
    auto add = [&](auto* to) {
      Parallel(
          call.context(), items, GrainFor(2 * (split ? count / items * rows.block : count) * size),
          [&](int64_t lo, int64_t n) {
            if (split)
              AddRows(rows, lo * (count / items), n * (count / items), 0, rows.block, from, to);
            else AddRows(rows, 0, count, lo, n, from, to);
          });
    };
    T* to = static_cast<T*>(x);
    const int64_t places = ProductOf(map.x);
    if (!std::is_floating_point_v<T> || count * rows.block <= kShortSum * places) return add(to), 0;
    // Many values to a place, so places are few.
    auto* totals = static_cast<Total<T>*>(
        dt_scratch(call.context(), places * static_cast<int64_t>(sizeof(Total<T>))));
    if (totals == nullptr)
      return call.Fail("no memory for %lld totals", static_cast<long long>(places));
    std::copy_n(to, places, totals);
    add(totals);
    std::transform(totals, totals + places, to, [](Total<T> sum) { return static_cast<T>(sum); });
    return 0;
  });
}

// `times` copies of a dim's positions, one after the other, as `tile` and `expand` repeat. The
// product is checked first: a program can ask for more positions than there is memory for.
bool RepeatDim(OpCall& call, const char* name, int64_t times, std::vector<int64_t>& at) {
  int64_t count = 0;
  if (times < 0 || __builtin_mul_overflow(static_cast<int64_t>(at.size()), times, &count) ||
      count > kMostPositions)
    return call.Fail("'%s' is to be repeated %lld times", name, static_cast<long long>(times)),
           false;
  const std::vector<int64_t> once = at;
  at.clear();
  for (int64_t k = 0; k < times && !once.empty(); ++k)
    at.insert(at.end(), once.begin(), once.end());
  return true;
}

// Broadcasting by NumPy's rule: dims are aligned at the end, missing ones are 1, and only extents
// of 1 are repeated. -1 in `target` keeps the extent of x, where x has that dim (`expand_v2`).
bool BroadcastTo(OpCall& call, const char* name, absl::Span<const int64_t> target, AxisMap& map) {
  constexpr size_t kMostDims = 16;
  const size_t rank = target.size(), own_rank = map.x.size();
  if (rank < own_rank || rank > kMostDims)
    return call.Fail("'%s' of %zu dims cannot be expanded to %zu", name, own_rank, rank), false;
  map.Prepend(static_cast<int64_t>(rank - own_rank));
  for (size_t d = 0; d < rank; ++d) {
    const int64_t own = map.x[d], wanted = target[d];
    if (wanted == own || (wanted == -1 && d >= rank - own_rank)) continue;
    if (own != 1 || wanted < 0)
      return call.Fail("'%s' has %lld positions in dim %zu, which cannot be expanded to %lld", name,
                       static_cast<long long>(own), d, static_cast<long long>(wanted)),
             false;
    if (!RepeatDim(call, name, wanted, map.at[d])) return false;
  }
  return true;
}

bool NumberTo(OpCall& call, const DtBuffer& like, double number, void* element) {
  switch (TypeOf(like)) {
    case DType::kFloat32: return Store<float>(call, like, number, element);
    case DType::kFloat64: return Store<double>(call, like, number, element);
    case DType::kInt16: return Store<int16_t>(call, like, number, element);
    case DType::kInt32: return Store<int32_t>(call, like, number, element);
    case DType::kInt64: return Store<int64_t>(call, like, number, element);
    case DType::kInt8: return Store<int8_t>(call, like, number, element);
    case DType::kUInt8: return Store<uint8_t>(call, like, number, element);
    case DType::kBool: return Store<bool>(call, like, number, element);
    case DType::kFloat16: return StoreHalf<Float16>(number, element);
    case DType::kBFloat16: return StoreHalf<BFloat16>(number, element);
    default: break;
  }
  std::memset(element, 0, static_cast<size_t>(ElementSize(like)));
  if (number == 0) return true;
  return call.Fail("'%s' is %s: the number %g is not known in it", like.name, TypeName(like),
                   number),
         false;
}

// Copies a view given by extents and strides (in elements) to contiguous memory: the last dim in
// the inner loop, of the others the offset is computed once per row from the row's number.
int32_t GatherStrided(OpCall& call, absl::Span<const int64_t> extents,
                      absl::Span<const int64_t> strides, const void* from, void* to, int64_t size) {
  const int64_t last = extents.empty() ? 1 : extents.back(),
                step = extents.empty() ? 1 : strides.back();
  const int64_t outer =
      ProductOf(extents.empty() ? extents : extents.subspan(0, extents.size() - 1));
  return VisitSize(call, size, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), outer, GrainFor(2 * last * size), [&](int64_t lo, int64_t n) {
      for (int64_t i = lo; i < lo + n; ++i) {
        int64_t at = 0, rest = i;
        for (size_t d = extents.size() < 2 ? 0 : extents.size() - 1; d-- > 0; rest /= extents[d])
          at += rest % extents[d] * strides[d];
        const T* x = static_cast<const T*>(from) + at;
        T* y = static_cast<T*>(to) + i * last;
        for (int64_t k = 0; k < last; ++k) y[k] = x[k * step];
      }
    });
    return 0;
  });
}

// The whole kernel of an op that only moves elements: argument 0 is x, the last one the result;
// `build` reads the attributes and says which position of x each position of the result shows. The
// LoD of x stays where the number of rows does.
int32_t RunMapped(OpCall& call, MapBuilder build) {
  const DtBuffer& x = call.Arg(0);
  DtBuffer& out = call.Arg(call.raw()->num_slots - 1);
  AxisMap map(OpCall::Dims(x));
  if (!build(call, x, map) || !SameType(call, x, out)) return 1;
  const Lod& lod = OpCall::LodOf(x);
  if (!call.Resize(out, map.OutDims())) return 1;
  if (out.rank > 0 && x.rank > 0 && out.dims[0] == x.dims[0]) OpCall::SetLod(out, lod);
  char fill[16];
  if (!NumberTo(call, x, map.fill, fill)) return 1;
  return GatherMapped(call, map, x.data, out.data, ElementSize(x), fill);
}

// The gradient of such an op, by the same map: x, …, gradient of the result, gradient of x.
// Elements that the map never takes get 0.
int32_t RunMappedGrad(OpCall& call, MapBuilder build) {
  const int slots = call.raw()->num_slots;
  const DtBuffer &x = call.Arg(0), &gradient = call.Arg(slots - 2);
  DtBuffer& dx = call.Arg(slots - 1);
  AxisMap map(OpCall::Dims(x));
  if (!build(call, x, map) || !call.Resize(dx, x)) return 1;
  if (Elements(gradient) != ProductOf(map.Extents()))
    return call.Fail("'%s' has not the extents of the result that it belongs to", gradient.name);
  if (!SameType(call, gradient, dx)) return 1;
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  if (map.Distinct()) return PutMapped(call, map, gradient.data, dx.data, ElementSize(dx));
  return AddMapped(call, map, dx, gradient.data, dx.data);
}

// Integers that an op takes in one of three ways, by the framework's precedence: a list of tensors
// of one element each, else one tensor, else the attribute.
bool NumbersFrom(OpCall& call, int list_slot, int tensor_slot, absl::Span<const int64_t> attribute,
                 std::vector<int64_t>& values) {
  values.clear();
  for (int i = 0; i < call.Count(list_slot); ++i) {
    std::vector<int64_t> one;
    if (!IntegersOf(call, call.Arg(list_slot, i), one)) return false;
    if (one.size() != 1)
      return call.Fail("'%s' has %zu elements, expected one", call.Arg(list_slot, i).name,
                       one.size()),
             false;
    values.push_back(one[0]);
  }
  if (!values.empty()) return true;
  if (tensor_slot >= 0 && call.Has(tensor_slot))
    return IntegersOf(call, call.Arg(tensor_slot), values);
  values.assign(attribute.begin(), attribute.end());
  return true;
}

}  // namespace dtranspile::kernels
