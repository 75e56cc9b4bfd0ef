// Kernels that order the elements of lines: arg_max, argsort, top_k, kthvalue, mode, nanmedian, and
// the gradient of all that pick elements.
#include <algorithm>
#include <cstring>
#include <numeric>
#include <vector>

#include "runtime/kernels/cpu/ops/reduction/calls.h"
#include "runtime/kernels/cpu/ops/reduction/lines.h"

namespace dtranspile::kernels {
namespace {

// Extents of X with `extent` along the axis; dropped where `extent` is negative.
std::vector<int64_t> DimsWith(const DtBuffer& x, int64_t axis, int64_t extent) {
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  if (axis < 0) axis += x.rank;
  if (dims.empty()) return dims;
  if (extent < 0) dims.erase(dims.begin() + axis);
  else dims[static_cast<size_t>(axis)] = extent;
  return dims;
}

// The first of equal elements; NaN gives way to every number.
template <typename T>
int64_t ArgBest(const T* line, int64_t length, int64_t step, bool largest) {
  int64_t best = 0;
  for (int64_t i = 1; i < length; ++i) {
    const T x = line[i * step], y = line[best * step];
    const bool number = y != y && x == x;
    if (number || (largest ? x > y : x < y)) best = i;
  }
  return best;
}

// body(line, order, number of the line) with `order` the places of the line as arrange(line, order)
// leaves them.
template <typename T, typename Arrange, typename Body>
int32_t ForEachArranged(OpCall& call, const DtBuffer& x, const Lines& lines, Arrange&& arrange,
                        Body&& body) {
  int64_t* orders = OrderScratch(call, lines.length);
  if (orders == nullptr) return 1;
  Parallel(call.context(), lines.count(), GrainFor(16 * lines.length), [&](int64_t lo, int64_t n) {
    int64_t* order = orders + dt_thread(call.context()) * lines.length;
    for (int64_t i = lo; i < lo + n; ++i) {
      const T* line = Data<const T>(x) + lines.offset(i);
      std::iota(order, order + lines.length, int64_t{0});
      arrange(line, order);
      body(line, order, i);
    }
  });
  return 0;
}

// The same with the first `k` in order, equal ones by place.
template <typename T, typename Body>
int32_t ForEachSorted(OpCall& call, const DtBuffer& x, const Lines& lines, int64_t k, bool largest,
                      Body&& body) {
  return ForEachArranged<T>(
      call, x, lines,
      [&](const T* line, int64_t* order) {
        std::partial_sort(order, order + k, order + lines.length,
                          Before<T>{line, lines.inner, largest});
      },
      body);
}

// Which of equal elements are picked, and so where a gradient goes, follows in the framework from
// the algorithm that picks. These are the same ones (phi top_k_function, kthvalue_kernel and
// top_k_op.h of 1.x), over places instead of pairs.
enum class Pick { First, FirstOfOld, Kth };

// NaN is larger than every number; in 1.x it is neither.
template <typename T>
struct Ahead {
  const T* line;
  int64_t step;
  bool largest, old;

  bool operator()(int64_t a, int64_t b) const {
    const T x = line[a * step], y = line[b * step];
    if (old) return x > y;
    const bool no_x = x != x, no_y = y != y;
    return largest ? (no_x && !no_y) || x > y : (!no_x && no_y) || x < y;
  }
};

// Puts the first k places to the front of `order`. With nth_element, place k − 1 is that of the
// k-th; only what comes before is sorted then. O(n log k) and O(n + k log k).
template <typename T>
void PickFirst(Pick pick, const Ahead<T>& ahead, int64_t* order, int64_t n, int64_t k) {
  constexpr int64_t kFewOfMany = 64;
  if (pick == Pick::FirstOfOld || (pick == Pick::First && k * kFewOfMany < n))
    return std::partial_sort(order, order + k, order + n, ahead);
  std::nth_element(order, order + k - 1, order + n, ahead);
  if (pick == Pick::First) std::sort(order, order + k - 1, ahead);
}

// Values and places of the first k of every line, lines as in X.
template <typename EachLine>
int32_t LinesTo(OpCall& call, const DtBuffer& x, const Lines& lines, int64_t k, int out_slot,
                EachLine&& each_line) {
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Lines to{lines.outer, k, lines.inner};
    T* values = call.Has(out_slot) ? Data<T>(call.Arg(out_slot)) : nullptr;
    int64_t* indices = call.Has(out_slot + 1) ? Data<int64_t>(call.Arg(out_slot + 1)) : nullptr;
    return each_line(tag, [&](const T* line, const int64_t* order, int64_t i) {
      for (int64_t j = 0; j < k; ++j) {
        const int64_t at = to.offset(i) + j * to.inner;
        if (values != nullptr) values[at] = line[order[j] * lines.inner];
        if (indices != nullptr) indices[at] = order[j];
      }
    });
  });
}

