// lookup_table, lookup_table_v2 and their gradients, dense and as SelectedRows; one_hot.
#include <algorithm>
#include <cstring>
#include <vector>

#include "runtime/kernels/cpu/long_sum.h"
#include "runtime/kernels/cpu/ops/embedding/calls.h"
#include "runtime/kernels/cpu/ops/rows.h"

namespace dtranspile::kernels {
namespace {

// A table that holds the rows from `first` on of one with `all` rows (0: it is not known how many).
struct Part {
  bool given = false;
  int64_t first = 0, all = 0;

  template <typename A>
  static Part Of(OpCall& call) {
    Part part{.given = call.Given(A::start_index)};
    if (!part.given) return part;
    part.first = call.Int(A::start_index);
    if (call.Given(A::vocab_size)) part.all = std::max<int64_t>(call.Int(A::vocab_size), 0);
    return part;
  }
};

// Numbers of rows in the part; -1 for those of other parts. Whichever part this is, it is less than
// `all` rows away from the others.
bool RowsOfPart(OpCall& call, const DtBuffer& ids, const Part& part, int64_t height,
                std::vector<int64_t>& values) {
  for (size_t i = 0; i < values.size(); ++i) {
    int64_t row = 0;
    const bool far = __builtin_sub_overflow(values[i], part.first, &row) ||
                     (part.all > 0 && (row >= part.all || row < height - part.all));
    if (far) {
      call.Fail(
          "element %zu of '%s' is %lld, and no part of a table of %lld rows has it, as row "
          "%lld is the first one here",
          i, ids.name, static_cast<long long>(values[i]), static_cast<long long>(part.all),
          static_cast<long long>(part.first));
      return false;
    }
    values[i] = row >= 0 && row < height ? row : -1;
  }
  return true;
}

// Ids of rows, checked against the table's height.
bool IdsOf(OpCall& call, const DtBuffer& ids, int64_t height, std::vector<int64_t>& values,
           const Part& part = {}) {
  if (!IntegersOf(call, ids, values)) return false;
  if (part.given) return RowsOfPart(call, ids, part, height, values);
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i] >= 0 && values[i] < height) continue;
    call.Fail("element %zu of '%s' is %lld, expected at least 0 and below %lld", i, ids.name,
              static_cast<long long>(values[i]), static_cast<long long>(height));
    return false;
  }
  return true;
}

bool TableFits(OpCall& call, const DtBuffer& table) {
  return table.rank == 2 ||
         (call.Fail("'%s' has %d dims, expected 2", table.name, table.rank), false);
}

// The gradient of the rows against ids and the table, or what stands for it: its width and type.
bool GradientFits(OpCall& call, const DtBuffer& like, int64_t width, const DtBuffer& gradient,
                  const std::vector<int64_t>& ids) {
  if (TypeOf(gradient) == TypeOf(like) &&
      Elements(gradient) == static_cast<int64_t>(ids.size()) * width)
    return true;
  call.Fail("'%s' has not %zu rows of %lld %s columns", gradient.name, ids.size(),
            static_cast<long long>(width), TypeName(like));
  return false;
}

}  // namespace

// W, Ids; padding_idx, @type, start_index, vocab_size -> Out: rows of W, zeros for the padding id
// and for rows of other parts. The older type replaces the last dim of Ids, which is 1.
int32_t LookupTable(OpCall& call) {
  using A = args::dt_lookup_table;
  const DtBuffer &table = call.Arg(A::W), &ids = call.Arg(A::Ids);
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> rows;
  if (!TableFits(call, table) || !IdsOf(call, ids, table.dims[0], rows, Part::Of<A>(call)))
    return 1;
  std::vector<int64_t> dims(ids.dims, ids.dims + ids.rank);
  if (call.Text(A::type) == "lookup_table" && !dims.empty()) dims.pop_back();
  dims.push_back(table.dims[1]);
  if (!call.Resize(out, dims)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(ids));
  const int64_t bytes = table.dims[1] * ElementSize(table),
                padding = call.Given(A::padding_idx) ? call.Int(A::padding_idx) : -1;
  Parallel(call.context(), static_cast<int64_t>(rows.size()), GrainFor(2 * bytes),
           [&](int64_t lo, int64_t n) {
             for (int64_t i = lo; i < lo + n; ++i) {
               const int64_t row = rows[static_cast<size_t>(i)];
               if (row == padding)
                 std::memset(Data<char>(out) + i * bytes, 0, static_cast<size_t>(bytes));
               else
                 std::memcpy(Data<char>(out) + i * bytes, Data<char>(table) + row * bytes,
                             static_cast<size_t>(bytes));
             }
           });
  return 0;
}

