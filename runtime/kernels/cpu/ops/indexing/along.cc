// index_select, index_sample, take_along_axis, put_along_axis and their gradients: positions along
// one axis, the same for all rows or one per element (phi index_select, index_sample,
// take_along_axis, put_along_axis).
#include <algorithm>
#include <cstring>
#include <string>
#include <vector>

#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

bool InRange(OpCall& call, const DtBuffer& index, int64_t value, int64_t n) {
  if (value >= 0 && value < n) return true;
  return call.Fail("'%s' has the index %lld, out of range for an extent of %lld", index.name,
                   static_cast<long long>(value), static_cast<long long>(n)),
         false;
}

// Where each element of `index` points to in x, which has its extents but along the axis.
bool PlacesOf(OpCall& call, const DtBuffer& x, const DtBuffer& index, int64_t axis,
              std::vector<int64_t>& places) {
  bool fits = index.rank == x.rank;
  for (int32_t d = 0; fits && d < x.rank; ++d) fits = d == axis || index.dims[d] == x.dims[d];
  if (!fits)
    return call.Fail("the extents of '%s' do not fit those of '%s'", index.name, x.name), false;
  if (!IntegersOf(call, index, places)) return false;
  const auto at = static_cast<int32_t>(axis);
  const int64_t inner = Elements(x, at + 1, x.rank), taken = index.dims[axis], n = x.dims[axis];
  for (size_t e = 0; e < places.size(); ++e) {
    if (!InRange(call, index, places[e], n)) return false;
    const int64_t i = static_cast<int64_t>(e), outer = i / (taken * inner);
    places[e] = (outer * n + places[e]) * inner + i % inner;
  }
  return true;
}

// index_sample shares the calls of take_along_axis, but lacks the attribute: it indexes columns.
int64_t AxisAttr(OpCall& call) {
  using A = args::dt_take_along_axis;
  static_assert(A::Axis == args::dt_take_along_axis_grad::Axis);
  return call.Given(A::Axis) ? call.Int(A::Axis) : 1;
}

// What all four calls have in common: Input and Index are in the same slots (asserted), so that one
// function reads them. `places` holds offsets into Input, one per element of Index.
bool Places(OpCall& call, std::vector<int64_t>& places) {
  using A = args::dt_put_along_axis;
  static_assert(A::Index == args::dt_put_along_axis_grad::Index &&
                A::Input == args::dt_put_along_axis_grad::Input);
  static_assert(A::Index == args::dt_take_along_axis::Index &&
                A::Input == args::dt_take_along_axis::Input);
  static_assert(A::Index == args::dt_take_along_axis_grad::Index &&
                A::Input == args::dt_take_along_axis_grad::Input);
  const DtBuffer& x = call.Arg(A::Input);
  int64_t axis = AxisAttr(call);
  return NormalAxis(call, x, axis) && PlacesOf(call, x, call.Arg(A::Index), axis, places);
}

bool AsManyAs(OpCall& call, const DtBuffer& buffer, const DtBuffer& index) {
  if (SameShape(buffer, index)) return true;
  return call.Fail("'%s' has not the extents of '%s'", buffer.name, index.name), false;
}

// visit(TypeTag) by the size of an element.
template <typename Visit>
int32_t VisitWord(OpCall& call, const DtBuffer& buffer, Visit&& visit) {
  switch (ElementSize(buffer)) {
    case 1: return visit(TypeTag<uint8_t>());
    case 2: return visit(TypeTag<uint16_t>());
    case 4: return visit(TypeTag<uint32_t>());
    case 8: return visit(TypeTag<uint64_t>());
    default:
      return call.Fail("'%s' is %s, which is not supported here", buffer.name, TypeName(buffer));
  }
}

// Elements only move, so that types of one size share an instance (VisitWord).
int32_t Take(OpCall& call, const DtBuffer& x, const std::vector<int64_t>& places, DtBuffer& out) {
  return VisitWord(call, x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t e = 0; e < places.size(); ++e) Data<T>(out)[e] = Data<T>(x)[places[e]];
    return 0;
  });
}

