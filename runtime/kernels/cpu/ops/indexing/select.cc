// masked_select, multiplex, shard_index, gather_tree: elements or rows chosen by data (phi
// masked_select, multiplex, shard_index, gather_tree).
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/ops/indexing/calls.h"

namespace dtranspile::kernels {
namespace {

// The places in X that a mask chooses, in the order of both side by side, dims aligned at the end;
// what has an extent of 1 takes after the other.
bool ChosenBy(OpCall& call, const DtBuffer& x, const DtBuffer& mask, std::vector<int64_t>& chosen) {
  if (TypeOf(mask) != DType::kBool)
    return call.Fail("'%s' is %s, expected bool", mask.name, TypeName(mask)), false;
  const auto rank = static_cast<size_t>(std::max(x.rank, mask.rank));
  std::vector<int64_t> dims(rank, 1), steps_x(rank, 0), steps_mask(rank, 0);
  const auto take = [&](const DtBuffer& b, std::vector<int64_t>& steps) {
    int64_t step = 1;
    for (int32_t d = b.rank; d-- > 0; step *= b.dims[d]) {
      const size_t at = rank - static_cast<size_t>(b.rank - d);
      if (dims[at] == 1) dims[at] = b.dims[d];
      if (b.dims[d] != dims[at] && b.dims[d] != 1) return false;
      steps[at] = b.dims[d] == 1 ? 0 : step;
    }
    return true;
  };
  if (!take(x, steps_x) || !take(mask, steps_mask))
    return call.Fail("'%s' has not the extents of '%s'", mask.name, x.name), false;
  int64_t count = 1;
  for (const int64_t extent : dims) count *= extent;
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, place = 0, flag = 0;
    for (size_t d = rank; d-- > 0; rest /= dims[d]) {
      place += rest % dims[d] * steps_x[d];
      flag += rest % dims[d] * steps_mask[d];
    }
    if (Data<uint8_t>(mask)[flag] != 0) chosen.push_back(place);
  }
  return true;
}

// Which of the inputs each row comes from.
bool ChoicesOf(OpCall& call, const DtBuffer& ids, int64_t rows, int inputs,
               std::vector<int64_t>& ids_of_rows) {
  if (!IntegersOf(call, ids, ids_of_rows)) return false;
  if (static_cast<int64_t>(ids_of_rows.size()) != rows)
    return call.Fail("'%s' has %zu numbers for %lld rows", ids.name, ids_of_rows.size(),
                     static_cast<long long>(rows)),
           false;
  for (int64_t id : ids_of_rows)
    if (id < 0 || id >= inputs)
      return call.Fail("'%s' has the number %lld, there are %d inputs", ids.name,
                       static_cast<long long>(id), inputs),
             false;
  return true;
}

}  // namespace

// X, Mask -> Y
int32_t MaskedSelect(OpCall& call) {
  using A = args::dt_masked_select;
  const DtBuffer &x = call.Arg(A::X), &mask = call.Arg(A::Mask);
  DtBuffer& out = call.Arg(A::Y);
  std::vector<int64_t> chosen;
  if (!SameType(call, x, out) || !ChosenBy(call, x, mask, chosen)) return 1;
  const int64_t dims[] = {static_cast<int64_t>(chosen.size())};
  if (!call.Resize(out, dims)) return 1;
  const int64_t size = ElementSize(x);
  char* to = Data<char>(out);
  for (const int64_t place : chosen) {
    std::memcpy(to, Data<char>(x) + place * size, static_cast<size_t>(size));
    to += size;
  }
  return 0;
}

// X, Mask, Y@GRAD -> X@GRAD
int32_t MaskedSelectGrad(OpCall& call) {
  using A = args::dt_masked_select_grad;
  const DtBuffer &x = call.Arg(A::X), &mask = call.Arg(A::Mask), &gradient = call.Arg(A::Y_GRAD);
  DtBuffer& dx = call.Arg(A::X_GRAD);
  std::vector<int64_t> chosen;
  if (!SameType(call, gradient, dx) || !ChosenBy(call, x, mask, chosen)) return 1;
  if (static_cast<int64_t>(chosen.size()) != Elements(gradient))
    return call.Fail("'%s' has not as many elements as '%s' chooses", gradient.name, mask.name);
  if (!call.Resize(dx, x)) return 1;
  std::memset(dx.data, 0, static_cast<size_t>(Elements(dx) * ElementSize(dx)));
  return VisitNumber(call.context(), dx, [&](auto tag) {
    using T = typename decltype(tag)::type;
    const T* from = Data<T>(gradient);
    for (const int64_t place : chosen)
      Data<T>(dx)[place] += *from++;  // a place may be chosen twice
    return 0;
  });
}