// Values and places, the outputs `slot` and `slot` + 1, either of which may be absent.
bool ResizeBoth(OpCall& call, int slot, const DtBuffer& x, const std::vector<int64_t>& dims) {
  for (int i = slot; i < slot + 2; ++i) {
    if (!call.Has(i)) continue;
    if (!call.Resize(call.Arg(i), dims)) return false;
    const DType expected = i == slot ? TypeOf(x) : DType::kInt64;
    if (TypeOf(call.Arg(i)) != expected)
      return call.Fail("'%s' is %s, expected %s", call.Arg(i).name, TypeName(call.Arg(i)),
                       NameOf(expected)),
             false;
    OpCall::SetLod(call.Arg(i), OpCall::LodOf(x));
  }
  return true;
}

}  // namespace

// X; axis, keepdims, flatten, @type -> Out
// A result without dims is [1] where the job was written so (frameworks before tensors of rank 0).
int32_t ArgExtreme(OpCall& call) {
  using A = args::dt_arg_extreme;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const bool flatten = call.Bool(A::flatten), largest = call.Text(A::type) == "arg_max";
  Lines lines{1, Elements(x), 1};
  if (!flatten && !LinesOf(call, x, call.Int(A::axis), lines)) return 1;
  if (lines.length == 0) return call.Fail("'%s' has no element along the axis", x.name);
  std::vector<int64_t> dims =
      flatten ? std::vector<int64_t>(call.Bool(A::keepdims) ? static_cast<size_t>(x.rank) : 0, 1)
              : DimsWith(x, call.Int(A::axis), call.Bool(A::keepdims) ? 1 : -1);
  if (dims.empty() && out.rank == 1) dims = {1};
  if (!call.Resize(out, dims)) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return VisitIndex(call.context(), out, [&](auto index) {
      using I = typename decltype(index)::type;
      Parallel(call.context(), lines.count(),
               GrainFor(lines.length * static_cast<int64_t>(sizeof(T))),
               [&](int64_t lo, int64_t n) {
                 for (int64_t i = lo; i < lo + n; ++i)
                   Data<I>(out)[i] = static_cast<I>(ArgBest(Data<const T>(x) + lines.offset(i),
                                                            lines.length, lines.inner, largest));
               });
      return 0;
    });
  });
}

// X; axis, descending -> Out, Indices
int32_t Sort(OpCall& call) {
  using A = args::dt_sort;
  const DtBuffer& x = call.Arg(A::X);
  Lines lines;
  if (!LinesOf(call, x, call.Int(A::axis), lines) ||
      !ResizeBoth(call, A::Out, x, DimsWith(x, call.Int(A::axis), lines.length)))
    return 1;
  return LinesTo(call, x, lines, lines.length, A::Out, [&](auto tag, auto&& write) {
    using T = typename decltype(tag)::type;
    return ForEachSorted<T>(call, x, lines, lines.length, call.Bool(A::descending), write);
  });
}

