// What loops keep from turn to turn: lists that a forward loop fills and its gradient empties, sums
// of gradients, rows of the sequences that a StaticRNN walks. Called by the lowering of blocks
// (compiler/lower/block_lowering.h), and rnn_memory_helper_grad.
#include <algorithm>
#include <cstring>
#include <string>

#include "runtime/kernels/cpu/ops/tensor_array/calls.h"

namespace dtranspile::kernels {
namespace {

using Kind = exec::Value::Kind;

// Places of the arena are always tensors; only values of their own know their kind.
Kind KindOf(const DtBuffer& buffer) {
  return buffer.value == nullptr ? Kind::kTensor : OpCall::ValueOf(buffer)->kind;
}

// sum += value, element by element.
bool AddElements(OpCall& call, DtBuffer& sum, const DtBuffer& value) {
  if (TypeOf(sum) != TypeOf(value) || !SameShape(sum, value))
    return call.Fail("'%s' and '%s' differ in extents or type and cannot be added", sum.name,
                     value.name),
           false;
  return VisitNumber(call.context(), sum, [&](auto tag) {
           using T = typename decltype(tag)::type;
           T* to = Data<T>(sum);
           const T* from = Data<T>(value);
           Parallel(call.context(), Elements(sum), GrainFor(sizeof(T) * 3),
                    [&](int64_t lo, int64_t n) {
                      for (int64_t i = lo; i < lo + n; ++i) to[i] += from[i];
                    });
           return 0;
         }) == 0;
}

// The rows of both: equal ones are added where they are used.
bool AddRows(OpCall& call, DtBuffer& sum, const DtBuffer& value) {
  exec::Value &to = *OpCall::ValueOf(sum), &from = *OpCall::ValueOf(value);
  if (to.dtype != from.dtype || to.height != from.height ||
      OpCall::Dims(sum).subspan(1) != OpCall::Dims(value).subspan(1))
    return call.Fail("'%s' and '%s' are rows of different tensors and cannot be added", sum.name,
                     value.name),
           false;
  exec::Value both(Kind::kRows, to.dtype);
  std::vector<int64_t> dims = to.dims;
  dims[0] += from.dims[0];
  const absl::Status status = both.Resize(dims);
  if (!status.ok())
    return call.Fail("'%s': %s", sum.name, std::string(status.message()).c_str()), false;
  if (to.bytes() > 0) std::memcpy(both.data(), to.data(), static_cast<size_t>(to.bytes()));
  if (from.bytes() > 0)
    std::memcpy(both.data() + to.bytes(), from.data(), static_cast<size_t>(from.bytes()));
  both.rows = to.rows;
  both.rows.insert(both.rows.end(), from.rows.begin(), from.rows.end());
  both.height = to.height;
  to.Swap(both);
  OpCall::Refresh(sum);
  return true;
}

// sum += value for any two values of one kind, nothing counting as 0: gradients of turns that did
// not touch a variable are absent. Lists are added element by element, the shorter one counting as
// filled up with absent elements.
bool Add(OpCall& call, DtBuffer& sum, const DtBuffer& value) {
  if (IsUnset(value)) return true;
  if (IsUnset(sum)) return Copy(call, sum, value);
  if (KindOf(sum) != KindOf(value))
    return call.Fail("'%s' and '%s' are of different kinds and cannot be added", sum.name,
                     value.name),
           false;
  if (KindOf(sum) == Kind::kTensor) return AddElements(call, sum, value);
  if (KindOf(sum) == Kind::kRows) return AddRows(call, sum, value);
  std::vector<exec::Value>&to = OpCall::ValueOf(sum)->items, &from = OpCall::ValueOf(value)->items;
  if (to.size() < from.size()) to.resize(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    DtBuffer item = BufferOf(to[i], sum.name);
    if (!Add(call, item, BufferOf(from[i], value.name))) return false;
  }
  return true;
}

void FillZero(DtBuffer& buffer) {
  std::fill_n(Data<std::byte>(buffer), Elements(buffer) * ElementSize(buffer), std::byte{0});
}

// Zeros with the extents, type and LoD of x; of a list the empty list, which Add takes for zeros.
bool MakeZerosLike(OpCall& call, const DtBuffer& x, DtBuffer& out) {
  if (KindOf(x) == Kind::kList) {
    exec::Value* list = ListOf(call, out);
    if (list != nullptr) list->items.clear();
    return list != nullptr;
  }
  if (KindOf(x) == Kind::kRows)
    return call.Fail("zeros like '%s', which is SelectedRows: not supported", x.name), false;
  if (!SetType(call, out, TypeOf(x)) || !call.Resize(out, x)) return false;
  FillZero(out);
  OpCall::SetLod(out, OpCall::LodOf(x));
  return true;
}

// A fixed place may have its one row as [1] where the value is []: elements have to agree, not
// extents.
bool SizeFor(OpCall& call, DtBuffer& out, DType type, const std::vector<int64_t>& dims) {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  if (!SetType(call, out, type)) return false;
  return (out.value == nullptr && Elements(out) == count) || call.Resize(out, dims);
}

// An index that the program computes, hence checked against the rows.
bool RowIndexOf(OpCall& call, const DtBuffer& buffer, const DtBuffer& of, int64_t& index) {
  if (of.rank < 1) return call.Fail("'%s' is a scalar: it has no rows", of.name), false;
  if (!IndexOf(call, buffer, index)) return false;
  if (index >= 0 && index < of.dims[0]) return true;
  return call.Fail("row %lld of '%s', which has %lld", static_cast<long long>(index), of.name,
                   static_cast<long long>(of.dims[0])),
         false;
}

}  // namespace

// The gradient of a recurrent state that nothing reads after the loop does not exist: zeros stand
// for it.
int32_t MemoryHelperGrad(OpCall& call) {
  using A = args::dt_rnn_memory_helper_grad;
  DtBuffer& result = call.Arg(A::X_GRAD);
  const bool given = call.Has(A::Out_GRAD, 0) && !IsUnset(call.Arg(A::Out_GRAD));
  return (given ? Copy(call, result, call.Arg(A::Out_GRAD))
                : MakeZerosLike(call, call.Arg(A::X), result))
             ? 0
             : 1;
}

int32_t Accumulate(OpCall& call) {
  using A = args::dt_accumulate;
  return Add(call, call.Arg(A::Sum), call.Arg(A::X)) ? 0 : 1;
}

int32_t ZerosLike(OpCall& call) {
  using A = args::dt_zeros_like;
  return MakeZerosLike(call, call.Arg(A::X), call.Arg(A::Out)) ? 0 : 1;
}

int32_t ListClear(OpCall& call) {
  using A = args::dt_list_clear;
  exec::Value* list = ListOf(call, call.Arg(A::List));
  if (list != nullptr) list->items.clear();
  return list != nullptr ? 0 : 1;
}

// Forward loops push what their gradient needs, a turn's values at the end of the turn; the
// gradient pops them in the opposite order.
int32_t ListPush(OpCall& call) {
  using A = args::dt_list_push;
  exec::Value* list = ListOf(call, call.Arg(A::List));
  if (list == nullptr) return 1;
  DtBuffer item = BufferOf(list->items.emplace_back(), call.Arg(A::List).name);
  return Copy(call, item, call.Arg(A::X)) ? 0 : 1;
}

// The element is swapped out, not copied, where the target is a value of its own.
int32_t ListPop(OpCall& call) {
  using A = args::dt_list_pop;
  exec::Value* list = ListOf(call, call.Arg(A::List));
  if (list == nullptr) return 1;
  if (list->items.empty())
    return call.Fail("list '%s' is empty: the gradient makes more turns than the loop",
                     call.Arg(A::List).name);
  DtBuffer& out = call.Arg(A::Out);
  bool done = true;
  if (out.value != nullptr) {
    OpCall::ValueOf(out)->Swap(list->items.back());
    OpCall::Refresh(out);
  } else {
    done = Copy(call, out, BufferOf(list->items.back(), call.Arg(A::List).name));
  }
  list->items.pop_back();
  return done ? 0 : 1;
}

// The condition of the gradient's loop: as many turns as the list has elements.
int32_t ListAny(OpCall& call) {
  using A = args::dt_list_any;
  const exec::Value* list = ListOf(call, call.Arg(A::List));
  DtBuffer& out = call.Arg(A::Out);
  if (list == nullptr || !SetType(call, out, DType::kBool) || !call.Resize(out, {1})) return 1;
  *Data<bool>(out) = !list->items.empty();
  return 0;
}

// Out = X[Index]: the slice of a turn of a StaticRNN.
int32_t Row(OpCall& call) {
  using A = args::dt_row;
  const DtBuffer& x = call.Arg(A::X);
  DtBuffer& out = call.Arg(A::Out);
  int64_t index = 0;
  if (!RowIndexOf(call, call.Arg(A::Index), x, index) ||
      !SizeFor(call, out, TypeOf(x), {x.dims + 1, x.dims + x.rank}))
    return 1;
  const int64_t bytes = Elements(x, 1, x.rank) * ElementSize(x);
  if (bytes > 0)
    std::memcpy(out.data, Data<std::byte>(x) + index * bytes, static_cast<size_t>(bytes));
  return 0;
}

// Out[Index] = X, Out having as many rows as Like: outputs of all turns stacked. A result that has
// not the right extents is a new one, and starts with zeros.
int32_t SetRow(OpCall& call) {
  using A = args::dt_set_row;
  const DtBuffer &x = call.Arg(A::X), &like = call.Arg(A::Like);
  DtBuffer& out = call.Arg(A::Out);
  int64_t index = 0;
  if (!RowIndexOf(call, call.Arg(A::Index), like, index)) return 1;
  std::vector<int64_t> dims(x.dims, x.dims + x.rank);
  dims.insert(dims.begin(), like.dims[0]);
  const bool sized = OpCall::Dims(out) == absl::MakeConstSpan(dims) && TypeOf(out) == TypeOf(x);
  if (!sized && !SizeFor(call, out, TypeOf(x), dims)) return 1;
  if (!sized && out.value != nullptr) FillZero(out);
  const int64_t bytes = Elements(x) * ElementSize(x);
  if (bytes > 0)
    std::memcpy(Data<std::byte>(out) + index * bytes, x.data, static_cast<size_t>(bytes));
  return 0;
}

}  // namespace dtranspile::kernels
