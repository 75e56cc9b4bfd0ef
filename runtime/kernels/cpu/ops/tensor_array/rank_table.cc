// Batches sorted by length, so that step t of a recurrence is a prefix of them (framework:
// lod_rank_table.cc, lod_tensor_to_array_op.cc, array_to_lod_tensor_op.cc, shrink_rnn_memory_op.cc,
// reorder_lod_tensor_by_rank_op.cc). The table is described in calls.h.
#include <algorithm>
#include <cstring>
#include <numeric>

#include "runtime/kernels/cpu/ops/tensor_array/calls.h"
#include "runtime/kernels/cpu/ops/tensor_array/lod_rows.h"

namespace dtranspile::kernels {
namespace {

// A view of a rank table: pairs (index of the sequence, its length), longest first, and the LoD
// down to the level that was sorted.
struct Table {
  const int64_t* rows = nullptr;
  int64_t count = 0;
  const Lod* lod = nullptr;

  int64_t index(int64_t k) const { return rows[2 * k]; }
  int64_t length(int64_t k) const { return rows[2 * k + 1]; }
  int64_t longest() const { return count > 0 ? length(0) : 0; }
  size_t level() const { return lod->size() - 1; }
  Lod upper() const { return {lod->begin(), lod->end() - 1}; }
  // Sequences with more than `t` steps.
  int64_t alive(int64_t t) const {
    int64_t n = count;
    while (n > 0 && length(n - 1) <= t) --n;
    return n;
  }
};

bool TableOf(OpCall& call, const DtBuffer& buffer, Table& table) {
  table = {Data<int64_t>(buffer), buffer.rank == 2 ? buffer.dims[0] : 0, &OpCall::LodOf(buffer)};
  if (buffer.rank == 2 && buffer.dims[1] == 2 && TypeOf(buffer) == DType::kInt64 &&
      !table.lod->empty())
    return true;
  return call.Fail("'%s' is no rank table", buffer.name), false;
}

// Positions in the table by index of the sequence.
std::vector<int64_t> ByIndex(const Table& table) {
  std::vector<int64_t> order(static_cast<size_t>(table.count));
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](int64_t a, int64_t b) { return table.index(a) < table.index(b); });
  return order;
}

// X has to have the sequences that the table sorts.
bool CheckSequences(OpCall& call, const Table& table, const RowSource& x) {
  const size_t level = table.level();
  if (level >= x.lod->size())
    return call.Fail("'%s' has %zu levels of sequences, the rank table sorts level %zu", x.name,
                     x.lod->size(), level),
           false;
  const std::vector<uint64_t>& offsets = (*x.lod)[level];
  for (int64_t k = 0; k < table.count; ++k) {
    const int64_t i = table.index(k);
    if (i < 0 || i >= x.Items(level) ||
        static_cast<uint64_t>(table.length(k)) >
            offsets[static_cast<size_t>(i) + 1] - offsets[static_cast<size_t>(i)])
      return call.Fail("the rank table has a sequence %lld of %lld steps, '%s' has none such",
                       static_cast<long long>(i), static_cast<long long>(table.length(k)), x.name),
             false;
  }
  return true;
}

}  // namespace

// X; level -> Out
// Equal lengths stay in the order of the sequences, so that the table is the same on every machine.
int32_t LodRankTable(OpCall& call) {
  using A = args::dt_lod_rank_table;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  const int64_t level = call.Int(A::level);
  RowSource source;
  exec::Value* value = OpCall::ValueOf(out);
  if (value == nullptr) return call.Fail("output '%s' has no place for a rank table", out.name);
  if (!SourceOf(call, x, source)) return 1;
  const Lod& lod = *source.lod;
  if (level < 0 || level >= static_cast<int64_t>(lod.size()))
    return call.Fail("'%s' has %zu levels of sequences, level %lld is to be sorted", x.name,
                     lod.size(), static_cast<long long>(level));
  const std::vector<uint64_t>& offsets = lod[static_cast<size_t>(level)];
  std::vector<std::pair<int64_t, int64_t>> items;
  for (size_t i = 0; i + 1 < offsets.size(); ++i)
    items.emplace_back(static_cast<int64_t>(i), static_cast<int64_t>(offsets[i + 1] - offsets[i]));
  std::sort(items.begin(), items.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second > b.second : a.first < b.first;
  });
  value->kind = exec::Value::Kind::kTensor;
  value->items.clear();
  if (!SetType(call, out, DType::kInt64) ||
      !call.Resize(out, {static_cast<int64_t>(items.size()), 2}))
    return 1;
  auto* to = Data<int64_t>(out);
  for (const auto& [index, length] : items) *to++ = index, *to++ = length;
  OpCall::SetLod(out, Lod(lod.begin(), lod.begin() + level + 1));
  return 0;
}

