// Lists as fetches: the items one after the other, with an outermost LoD level that says which
// rows (or which sequences, where the items have LoD) are whose. Called by the lowering of programs
// (compiler/lower/program_lowering.h); the form of the files: docs/file-formats.md.
#include <cstring>

#include "runtime/kernels/cpu/ops/tensor_array/calls.h"

namespace dtranspile::kernels {
namespace {

using exec::Value;

bool IsSet(const Value& item) { return item.dims != std::vector<int64_t>{0}; }

int64_t RowsOf(const Value& item) { return item.dims.empty() ? 1 : item.dims[0]; }

std::vector<int64_t> InnerOf(const Value& item) {
  return {item.dims.begin() + (item.dims.empty() ? 0 : 1), item.dims.end()};
}

// Adds the offsets of an item; `all` has its own level in front.
void AppendLod(Lod& all, const Value& item) {
  const auto rows = static_cast<uint64_t>(RowsOf(item));
  all[0].push_back(all[0].back() + (item.lod.empty() ? rows : item.lod[0].size() - 1));
  for (size_t level = 0; level < item.lod.size(); ++level) {
    const uint64_t before = all[level + 1].back();
    for (size_t i = 1; i < item.lod[level].size(); ++i)
      all[level + 1].push_back(before + item.lod[level][i]);
  }
}

}  // namespace

// Items that are not set count as empty.
int32_t ListRows(OpCall& call) {
  using A = args::dt_list_rows;
  const DtBuffer& array = call.Arg(A::List);
  const Value* list = ListOf(call, array);
  DtBuffer& out = call.Arg(A::Out);
  if (list == nullptr) return 1;
  const Value* first = nullptr;
  int64_t rows = 0;
  for (const Value& item : list->items) {
    if (!IsSet(item)) continue;
    if (first == nullptr) first = &item;
    const bool fits = item.kind == Value::Kind::kTensor && item.dtype == first->dtype &&
                      InnerOf(item) == InnerOf(*first) && item.lod.size() == first->lod.size();
    if (!fits || __builtin_add_overflow(rows, RowsOf(item), &rows))
      return call.Fail("the items of '%s' cannot be shown one after the other: %s and %s",
                       array.name, ShapeText(first->dtype, first->dims).c_str(),
                       ShapeText(item.dtype, item.dims).c_str());
  }
  std::vector<int64_t> dims = first != nullptr ? InnerOf(*first) : std::vector<int64_t>();
  dims.insert(dims.begin(), rows);
  if (!SetType(call, out, first != nullptr ? first->dtype : TypeOf(out)) || !call.Resize(out, dims))
    return 1;
  Lod lod(first != nullptr ? first->lod.size() + 1 : 1, {0});
  std::byte* to = Data<std::byte>(out);
  for (const Value& item : list->items) {
    if (!IsSet(item)) {
      lod[0].push_back(lod[0].back());
      continue;
    }
    AppendLod(lod, item);
    if (item.bytes() > 0) std::memcpy(to, item.data(), static_cast<size_t>(item.bytes()));
    to += item.bytes();
  }
  OpCall::SetLod(out, lod);
  return 0;
}

}  // namespace dtranspile::kernels
