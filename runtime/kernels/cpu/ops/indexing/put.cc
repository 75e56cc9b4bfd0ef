// index_put and its gradient: values at places that lists of coordinates or masks name (phi
// index_put). A mask stands for the coordinates of its true elements, one list for each of its
// dims. Lists broadcast with each other; dims of x behind those that they name are taken whole.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

// Coordinates along one dim of x.
struct Coordinates {
  const char* name;
  std::vector<int64_t> dims, values;
};

// Where the values go: `at` has the first element of each block of `inner` elements. `dims` are the
// extents that values are broadcast to.
struct Places {
  std::vector<int64_t> dims, at;
  int64_t inner = 1;
};

// One list for each dim of the mask.
bool TrueElements(OpCall& call, const DtBuffer& mask, const DtBuffer& x,
                  std::vector<Coordinates>& lists) {
  const size_t first = lists.size();
  for (int32_t d = 0; d < mask.rank; ++d) {
    const auto at = static_cast<int32_t>(first) + d;
    if (at >= x.rank || mask.dims[d] != x.dims[at])
      return call.Fail("mask '%s' has not the extents of '%s' from dim %zu on", mask.name, x.name,
                       first),
             false;
    lists.push_back({mask.name, {}, {}});
  }
  for (int64_t e = 0; e < Elements(mask); ++e) {
    if (!Data<bool>(mask)[e]) continue;
    int64_t rest = e;
    for (int32_t d = mask.rank; d-- > 0; rest /= mask.dims[d])
      lists[first + static_cast<size_t>(d)].values.push_back(rest % mask.dims[d]);
  }
  for (size_t i = first; i < lists.size(); ++i)
    lists[i].dims = {static_cast<int64_t>(lists[i].values.size())};
  return true;
}

bool ListsOf(OpCall& call, int slot, const DtBuffer& x, std::vector<Coordinates>& lists) {
  for (int i = 0; i < call.Count(slot); ++i) {
    const DtBuffer& index = call.Arg(slot, i);
    if (TypeOf(index) == DType::kBool) {
      if (!TrueElements(call, index, x, lists)) return false;
      continue;
    }
    lists.push_back({index.name, {index.dims, index.dims + index.rank}, {}});
    if (!IntegersOf(call, index, lists.back().values)) return false;
  }
  if (lists.empty() || lists.size() > static_cast<size_t>(x.rank))
    return call.Fail("%zu lists of coordinates for '%s' of %d dims", lists.size(), x.name, x.rank),
           false;
  return true;
}

// Extents that all lists broadcast to.
bool CommonExtents(OpCall& call, const std::vector<Coordinates>& lists,
                   std::vector<int64_t>& dims) {
  for (const Coordinates& list : lists) {
    if (list.dims.size() > dims.size())
      dims.insert(dims.begin(), list.dims.size() - dims.size(), 1);
    for (size_t d = 0; d < list.dims.size(); ++d) {
      int64_t& extent = dims[dims.size() - list.dims.size() + d];
      if (extent == 1) extent = list.dims[d];
      else if (list.dims[d] != 1 && list.dims[d] != extent)
        return call.Fail("'%s' does not broadcast with the other lists of coordinates", list.name),
               false;
    }
  }
  return true;
}

// Coordinates become offsets in x: lists are broadcast to their common extents, and combined dim by
// dim as a number in mixed radix. Negative coordinates count from the end.
bool PlacesOf(OpCall& call, int slot, const DtBuffer& x, Places& places) {
  std::vector<Coordinates> lists;
  if (!ListsOf(call, slot, x, lists) || !CommonExtents(call, lists, places.dims)) return false;
  int64_t count = 1;
  for (int64_t extent : places.dims) count *= extent;
  places.at.assign(static_cast<size_t>(count), 0);
  std::vector<int64_t> spread(static_cast<size_t>(count));
  for (size_t k = 0; k < lists.size(); ++k) {
    AxisMap map(lists[k].dims);
    if (!BroadcastTo(call, lists[k].name, places.dims, map) ||
        GatherMapped(call, map, lists[k].values.data(), spread.data(), sizeof(int64_t), nullptr))
      return false;
    const int64_t extent = x.dims[k];
    for (size_t i = 0; i < spread.size(); ++i) {
      const int64_t value = spread[i] < 0 ? spread[i] + extent : spread[i];
      if (value < 0 || value >= extent)
        return call.Fail("'%s' has the index %lld, out of range for an extent of %lld",
                         lists[k].name, static_cast<long long>(spread[i]),
                         static_cast<long long>(extent)),
               false;
      places.at[i] = places.at[i] * extent + value;
    }
  }
  places.inner = Elements(x, static_cast<int32_t>(lists.size()), x.rank);
  for (int64_t& at : places.at) at *= places.inner;
  places.dims.insert(places.dims.end(), x.dims + lists.size(), x.dims + x.rank);
  return true;
}