// X, K; k[, axis, largest] -> Out, Indices
// Without an axis it is the op of 1.x: the last axis, the largest, with that version's algorithm.
int32_t TopK(OpCall& call) {
  using A = args::dt_top_k;
  const DtBuffer& x = call.Arg(A::X);
  const bool v2 = call.Given(A::axis);
  std::vector<int64_t> k = {call.Int(A::k)};
  if (call.Has(A::K) && !IntegersOf(call, call.Arg(A::K), k)) return 1;
  const int64_t axis = v2 ? call.Int(A::axis) : -1;
  Lines lines;
  if (!LinesOf(call, x, axis, lines)) return 1;
  if (k.size() != 1 || k[0] < 1 || k[0] > lines.length)
    return call.Fail("the first %lld of '%s', which has %lld elements along the axis",
                     static_cast<long long>(k.empty() ? 0 : k[0]), x.name,
                     static_cast<long long>(lines.length));
  if (!ResizeBoth(call, A::Out, x, DimsWith(x, axis, k[0]))) return 1;
  return LinesTo(call, x, lines, k[0], A::Out, [&](auto tag, auto&& write) {
    using T = typename decltype(tag)::type;
    return ForEachArranged<T>(
        call, x, lines,
        [&](const T* line, int64_t* order) {
          PickFirst<T>(v2 ? Pick::First : Pick::FirstOfOld,
                       {line, lines.inner, !v2 || call.Bool(A::largest), !v2}, order, lines.length,
                       k[0]);
        },
        write);
  });
}

// X; k, axis, keepdim -> Out, Indices: the k-th smallest
int32_t KthValue(OpCall& call) {
  using A = args::dt_kth_value;
  const DtBuffer& x = call.Arg(A::X);
  const int64_t k = call.Int(A::k), axis = call.Int(A::axis);
  Lines lines;
  if (!LinesOf(call, x, axis, lines)) return 1;
  if (k < 1 || k > lines.length)
    return call.Fail("element %lld of '%s', which has %lld along the axis",
                     static_cast<long long>(k), x.name, static_cast<long long>(lines.length));
  if (!ResizeBoth(call, A::Out, x, DimsWith(x, axis, call.Bool(A::keepdim) ? 1 : -1))) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachArranged<T>(
        call, x, lines,
        [&](const T* line, int64_t* order) {
          PickFirst<T>(Pick::Kth, {line, lines.inner, false, false}, order, lines.length, k);
        },
        [&](const T* line, const int64_t* order, int64_t i) {
          if (call.Has(A::Out)) Data<T>(call.Arg(A::Out))[i] = line[order[k - 1] * lines.inner];
          if (call.Has(A::Indices)) Data<int64_t>(call.Arg(A::Indices))[i] = order[k - 1];
        });
  });
}

// X; axis, keepdim -> Out, Indices: the most frequent value, the smallest of equally frequent ones,
// at its last place
// Runs of equal values in the sorted line; sorting is stable, so that the last place of a run is
// the last one in the line, too. A later run replaces the best only where it is longer.
int32_t Mode(OpCall& call) {
  using A = args::dt_mode;
  const DtBuffer& x = call.Arg(A::X);
  Lines lines;
  if (!LinesOf(call, x, call.Int(A::axis), lines)) return 1;
  if (lines.length == 0) return call.Fail("'%s' has no element along the axis", x.name);
  if (!ResizeBoth(call, A::Out, x, DimsWith(x, call.Int(A::axis), call.Bool(A::keepdim) ? 1 : -1)))
    return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    return ForEachSorted<T>(
        call, x, lines, lines.length, false, [&](const T* line, const int64_t* order, int64_t i) {
          int64_t best = 0, most = 0, run = 0;
          for (int64_t j = 0; j < lines.length; ++j) {
            ++run;
            if (j + 1 < lines.length &&
                line[order[j + 1] * lines.inner] == line[order[j] * lines.inner])
              continue;
            if (run > most) most = run, best = order[j];
            run = 0;
          }
          if (call.Has(A::Out)) Data<T>(call.Arg(A::Out))[i] = line[best * lines.inner];
          if (call.Has(A::Indices)) Data<int64_t>(call.Arg(A::Indices))[i] = best;
        });
  });
}