void Copy(const DtBuffer& from, DtBuffer& to) {
  std::memcpy(to.data, from.data, static_cast<size_t>(Elements(from) * ElementSize(from)));
}

enum class Reduce { kAssign, kAdd, kMultiply, kMin, kMax, kMean };

// The names of all versions of the framework: `mul` and `multiply` are the same.
bool ReduceOf(OpCall& call, std::string_view text, Reduce& reduce) {
  constexpr std::pair<std::string_view, Reduce> kNames[] = {
      {"assign", Reduce::kAssign},     {"add", Reduce::kAdd},  {"mul", Reduce::kMultiply},
      {"multiply", Reduce::kMultiply}, {"amin", Reduce::kMin}, {"amax", Reduce::kMax},
      {"mean", Reduce::kMean}};
  for (const auto& [name, value] : kNames)
    if (name == text) return reduce = value, true;
  return call.Fail("reduction '%.*s' is not known", static_cast<int>(text.size()), text.data()),
         false;
}

// One value into its place; a mean is a sum here, divided afterwards by the number of values.
template <typename T>
void PutOne(Reduce reduce, T value, T& place) {
  switch (reduce) {
    case Reduce::kAssign: place = value; break;
    case Reduce::kMultiply: place *= value; break;
    case Reduce::kMin: place = std::min(place, value); break;
    case Reduce::kMax: place = std::max(place, value); break;
    default: place = Plus(place, value); break;
  }
}

// Places of the reduction begin with its neutral element where the old values do not take part: the
// first value then.
template <typename T>
void Put(Reduce reduce, bool include_self, const std::vector<int64_t>& places, const T* values,
         T* out) {
  std::vector<int64_t> sorted = places;
  std::sort(sorted.begin(), sorted.end());
  std::vector<int64_t> counts(reduce == Reduce::kMean || !include_self ? sorted.size() : 0, 0);
  const auto rank = [&](int64_t place) {
    return static_cast<size_t>(std::lower_bound(sorted.begin(), sorted.end(), place) -
                               sorted.begin());
  };
  for (size_t e = 0; e < places.size(); ++e) {
    const bool first = !counts.empty() && counts[rank(places[e])]++ == 0;
    PutOne(first && !include_self ? Reduce::kAssign : reduce, values[e], out[places[e]]);
  }
  if (reduce != Reduce::kMean) return;
  for (size_t e = 0; e < places.size(); ++e) {
    int64_t& count = counts[rank(places[e])];
    if (count > 0) out[places[e]] /= static_cast<T>(count + (include_self ? 1 : 0));
    count = 0;
  }
}

}  // namespace

// X, Index; dim
bool IndexSelectMap(OpCall& call, const DtBuffer& x, AxisMap& map) {
  using A = args::dt_index_select;
  static_assert(A::Index == args::dt_index_select_grad::Index &&
                A::dim == args::dt_index_select_grad::dim);
  const DtBuffer& index = call.Arg(A::Index);
  int64_t dim = call.Int(A::dim);
  std::vector<int64_t> positions;
  if (!NormalAxis(call, x, dim) || !IntegersOf(call, index, positions)) return false;
  for (int64_t p : positions)
    if (!InRange(call, index, p, x.dims[dim])) return false;
  map.at[static_cast<size_t>(dim)] = std::move(positions);
  return true;
}

// Input, Index; Axis (1 where there is none) -> Result
int32_t TakeAlongAxis(OpCall& call) {
  using A = args::dt_take_along_axis;
  std::vector<int64_t> places;
  DtBuffer& out = call.Arg(A::Result);
  if (!SameType(call, call.Arg(A::Input), out) || !Places(call, places) ||
      !call.Resize(out, call.Arg(A::Index)))
    return 1;
  return Take(call, call.Arg(A::Input), places, out);
}

