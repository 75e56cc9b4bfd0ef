#include "runtime/exec/narrow_arguments.h"

#include <algorithm>

#include "absl/types/span.h"
#include "runtime/base/dtype.h"
#include "runtime/base/status.h"

namespace dtranspile::exec {
namespace {

constexpr uint64_t Bit(DType type) { return uint64_t{1} << static_cast<int>(type); }
constexpr uint64_t kNarrow = Bit(DType::kFloat16) | Bit(DType::kBFloat16);

Value* ValueOf(const DtBuffer& buffer) { return static_cast<Value*>(buffer.value); }

// The buffer of a value as calls see it; `with_value`: its extents may change.
DtBuffer BufferOf(Value& value, const char* name, bool with_value) {
  return {value.data(),
          value.dims.data(),
          static_cast<int32_t>(value.dims.size()),
          static_cast<int32_t>(value.dtype),
          DT_HOST,
          name,
          with_value ? &value : nullptr};
}

// All but the elements.
void TakeOver(const Value& from, Value& to) {
  to.lod = from.lod;
  to.rows = from.rows;
  to.height = from.height;
}

}  // namespace

// Which arguments need a float32 copy: those of a half type that the call does not take (`types`
// are the bits of element types that it does).
NarrowArguments::NarrowArguments(uint64_t types, const std::vector<DtBuffer>& buffers,
                                 const std::vector<int>& outputs, DtFunction convert)
    : convert_(convert) {
  if ((types & Bit(DType::kFloat32)) == 0 || convert == nullptr) return;
  for (size_t i = 0; i < buffers.size(); ++i) {
    const uint64_t type = Bit(static_cast<DType>(buffers[i].dtype));
    const bool list =
        buffers[i].value != nullptr && ValueOf(buffers[i])->kind == Value::Kind::kList;
    if ((type & kNarrow) == 0 || (type & types) != 0 || list) continue;
    Entry& entry = entries_.emplace_back();
    entry.at = i;
    entry.written = std::find(outputs.begin(), outputs.end(), static_cast<int>(i)) != outputs.end();
    entry.wide =
        Value(buffers[i].value != nullptr ? ValueOf(buffers[i])->kind : Value::Kind::kTensor,
              DType::kFloat32);
  }
}

absl::Status NarrowArguments::Convert(DtContext& context, const DtBuffer& from,
                                      const DtBuffer& to) const {
  DtBuffer both[] = {from, to};
  both[0].value = both[1].value = nullptr;
  constexpr int32_t kSlots[] = {0, 1, 2};  // dt_cast(X) -> Out
  DtCall call = {};
  call.name = "dt_cast", call.op = "";
  call.args = both, call.num_args = 2;
  call.slots = kSlots, call.num_slots = 2;
  return context.Call(convert_, call);
}

absl::Status NarrowArguments::Widen(DtContext& context, std::vector<DtBuffer>& buffers) {
  for (Entry& entry : entries_) {
    DtBuffer& buffer = buffers[entry.at];
    entry.original = buffer;
    DT_RETURN_IF_ERROR(
        entry.wide.Resize(absl::MakeConstSpan(buffer.dims, static_cast<size_t>(buffer.rank))));
    if (buffer.value != nullptr) TakeOver(*ValueOf(buffer), entry.wide);
    const DtBuffer wide = BufferOf(entry.wide, buffer.name, buffer.value != nullptr);
    // Results, too: a call may leave elements of what it writes as they are.
    if (entry.wide.count() > 0) DT_RETURN_IF_ERROR(Convert(context, buffer, wide));
    buffer = wide;
  }
  return absl::OkStatus();
}

// After the call: the program's own buffers are put back, and results rounded into them.
absl::Status NarrowArguments::Narrow(DtContext& context, std::vector<DtBuffer>& buffers) {
  for (Entry& entry : entries_) {
    DtBuffer& buffer = buffers[entry.at];
    buffer = entry.original;
    if (!entry.written) continue;
    if (Value* value = ValueOf(buffer)) {
      DT_RETURN_IF_ERROR(value->Resize(entry.wide.dims));
      TakeOver(entry.wide, *value);
      buffer = BufferOf(*value, buffer.name, true);
    }
    if (entry.wide.count() > 0)
      DT_RETURN_IF_ERROR(Convert(context, BufferOf(entry.wide, buffer.name, false), buffer));
  }
  return absl::OkStatus();
}

}  // namespace dtranspile::exec