namespace {

// SelectedRows: the ids in their order, padding ids and repeated ones among them.
int32_t GradientRows(OpCall& call, std::vector<int64_t> rows, int64_t height, int64_t width) {
  using A = args::dt_lookup_table_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  DtBuffer& out = call.Arg(A::W_GRAD);
  if (!call.ResizeRows(out, static_cast<int64_t>(rows.size()), height, {width})) return 1;
  if (!rows.empty())
    std::memcpy(out.data, gradient.data, static_cast<size_t>(Elements(out) * ElementSize(out)));
  OpCall::ValueOf(out)->rows = std::move(rows);
  return 0;
}

// The table is not here: its height is an attribute, and a row is as wide as the gradient of one.
int32_t GradientOfRemote(OpCall& call) {
  using A = args::dt_lookup_table_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  const DtBuffer& out = call.Arg(A::W_GRAD);
  const int64_t width = gradient.rank < 1 ? 0 : gradient.dims[gradient.rank - 1];
  std::vector<int64_t> rows;
  if (out.value == nullptr || OpCall::ValueOf(out)->kind != exec::Value::Kind::kRows)
    return call.Fail("'%s' is dense, and its table is not here", out.name);
  if (!call.Has(A::Ids) || !IdsOf(call, call.Arg(A::Ids), call.Int(A::height), rows) ||
      !GradientFits(call, gradient, width, gradient, rows))
    return 1;
  return GradientRows(call, std::move(rows), call.Int(A::height), width);
}

}  // namespace

// W or height, Ids, Out@GRAD; padding_idx, start_index, vocab_size -> W@GRAD
int32_t LookupTableGrad(OpCall& call) {
  using A = args::dt_lookup_table_grad;
  if (!call.Has(A::W)) return GradientOfRemote(call);
  const DtBuffer &table = call.Arg(A::W), &ids = call.Arg(A::Ids),
                 &gradient = call.Arg(A::Out_GRAD);
  DtBuffer& out = call.Arg(A::W_GRAD);
  std::vector<int64_t> rows;
  if (!TableFits(call, table) || !IdsOf(call, ids, table.dims[0], rows, Part::Of<A>(call)) ||
      !GradientFits(call, table, table.dims[1], gradient, rows))
    return 1;
  if (out.value != nullptr && OpCall::ValueOf(out)->kind == exec::Value::Kind::kRows)
    return GradientRows(call, std::move(rows), table.dims[0], table.dims[1]);
  if (!call.Resize(out, table)) return 1;
  const int64_t padding = call.Given(A::padding_idx) ? call.Int(A::padding_idx) : -1,
                width = table.dims[1];
  return VisitFloat(call.context(), gradient, [&](auto tag) {
    using T = typename decltype(tag)::type;
    Parallel(call.context(), table.dims[0], GrainFor(width * static_cast<int64_t>(sizeof(T))),
             [&](int64_t lo, int64_t n) {
               std::memset(Data<T>(out) + lo * width, 0,
                           static_cast<size_t>(n * width) * sizeof(T));
             });
    std::replace(rows.begin(), rows.end(), padding, int64_t{-1});
    const RowAdder<T> adder(call, rows, width, table.dims[0]);
    return adder.Add(Data<const T>(gradient), Data<T>(out)) ? 0 : 1;
  });
}

// X, depth_tensor; depth, allow_out_of_range, @type -> Out. The older type replaces the last dim of
// X, which is 1.
int32_t OneHot(OpCall& call) {
  using A = args::dt_one_hot;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  std::vector<int64_t> places, depth = {call.Int(A::depth)};
  if (call.Has(A::depth_tensor) && !IntegersOf(call, call.Arg(A::depth_tensor), depth)) return 1;
  if (depth.size() != 1 || depth[0] < 1)
    return call.Fail("a depth of %lld", static_cast<long long>(depth.empty() ? 0 : depth[0]));
  if (!IntegersOf(call, x, places)) return 1;
  for (size_t i = 0; i < places.size(); ++i) {
    if (call.Bool(A::allow_out_of_range) || (places[i] >= 0 && places[i] < depth[0])) continue;
    return call.Fail("element %zu of '%s' is %lld, expected at least 0 and below %lld", i, x.name,
                     static_cast<long long>(places[i]), static_cast<long long>(depth[0]));
  }
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  if (call.Text(A::type) == "one_hot" && !dims.empty()) dims.pop_back();
  dims.push_back(depth[0]);
  if (!call.Resize(out, dims)) return 1;
  OpCall::SetLod(out, OpCall::LodOf(x));
  return VisitNumber(call.context(), out, [&](auto tag) {
    using T = typename decltype(tag)::type;
    std::memset(out.data, 0, static_cast<size_t>(Elements(out)) * sizeof(T));
    for (size_t i = 0; i < places.size(); ++i)
      if (places[i] >= 0 && places[i] < depth[0])
        Data<T>(out)[static_cast<int64_t>(i) * depth[0] + places[i]] = T{1};
    return 0;
  });
}

}  // namespace dtranspile::kernels