// Input, Index, Result@GRAD; Axis -> Input@GRAD
int32_t TakeAlongAxisGrad(OpCall& call) {
  using A = args::dt_take_along_axis_grad;
  const DtBuffer& gradient = call.Arg(A::Result_GRAD);
  DtBuffer& dx = call.Arg(A::Input_GRAD);
  std::vector<int64_t> places;
  if (!SameType(call, gradient, dx) || !Places(call, places) ||
      !AsManyAs(call, gradient, call.Arg(A::Index)) || !call.Resize(dx, call.Arg(A::Input)))
    return 1;
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (size_t e = 0; e < places.size(); ++e) {
      T& to = Data<T>(dx)[places[e]];
      to = Plus(to, Data<T>(gradient)[e]);
    }
    return 0;
  });
}

// Input, Index, Value; Axis, Reduce, Include_self -> Result
int32_t PutAlongAxis(OpCall& call) {
  using A = args::dt_put_along_axis;
  const DtBuffer &x = call.Arg(A::Input), &value = call.Arg(A::Value);
  DtBuffer& out = call.Arg(A::Result);
  Reduce reduce = Reduce::kAssign;
  std::vector<int64_t> places;
  if (!SameType(call, x, out) || !SameType(call, x, value) ||
      !ReduceOf(call, call.Text(A::Reduce), reduce) || !Places(call, places) ||
      !AsManyAs(call, value, call.Arg(A::Index)) || !call.Resize(out, x))
    return 1;
  Copy(x, out);
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Put(reduce, call.Bool(A::Include_self), places, Data<T>(value), Data<T>(out));
    return 0;
  });
}

namespace {

// Gradients of products, means and extremes, as the framework 2.6 has them: a factor has the result
// divided by itself, equal extremes share theirs. Old values that took no part have none, and yet
// count among the extremes.
struct PutGrad {
  Reduce reduce;
  bool include_self;
  const std::vector<int64_t>& places;

  // Of a product the gradient is that of the result times the other factors; of a maximum or
  // minimum it goes in equal shares to all that have that value, and of a mean to all that were
  // counted.
  template <typename T>
  void OfInput(const T* x, const T* value, const T* out, const T* gradient, int64_t elements,
               T* dx) const {
    const std::vector<int64_t> shares = SharesOf(x, value, out, elements);
    std::copy_n(gradient, elements, dx);
    for (int64_t place : places) {
      const T share = static_cast<T>(shares[static_cast<size_t>(place)]), g = gradient[place];
      if (!include_self) dx[place] = 0;
      else if (reduce == Reduce::kMultiply) dx[place] = g * out[place] / x[place];
      else if (reduce == Reduce::kMean || x[place] == out[place]) dx[place] = g / share;
      else dx[place] = 0;
    }
  }

  template <typename T>
  void OfValue(const T* x, const T* value, const T* out, const T* gradient, int64_t elements,
               T* dv) const {
    const std::vector<int64_t> shares = SharesOf(x, value, out, elements);
    for (size_t e = 0; e < places.size(); ++e) {
      const int64_t place = places[e];
      const T share = static_cast<T>(shares[static_cast<size_t>(place)]), g = gradient[place];
      if (reduce == Reduce::kMultiply) dv[e] = g * out[place] / value[e];
      else if (reduce == Reduce::kMean || value[e] == out[place]) dv[e] = g / share;
      else dv[e] = 0;
    }
  }