// Ids, X -> Out
int32_t Multiplex(OpCall& call) {
  using A = args::dt_multiplex;
  const DtBuffer& first = call.Arg(A::X, 0);
  DtBuffer& out = call.Arg(A::Out);
  if (first.rank == 0) return call.Fail("'%s' has no rows", first.name);
  for (int i = 0; i < call.Count(A::X); ++i) {
    const DtBuffer& x = call.Arg(A::X, i);
    if (!SameType(call, first, x)) return 1;
    if (!SameShape(first, x))
      return call.Fail("'%s' has not the extents of '%s'", x.name, first.name);
  }
  std::vector<int64_t> ids;
  if (!SameType(call, first, out) ||
      !ChoicesOf(call, call.Arg(A::Ids), first.dims[0], call.Count(A::X), ids) ||
      !call.Resize(out, first))
    return 1;
  const auto bytes = static_cast<size_t>(Elements(first, 1, first.rank) * ElementSize(first));
  for (size_t r = 0; r < ids.size(); ++r)
    std::memcpy(Data<char>(out) + r * bytes,
                Data<char>(call.Arg(A::X, static_cast<int>(ids[r]))) + r * bytes, bytes);
  return 0;
}

// Ids, Out@GRAD -> X@GRAD
int32_t MultiplexGrad(OpCall& call) {
  using A = args::dt_multiplex_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  if (gradient.rank == 0) return call.Fail("'%s' has no rows", gradient.name);
  std::vector<int64_t> ids;
  if (!ChoicesOf(call, call.Arg(A::Ids), gradient.dims[0], call.Count(A::X_GRAD), ids)) return 1;
  const auto bytes =
      static_cast<size_t>(Elements(gradient, 1, gradient.rank) * ElementSize(gradient));
  for (int i = 0; i < call.Count(A::X_GRAD); ++i) {
    if (!call.Has(A::X_GRAD, i)) continue;
    DtBuffer& dx = call.Arg(A::X_GRAD, i);
    if (!SameType(call, gradient, dx) || !call.Resize(dx, gradient)) return 1;
    for (size_t r = 0; r < ids.size(); ++r) {
      if (ids[r] == i)
        std::memcpy(Data<char>(dx) + r * bytes, Data<char>(gradient) + r * bytes, bytes);
      else std::memset(Data<char>(dx) + r * bytes, 0, bytes);
    }
  }
  return 0;
}

// X; index_num, nshards, shard_id, ignore_value -> Out: ids of this shard counted from its first
// one, the others ignore_value
int32_t ShardIndex(OpCall& call) {
  using A = args::dt_shard_index;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t total = call.Int(A::index_num), shards = call.Int(A::nshards),
                shard = call.Int(A::shard_id), ignored = call.Int(A::ignore_value);
  if (total <= 0 || shards <= 0 || shard < 0 || shard >= shards)
    return call.Fail("shard %lld of %lld for %lld ids", static_cast<long long>(shard),
                     static_cast<long long>(shards), static_cast<long long>(total));
  if (!SameType(call, x, out) || !call.Resize(out, x)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(x));
  const int64_t size = (total - 1) / shards + 1;
  return VisitIndex(call.context(), x, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t i = 0; i < Elements(x); ++i) {
      const int64_t id = Data<T>(x)[i];
      if (id < 0 || id >= total)
        return call.Fail("'%s' has the id %lld, out of range for %lld ids", x.name,
                         static_cast<long long>(id), static_cast<long long>(total));
      Data<T>(out)[i] = static_cast<T>(id / size == shard ? id % size : ignored);
    }
    return 0;
  });
}

// Ids, Parents -> Out: [steps, batch, beams]; the ids along the path that ends in each beam of the
// last step
int32_t GatherTree(OpCall& call) {
  using A = args::dt_gather_tree;
  const DtBuffer &ids = call.Arg(A::Ids), &parents = call.Arg(A::Parents);
  DtBuffer& out = call.Arg(A::Out);
  if (ids.rank != 3) return call.Fail("'%s' has %d dims, expected 3", ids.name, ids.rank);
  if (!SameShape(ids, parents))
    return call.Fail("'%s' has not the extents of '%s'", parents.name, ids.name);
  if (!SameType(call, ids, parents) || !SameType(call, ids, out) || !call.Resize(out, ids))
    return 1;
  const int64_t steps = ids.dims[0], batch = ids.dims[1], beams = ids.dims[2];
  return VisitIndex(call.context(), ids, [&](auto tag) {
    using T = typename decltype(tag)::type;
    for (int64_t path = 0; path < batch * beams; ++path) {
      int64_t beam = path % beams;
      for (int64_t t = steps; t-- > 0;) {
        if (beam < 0 || beam >= beams)
          return call.Fail("'%s' has the beam %lld, there are %lld", parents.name,
                           static_cast<long long>(beam), static_cast<long long>(beams));
        const int64_t row = (t * batch + path / beams) * beams;
        Data<T>(out)[row + path % beams] = Data<T>(ids)[row + beam];
        beam = Data<T>(parents)[row + beam];
      }
    }
    return 0;
  });
}

}  // namespace dtranspile::kernels