// X, Indices, Out@GRAD[; axis] -> X@GRAD: every picked element gets its gradient, the others zero
// An element picked twice gets one of its gradients, not their sum: picks of one line differ.
int32_t SelectedGrad(OpCall& call) {
  using A = args::dt_selected_grad;
  const DtBuffer &x = call.Arg(A::X), &indices = call.Arg(A::Indices),
                 &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Lines lines;
  if (!LinesOf(call, x, call.Given(A::axis) ? call.Int(A::axis) : -1, lines) || !call.Resize(dx, x))
    return 1;
  OpCall::SetLod(dx, OpCall::LodOf(x));
  const int64_t count = Elements(indices), k = lines.count() == 0 ? 0 : count / lines.count();
  if (Elements(gradient) != count || k * lines.count() != count || TypeOf(gradient) != TypeOf(x) ||
      TypeOf(indices) != DType::kInt64)
    return call.Fail("'%s' and '%s' do not fit '%s'", indices.name, gradient.name, x.name);
  for (int64_t i = 0; i < count; ++i) {
    const int64_t index = Data<int64_t>(indices)[i];
    if (index < 0 || index >= lines.length)
      return call.Fail("'%s' has the index %lld, out of range for an extent of %lld", indices.name,
                       static_cast<long long>(index), static_cast<long long>(lines.length));
  }
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const Lines from{lines.outer, k, lines.inner};
    Parallel(call.context(), lines.count(),
             GrainFor(lines.length * static_cast<int64_t>(sizeof(T))), [&](int64_t lo, int64_t n) {
               for (int64_t i = lo; i < lo + n; ++i)
                 for (int64_t j = 0; j < k; ++j) {
                   const int64_t at = from.offset(i) + j * from.inner;
                   Data<T>(dx)[lines.offset(i) + Data<int64_t>(indices)[at] * lines.inner] =
                       Data<T>(gradient)[at];
                 }
             });
    return 0;
  });
}

namespace {

// A tensor as the groups of elements that are reduced together: the dims that stay, in their order,
// and within a group the others.
struct Groups {
  std::vector<int64_t> starts, steps;  // offsets of groups, and of elements within them
  std::vector<int64_t> dims;           // extents of a result
};

void AddDim(const DtBuffer& x, int32_t dim, std::vector<int64_t>& offsets) {
  const int64_t step = Elements(x, dim + 1, x.rank);
  std::vector<int64_t> more;
  for (int64_t offset : offsets)
    for (int64_t i = 0; i < x.dims[dim]; ++i) more.push_back(offset + i * step);
  offsets = std::move(more);
}

// Elements that are reduced together: one of `starts` plus each of `steps`. Without axes all dims
// are reduced.
bool GroupsOf(OpCall& call, const DtBuffer& x, absl::Span<const int64_t> axes, bool keep,
              Groups& groups) {
  std::vector<bool> reduced(static_cast<size_t>(x.rank), axes.empty());
  for (int64_t axis : axes) {
    if (!NormalAxis(call, x, axis)) return false;
    reduced[static_cast<size_t>(axis)] = true;
  }
  groups.starts = groups.steps = {0};
  for (int32_t d = 0; d < x.rank; ++d) {
    const bool one = reduced[static_cast<size_t>(d)];
    AddDim(x, d, one ? groups.steps : groups.starts);
    if (!one || keep) groups.dims.push_back(one ? 1 : x.dims[d]);
  }
  return true;
}

// Values of a group as a line, and how many of them are numbers.
template <typename T>
int64_t LineOf(const DtBuffer& x, const Groups& groups, size_t group, T* line) {
  int64_t numbers = 0;
  for (int64_t step : groups.steps) {
    const T value = *line++ = Data<const T>(x)[groups.starts[group] + step];
    numbers += value == value ? 1 : 0;
  }
  return numbers;
}

// The places in the middle of the `numbers` values of an ordered line, that of the smaller value
// first; both are one where there is one.
struct Middle {
  int64_t low, high;
};
Middle MiddleOf(const int64_t* order, int64_t numbers) {
  const int64_t at = numbers / 2;
  return {order[numbers % 2 != 0 ? at : at - 1], order[at]};
}

}  // namespace