 private:
  // Among how many the gradient of a place is shared.
  template <typename T>
  std::vector<int64_t> SharesOf(const T* x, const T* value, const T* out, int64_t elements) const {
    std::vector<int64_t> shares(static_cast<size_t>(elements));
    for (int64_t place = 0; place < elements; ++place)
      shares[static_cast<size_t>(place)] =
          reduce == Reduce::kMean ? include_self : x[place] == out[place];
    for (size_t e = 0; e < places.size(); ++e)
      shares[static_cast<size_t>(places[e])] +=
          reduce == Reduce::kMean || value[e] == out[places[e]];
    return shares;
  }
};

int32_t ReducedGrad(OpCall& call, Reduce reduce, const std::vector<int64_t>& places) {
  using A = args::dt_put_along_axis_grad;
  if (call.Int(A::version) < 2006000)
    return call.Fail("the gradient of reduction '%s' in programs from before 2.6 is not supported",
                     std::string(call.Text(A::Reduce)).c_str());
  const DtBuffer &x = call.Arg(A::Input), &value = call.Arg(A::Value), &out = call.Arg(A::Result),
                 &gradient = call.Arg(A::Result_GRAD);
  if (!SameShape(out, x) || !AsManyAs(call, value, call.Arg(A::Index)))
    return call.Fail("'%s' has not the extents of '%s'", out.name, x.name);
  for (int argument : {int{A::Input_GRAD}, int{A::Value_GRAD}}) {
    if (!call.Has(argument)) continue;
    DtBuffer& to = call.Arg(argument);
    if (!SameType(call, gradient, to) || !call.Resize(to, argument == A::Input_GRAD ? x : value))
      return 1;
  }
  const PutGrad grad{reduce, call.Bool(A::Include_self), places};
  return VisitFloat(call.context(), gradient, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T *from = Data<T>(x), *put = Data<T>(value), *result = Data<T>(out);
    if (call.Has(A::Input_GRAD))
      grad.OfInput(from, put, result, Data<T>(gradient), Elements(x),
                   Data<T>(call.Arg(A::Input_GRAD)));
    if (call.Has(A::Value_GRAD))
      grad.OfValue(from, put, result, Data<T>(gradient), Elements(x),
                   Data<T>(call.Arg(A::Value_GRAD)));
    return 0;
  });
}

}  // namespace

// Input, Index, Value, Result, Result@GRAD; Axis, Reduce, Include_self -> Input@GRAD, Value@GRAD
int32_t PutAlongAxisGrad(OpCall& call) {
  using A = args::dt_put_along_axis_grad;
  const DtBuffer& gradient = call.Arg(A::Result_GRAD);
  Reduce reduce = Reduce::kAssign;
  std::vector<int64_t> places;
  if (!ReduceOf(call, call.Text(A::Reduce), reduce) || !Places(call, places)) return 1;
  if (!SameShape(gradient, call.Arg(A::Input)))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, call.Arg(A::Input).name);
  if (reduce != Reduce::kAssign && reduce != Reduce::kAdd) return ReducedGrad(call, reduce, places);
  if (call.Has(A::Input_GRAD)) {
    DtBuffer& dx = call.Arg(A::Input_GRAD);
    if (!SameType(call, gradient, dx) || !call.Resize(dx, gradient)) return 1;
    Copy(gradient, dx);
    const auto size = static_cast<size_t>(ElementSize(dx));
    const bool lost = reduce == Reduce::kAssign || !call.Bool(A::Include_self);
    for (size_t e = 0; lost && e < places.size(); ++e)
      std::memset(Data<char>(dx) + static_cast<size_t>(places[e]) * size, 0, size);
  }
  if (!call.Has(A::Value_GRAD)) return 0;
  DtBuffer& dv = call.Arg(A::Value_GRAD);
  if (!SameType(call, gradient, dv) || !call.Resize(dv, call.Arg(A::Index))) return 1;
  if (reduce == Reduce::kAdd) return Take(call, gradient, places, dv);
  // What was put last at a place is there, and gets the gradient.
  return VisitWord(call, gradient, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::vector<bool> taken(static_cast<size_t>(Elements(gradient)));
    for (size_t e = places.size(); e-- > 0;) {
      const auto place = static_cast<size_t>(places[e]);
      Data<T>(dv)[e] = taken[place] ? T{0} : Data<T>(gradient)[place];
      taken[place] = true;
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