// RankTable -> Out
int32_t MaxSequenceLen(OpCall& call) {
  using A = args::dt_max_sequence_len;
  Table table;
  DtBuffer& out = call.Arg(A::Out);
  if (!TableOf(call, call.Arg(A::RankTable), table) || !SetType(call, out, DType::kInt64) ||
      !call.Resize(out, {1}))
    return 1;
  *Data<int64_t>(out) = table.longest();
  return 0;
}

// X, RankTable -> Out: item t holds step t of every sequence that is long enough, longest first. A
// gradient that comes without LoD has that of the table's tensor.
// Step t takes the t-th row (or sequence of a lower level) of the sequences longer than t. These
// are the first `alive` of the table, whose number only falls with t: the state of a recurrence
// shrinks at its end.
int32_t LodTensorToArray(OpCall& call) {
  using A = args::dt_lod_tensor_to_array;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  exec::Value* list = ListOf(call, out);
  Table table;
  RowSource source;
  if (list == nullptr || !TableOf(call, call.Arg(A::RankTable), table) ||
      !SourceOf(call, x, source))
    return 1;
  if (source.lod->empty() && static_cast<int64_t>(table.lod->back().back()) == source.rows)
    source.lod = table.lod;
  if (!CheckSequences(call, table, source)) return 1;
  const size_t level = table.level();
  list->items.resize(static_cast<size_t>(table.longest()));
  for (int64_t t = 0; t < table.longest(); ++t) {
    RowCollector rows;
    for (int64_t k = 0; k < table.alive(t); ++k) {
      const auto at =
          static_cast<int64_t>((*source.lod)[level][static_cast<size_t>(table.index(k))]) + t;
      if (!rows.Add(call, source, at, at + 1, level + 1)) return 1;
    }
    DtBuffer item = BufferOf(list->items[static_cast<size_t>(t)], out.name);
    if (!rows.Write(call, x, {}, item)) return 1;
  }
  return 0;
}

// X, RankTable -> Out: the inverse.
// Sequence by sequence in the order that they had before they were sorted: step t of the one at
// place k of the table is row k of item t.
int32_t ArrayToLodTensor(OpCall& call) {
  using A = args::dt_array_to_lod_tensor;
  const DtBuffer& x = call.Arg(A::X);
  exec::Value* list = ListOf(call, x);
  Table table;
  if (list == nullptr || !TableOf(call, call.Arg(A::RankTable), table)) return 1;
  if (static_cast<int64_t>(list->items.size()) < table.longest() || list->items.empty())
    return call.Fail("array '%s' has %zu items, the longest sequence %lld steps", x.name,
                     list->items.size(), static_cast<long long>(table.longest()));
  const DtBuffer first = BufferOf(list->items[0], x.name);
  std::vector<RowSource> sources(list->items.size());
  for (size_t t = 0; t < sources.size(); ++t) {
    const DtBuffer item = BufferOf(list->items[t], x.name);
    if (!SourceOf(call, item, sources[t])) return 1;
    if (TypeOf(item) != TypeOf(first) ||
        OpCall::Dims(item).subspan(1) != OpCall::Dims(first).subspan(1))
      return call.Fail("items 0 and %zu of '%s' are %s and %s", t, x.name,
                       ShapeText(TypeOf(first), list->items[0].dims).c_str(),
                       ShapeText(TypeOf(item), list->items[t].dims).c_str());
  }
  RowCollector rows;
  Lod upper = table.upper();
  upper.push_back({0});
  for (int64_t k : ByIndex(table)) {
    upper.back().push_back(upper.back().back() + static_cast<uint64_t>(table.length(k)));
    for (int64_t t = 0; t < table.length(k); ++t)
      if (!rows.Add(call, sources[static_cast<size_t>(t)], k, k + 1, 0)) return 1;
  }
  return rows.Write(call, first, upper, call.Arg(A::Out)) ? 0 : 1;
}