// X; axis, keepdim -> Out, MedianIndex: the middle of the values that are numbers, or the mean of
// both in the middle; places of two within their group, -1 where there is no number. Which of equal
// elements are in the middle follows, as for top_k, from the algorithm that orders as many as the
// group with the most numbers has.
int32_t NanMedian(OpCall& call) {
  using A = args::dt_nan_median;
  const DtBuffer& x = call.Arg(A::X);
  Groups groups;
  if (!GroupsOf(call, x, call.Ints(A::axis), call.Bool(A::keepdim), groups)) return 1;
  const auto length = static_cast<int64_t>(groups.steps.size()),
             count = static_cast<int64_t>(groups.starts.size());
  if (length == 0) return call.Fail("'%s' has no element along the axes", x.name);
  if (call.Has(A::Out) && !call.Resize(call.Arg(A::Out), groups.dims)) return 1;
  if (call.Has(A::MedianIndex) && !call.Resize(call.Arg(A::MedianIndex), {2 * count})) return 1;
  return VisitNumber(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<T> line(static_cast<size_t>(length));
    std::vector<int64_t> numbers(groups.starts.size()), order(line.size());
    for (size_t g = 0; g < numbers.size(); ++g) numbers[g] = LineOf(x, groups, g, line.data());
    const bool whole =
        std::all_of(numbers.begin(), numbers.end(), [&](int64_t one) { return one == length; });
    const int64_t most = numbers.empty() ? 0 : *std::max_element(numbers.begin(), numbers.end());
    for (size_t g = 0; g < numbers.size(); ++g) {
      LineOf(x, groups, g, line.data());
      Middle middle{-1, -1};
      T value = line[0];  // of no number
      if (numbers[g] > 0) {
        std::iota(order.begin(), order.end(), int64_t{0});
        PickFirst(Pick::First, Ahead<T>{line.data(), 1, false, false}, order.data(), length,
                  whole ? length / 2 + 1 : most);
        middle = MiddleOf(order.data(), numbers[g]);
        const T low = line[static_cast<size_t>(middle.low)],
                high = line[static_cast<size_t>(middle.high)];
        value = numbers[g] % 2 != 0 ? low : static_cast<T>(Plus(low, high) / T{2});
      }
      if (call.Has(A::Out)) Data<T>(call.Arg(A::Out))[g] = value;
      if (!call.Has(A::MedianIndex)) continue;
      int64_t* places = Data<int64_t>(call.Arg(A::MedianIndex)) + 2 * g;
      places[0] = middle.low, places[1] = middle.high;
    }
    return 0;
  });
}

// X, MedianIndex, Out@GRAD; axis -> X@GRAD: the gradient, half of it where there are two
int32_t NanMedianGrad(OpCall& call) {
  using A = args::dt_nan_median_grad;
  const DtBuffer &x = call.Arg(A::X), &places = call.Arg(A::MedianIndex),
                 &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  Groups groups;
  if (!GroupsOf(call, x, call.Ints(A::axis), false, groups)) return 1;
  const auto length = static_cast<int64_t>(groups.steps.size()),
             count = static_cast<int64_t>(groups.starts.size());
  if (Elements(gradient) != count || Elements(places) != 2 * count)
    return call.Fail("'%s' and '%s' do not fit '%s'", places.name, gradient.name, x.name);
  for (int64_t i = 0; i < 2 * count; ++i)
    if (const int64_t place = Data<int64_t>(places)[i]; place < -1 || place >= length)
      return call.Fail("'%s' has the index %lld, out of range for an extent of %lld", places.name,
                       static_cast<long long>(place), static_cast<long long>(length));
  if (!call.Resize(dx, x)) return 1;
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t g = 0; g < count; ++g) {
      const int64_t *pair = Data<int64_t>(places) + 2 * g, start = groups.starts[size_t(g)];
      const T share = Data<T>(gradient)[g] / (pair[0] == pair[1] ? T{1} : T{2});
      for (int k = 0; k < 2; ++k)
        if (pair[k] >= 0) Data<T>(dx)[start + groups.steps[size_t(pair[k])]] = share;
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
