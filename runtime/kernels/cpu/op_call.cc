#include "runtime/kernels/cpu/op_call.h"

#include <algorithm>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/kernels/cpu/argument_check.h"

namespace dtranspile::kernels {

// Slots are stored as prefix sums: arguments of slot s are [slots[s], slots[s + 1]). Slots that the
// plan does not have are empty.
int OpCall::Count(int slot) const {
  return slot < 0 || slot >= call_->num_slots ? 0 : call_->slots[slot + 1] - call_->slots[slot];
}

// A kernel need not check its own plan: an argument that is not there marks the call as broken and
// yields an empty buffer, and RunOpKernel reports it when the kernel is back. The same holds for
// attributes.
DtBuffer& OpCall::Arg(int slot, int index) {
  if (index >= 0 && index < Count(slot)) return call_->args[call_->slots[slot] + index];
  broken_ = true;
  static const int64_t kNone[1] = {0};
  alignas(16) static char nowhere[16];  // of no elements, yet no null pointer
  nothing_ = {nowhere, kNone, 1, static_cast<int32_t>(DType::kFloat32), DT_HOST, "", nullptr};
  return nothing_;
}

// The framework writes @EMPTY@ for an argument of a slot that nobody wants, gradients above all.
bool OpCall::Has(int slot, int index) {
  return index < Count(slot) && std::string_view(Arg(slot, index).name) != "@EMPTY@";
}

const DtAttr* OpCall::Attr(int attr) {
  if (attr >= 0 && attr < call_->num_attrs) return &call_->attrs[attr];
  broken_ = true;
  return nullptr;
}

absl::Span<const int64_t> OpCall::Ints(int attr) {
  const DtAttr* a = Attr(attr);
  if (a != nullptr && (a->ints != nullptr || a->count == 0))
    return {a->ints, static_cast<size_t>(a->count)};
  broken_ = true;
  return {};
}

int64_t OpCall::Int(int attr) {
  const auto values = Ints(attr);
  if (values.size() == 1) return values[0];
  broken_ = true;
  return 0;
}

absl::Span<const double> OpCall::Reals(int attr) {
  const DtAttr* a = Attr(attr);
  if (a != nullptr && (a->reals != nullptr || a->count == 0))
    return {a->reals, static_cast<size_t>(a->count)};
  broken_ = true;
  return {};
}

// Attributes that are integers in one version of an op and numbers in another are read alike.
double OpCall::Real(int attr) {
  const DtAttr* a = Attr(attr);
  if (a != nullptr && a->count == 1 && a->reals != nullptr) return a->reals[0];
  if (a != nullptr && a->count == 1 && a->ints != nullptr) return static_cast<double>(a->ints[0]);
  broken_ = true;
  return 0;
}

int OpCall::Strings(int attr) {
  const DtAttr* a = Attr(attr);
  return a == nullptr || a->strings == nullptr ? 0 : a->count;
}

std::string_view OpCall::Text(int attr, int index) {
  if (index >= 0 && index < Strings(attr)) return call_->attrs[attr].strings[index];
  broken_ = true;
  return "";
}

std::string_view OpCall::Text(int attr) { return Text(attr, 0); }

// Gives an output its extents, and memory where they differ from those it has; the old content is
// lost. The product is computed with overflow checks, 16 bytes to an element, since later code
// multiplies extents without them.
bool OpCall::Resize(DtBuffer& out, absl::Span<const int64_t> dims) {
  // An extent of 0 does not hide others whose product kernels could not form.
  int64_t product = 16;
  for (int64_t d : dims) {
    if (d >= 0 && !__builtin_mul_overflow(product, std::max<int64_t>(d, 1), &product)) continue;
    Fail("output '%s' would have an extent of %lld, negative or too large", out.name,
         static_cast<long long>(d));
    return false;
  }
  return dt_resize(context_, &out, dims.data(), static_cast<int32_t>(dims.size())) == 0;
}

// A sparse gradient: `rows` rows of the extents `inner`, which stand for rows of a dense tensor of
// `height`. The numbers of the rows are set by the caller.
bool OpCall::ResizeRows(DtBuffer& out, int64_t rows, int64_t height,
                        absl::Span<const int64_t> inner) {
  exec::Value* value = ValueOf(out);
  if (value == nullptr || value->kind != exec::Value::Kind::kRows) {
    Fail("output '%s' is no SelectedRows", out.name);
    return false;
  }
  std::vector<int64_t> dims = {rows};
  dims.insert(dims.end(), inner.begin(), inner.end());
  if (!Resize(out, dims)) return false;
  value->rows.resize(static_cast<size_t>(rows));
  value->height = height;
  return true;
}

// The buffer is a view of the value; after the value was assigned or resized the view is stale.
void OpCall::Refresh(DtBuffer& buffer) {
  const exec::Value& value = *ValueOf(buffer);
  buffer.data = value.data();
  buffer.dims = value.dims.data();
  buffer.rank = static_cast<int32_t>(value.dims.size());
  buffer.dtype = static_cast<int32_t>(value.dtype);
}

const Lod& OpCall::LodOf(const DtBuffer& buffer) {
  static const Lod kDense;
  return buffer.value == nullptr ? kDense : ValueOf(buffer)->lod;
}

void OpCall::SetLod(DtBuffer& out, const Lod& lod) {
  if (out.value != nullptr) ValueOf(out)->lod = lod;
}

int32_t OpCall::Fail(const char* format, ...) {
  char text[960];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  return dt_fail(context_, "%s", text);
}

DtBuffer BufferOf(exec::Value& value, const char* name) {
  DtBuffer buffer = {nullptr, nullptr, 0, 0, DT_HOST, name, &value};
  OpCall::Refresh(buffer);
  return buffer;
}

// Outputs with a value take any type at run time; those in the arena have the type that the plan
// was made for.
bool SetType(OpCall& call, DtBuffer& out, DType type) {
  if (exec::Value* value = OpCall::ValueOf(out))
    value->dtype = type, out.dtype = static_cast<int32_t>(type);
  if (TypeOf(out) == type) return true;
  return call.Fail("output '%s' is %s, the program was compiled for %s", out.name, NameOf(type),
                   TypeName(out)),
         false;
}

// Copies x whole: kind (tensor, rows, list), LoD and type where `out` is a value of its own; into
// the arena, which holds tensors only, the elements.
bool Copy(OpCall& call, DtBuffer& out, const DtBuffer& x) {
  if (exec::Value* value = OpCall::ValueOf(out)) {
    const std::vector<int64_t> dims(x.dims, x.dims + x.rank);
    if (x.value == nullptr) value->kind = exec::Value::Kind::kTensor;
    const absl::Status status =
        x.value != nullptr
            ? value->Assign(*OpCall::ValueOf(x))
            : value->Assign(TensorView{TypeOf(x), dims, static_cast<const std::byte*>(x.data)});
    OpCall::Refresh(out);
    return status.ok() ||
           (call.Fail("'%s': %s", out.name, std::string(status.message()).c_str()), false);
  }
  if (x.value != nullptr && OpCall::ValueOf(x)->kind != exec::Value::Kind::kTensor)
    return call.Fail("'%s' is no tensor", x.name), false;
  if (!SetType(call, out, TypeOf(x)) || !call.Resize(out, x)) return false;
  const int64_t bytes = Elements(x) * ElementSize(x);
  if (bytes > 0) std::memmove(out.data, x.data, static_cast<size_t>(bytes));
  return true;
}

// A variable that no op has written: a fresh value has one dim of extent 0, a list no items.
bool IsUnset(const DtBuffer& buffer) {
  const exec::Value* value = OpCall::ValueOf(buffer);
  if (value == nullptr) return false;
  return value->kind == exec::Value::Kind::kList ? value->items.empty()
                                                 : value->dims == std::vector<int64_t>{0};
}

exec::Value* ListOf(OpCall& call, const DtBuffer& buffer) {
  exec::Value* value = OpCall::ValueOf(buffer);
  if (value != nullptr && value->kind == exec::Value::Kind::kList) return value;
  call.Fail("'%s' is no tensor array", buffer.name);
  return nullptr;
}

// The entry of every library call. The signature (counts, element types, dims where it states them)
// is checked before the kernel runs, reads of what is not there after it.
int32_t RunOpKernel(DtContext* context, const DtCall* call, OpKernel kernel) {
  if (!CheckCall(context, call) || !CheckArguments(context, call)) return 1;
  OpCall op(context, call);
  const int32_t result = kernel(op);
  if (!op.broken()) return result;
  return op.Fail(
      "the plan gives %d slots and %d attributes, which are not those that this call takes",
      call->num_slots, call->num_attrs);
}

// Axes below zero count from the end.
bool NormalAxis(OpCall& call, const DtBuffer& buffer, int64_t& axis) {
  const int64_t given = axis;
  if (axis < 0) axis += buffer.rank;
  if (axis >= 0 && axis < buffer.rank) return true;
  call.Fail("axis %lld of '%s', which has %d dims", static_cast<long long>(given), buffer.name,
            buffer.rank);
  return false;
}

// The elements of a tensor of int32 or int64, in 64 bits.
bool IntegersOf(OpCall& call, const DtBuffer& buffer, std::vector<int64_t>& values) {
  return VisitIndex(call.context(), buffer, [&](auto tag) {
           using T = typename decltype(tag)::type;
           const T* data = Data<T>(buffer);
           values.assign(data, data + Elements(buffer));
           return 0;
         }) == 0;
}

bool SameType(OpCall& call, const DtBuffer& a, const DtBuffer& b) {
  if (a.dtype == b.dtype) return true;
  return call.Fail("'%s' is %s, '%s' is %s", a.name, TypeName(a), b.name, TypeName(b)), false;
}

}  // namespace dtranspile::kernels