// X, RankTable, I -> Out: what belongs to the sequences with more than I steps.
int32_t ShrinkMemory(OpCall& call) {
  using A = args::dt_shrink_rnn_memory;
  const DtBuffer& x = call.Arg(A::X);
  Table table;
  RowSource source;
  RowCollector rows;
  int64_t step = 0;
  if (!TableOf(call, call.Arg(A::RankTable), table) || !IndexOf(call, call.Arg(A::I), step) ||
      !SourceOf(call, x, source))
    return 1;
  return rows.Add(call, source, 0, table.alive(step), 0) &&
                 rows.Write(call, x, {}, call.Arg(A::Out))
             ? 0
             : 1;
}

// Out@GRAD, X -> X@GRAD: zeros after the rows that were kept.
int32_t ShrinkMemoryGrad(OpCall& call) {
  using A = args::dt_shrink_rnn_memory_grad;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& result = call.Arg(A::X_GRAD);
  if (!SetType(call, result, TypeOf(x)) || !call.Resize(result, x)) return 1;
  OpCall::SetLod(result, OpCall::LodOf(x));
  int64_t kept = 0;
  if (call.Has(A::Out_GRAD, 0) && !IsUnset(call.Arg(A::Out_GRAD))) {
    const DtBuffer& gradient = call.Arg(A::Out_GRAD);
    const bool fits = gradient.rank == x.rank && x.rank > 0 && gradient.dims[0] <= x.dims[0] &&
                      TypeOf(gradient) == TypeOf(x) &&
                      OpCall::Dims(gradient).subspan(1) == OpCall::Dims(x).subspan(1);
    if (!fits) return call.Fail("'%s' is no part of '%s'", gradient.name, x.name);
    kept = Elements(gradient) * ElementSize(gradient);
    if (kept > 0) std::memcpy(result.data, gradient.data, static_cast<size_t>(kept));
  }
  std::fill(Data<std::byte>(result) + kept,
            Data<std::byte>(result) + Elements(result) * ElementSize(result), std::byte{0});
  return 0;
}

namespace {

// Sequences (rows of a tensor without LoD) in the given order.
int32_t Reorder(OpCall& call, const DtBuffer& x, const std::vector<int64_t>& order, DtBuffer& out) {
  RowSource source;
  RowCollector rows;
  if (!SourceOf(call, x, source)) return 1;
  if (static_cast<int64_t>(order.size()) != source.Items(0))
    return call.Fail("'%s' has %lld sequences, the rank table %zu", x.name,
                     static_cast<long long>(source.Items(0)), order.size());
  for (int64_t i : order)
    if (!rows.Add(call, source, i, i + 1, 0)) return 1;
  return rows.Write(call, x, {}, out) ? 0 : 1;
}

}  // namespace

// X, RankTable -> Out
int32_t ReorderByRank(OpCall& call) {
  using A = args::dt_reorder_lod_tensor_by_rank;
  Table table;
  if (!TableOf(call, call.Arg(A::RankTable), table)) return 1;
  std::vector<int64_t> order;
  for (int64_t k = 0; k < table.count; ++k) order.push_back(table.index(k));
  return Reorder(call, call.Arg(A::X), order, call.Arg(A::Out));
}

int32_t ReorderByRankGrad(OpCall& call) {
  using A = args::dt_reorder_lod_tensor_by_rank_grad;
  Table table;
  if (!TableOf(call, call.Arg(A::RankTable), table)) return 1;
  return Reorder(call, call.Arg(A::X), ByIndex(table), call.Arg(A::Out));
}

}  // namespace dtranspile::kernels