void Copy(const DtBuffer& from, DtBuffer& to) {
  std::memcpy(to.data, from.data, static_cast<size_t>(Elements(from) * ElementSize(from)));
}

}  // namespace

// x, indices, value; accumulate -> out. Of equal places the last one counts, or their sum.
int32_t IndexPut(OpCall& call) {
  using A = args::dt_index_put;
  const DtBuffer &x = call.Arg(A::x), &value = call.Arg(A::value);
  DtBuffer& out = call.Arg(A::out);
  Places places;
  if (!PlacesOf(call, A::indices, x, places) || !call.Resize(out, x)) return 1;
  Copy(x, out);
  if (places.at.empty()) return 0;
  const int64_t size = ElementSize(x), bytes = places.inner * size;
  AxisMap map(OpCall::Dims(value));
  std::vector<char> rows(places.at.size() * static_cast<size_t>(bytes));
  if (!BroadcastTo(call, value.name, places.dims, map) ||
      GatherMapped(call, map, value.data, rows.data(), size, nullptr) != 0)
    return 1;
  if (!call.Bool(A::accumulate)) {
    for (size_t k = 0; k < places.at.size(); ++k)
      std::memcpy(Data<char>(out) + places.at[k] * size,
                  rows.data() + static_cast<int64_t>(k) * bytes, static_cast<size_t>(bytes));
    return 0;
  }
  return VisitPlain(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = reinterpret_cast<const T*>(rows.data());
    for (int64_t at : places.at)
      for (T *to = Data<T>(out) + at, *end = to + places.inner; to != end; ++to)
        *to = Plus(*to, *from++);
    return 0;
  });
}

// x, indices, value, out@GRAD; accumulate -> x@GRAD, value@GRAD. What was written over has none.
int32_t IndexPutGrad(OpCall& call) {
  using A = args::dt_index_put_grad;
  const DtBuffer &x = call.Arg(A::x), &value = call.Arg(A::value),
                 &gradient = call.Arg(A::out_GRAD);
  Places places;
  if (!SameShape(x, gradient))
    return call.Fail("'%s' has not the extents of '%s'", gradient.name, x.name);
  if (!PlacesOf(call, A::indices, x, places)) return 1;
  const int64_t size = ElementSize(gradient), bytes = places.inner * size;
  if (call.Has(A::x_GRAD)) {
    DtBuffer& dx = call.Arg(A::x_GRAD);
    if (!call.Resize(dx, x)) return 1;
    Copy(gradient, dx);
    for (size_t k = 0; k < places.at.size() && !call.Bool(A::accumulate); ++k)
      std::memset(Data<char>(dx) + places.at[k] * size, 0, static_cast<size_t>(bytes));
  }
  if (!call.Has(A::value_GRAD)) return 0;
  DtBuffer& dvalue = call.Arg(A::value_GRAD);
  if (!call.Resize(dvalue, value)) return 1;
  std::memset(dvalue.data, 0, static_cast<size_t>(Elements(dvalue) * size));
  if (places.at.empty()) return 0;
  AxisMap map(OpCall::Dims(value));
  if (!BroadcastTo(call, value.name, places.dims, map)) return 1;
  std::vector<char> rows(places.at.size() * static_cast<size_t>(bytes));
  for (size_t k = 0; k < places.at.size(); ++k)
    std::memcpy(rows.data() + static_cast<int64_t>(k) * bytes,
                Data<char>(gradient) + places.at[k] * size, static_cast<size_t>(bytes));
  return AddMapped(call, map, dvalue, rows.data(), dvalue.data);
}

}  // namespace dtranspile::kernels
