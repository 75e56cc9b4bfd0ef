// tensor_array_to_tensor and its gradient (framework: tensor_array_to_tensor_op.cc): the items of
// an array side by side along an axis, or stacked along a new one.
#include <cstring>

#include "runtime/kernels/cpu/ops/tensor_array/calls.h"

namespace dtranspile::kernels {
namespace {

// The items as `outer` times a chunk of each.
struct Join {
  std::vector<int64_t> dims;    // of the tensor
  std::vector<int64_t> along;   // extents of the items along the axis
  std::vector<int64_t> chunks;  // bytes
  int64_t outer = 1, width = 0;
  DType type = DType::kFloat32;
};

bool SameBut(const std::vector<int64_t>& a, const std::vector<int64_t>& b, size_t axis) {
  if (a.size() != b.size()) return false;
  for (size_t d = 0; d < a.size(); ++d)
    if (d != axis && a[d] != b[d]) return false;
  return true;
}

// Checks that the items agree but along the axis, and computes the extents of the whole and the
// bytes that each item contributes to a row of it.
bool Plan(OpCall& call, const DtBuffer& array, exec::Value& list, Join& join) {
  using A = args::dt_tensor_array_to_tensor;
  static_assert(A::axis == args::dt_tensor_array_to_tensor_grad::axis &&
                A::use_stack == args::dt_tensor_array_to_tensor_grad::use_stack);
  if (list.items.empty()) return call.Fail("array '%s' is empty", array.name), false;
  const exec::Value& first = list.items[0];
  const auto rank = static_cast<int64_t>(first.dims.size());
  const bool stack = call.Bool(A::use_stack);
  const int64_t given = call.Int(A::axis), most = rank + (stack ? 1 : 0);
  const int64_t axis = given < 0 ? given + most : given;
  if (axis < 0 || axis >= most)
    return call.Fail("axis %lld of the items of '%s', which have %lld dims",
                     static_cast<long long>(given), array.name, static_cast<long long>(rank)),
           false;
  const size_t free = stack ? first.dims.size() : static_cast<size_t>(axis);
  join.type = first.dtype;
  join.dims = first.dims;
  if (stack) join.dims.insert(join.dims.begin() + axis, 0);
  int64_t total = 0;
  for (size_t k = 0; k < list.items.size(); ++k) {
    const exec::Value& item = list.items[k];
    if (item.kind != exec::Value::Kind::kTensor || item.dtype != join.type ||
        !SameBut(item.dims, first.dims, free))
      return call.Fail("items 0 and %zu of '%s' do not fit together: %s and %s", k, array.name,
                       ShapeText(first.dtype, first.dims).c_str(),
                       ShapeText(item.dtype, item.dims).c_str()),
             false;
    int64_t chunk = static_cast<int64_t>(SizeOf(item.dtype));
    for (size_t d = static_cast<size_t>(axis); d < item.dims.size(); ++d) chunk *= item.dims[d];
    join.chunks.push_back(chunk);
    join.along.push_back(axis < rank ? item.dims[static_cast<size_t>(axis)] : 1);
    join.width += chunk;
    total += stack ? 1 : item.dims[static_cast<size_t>(axis)];
  }
  join.dims[static_cast<size_t>(axis)] = total;
  for (int64_t d = 0; d < axis; ++d) join.outer *= first.dims[static_cast<size_t>(d)];
  return true;
}

// Visits every chunk: where it is in the tensor, which item, where in the item.
template <typename Visit>
void EachChunk(const Join& join, std::byte* tensor, Visit&& visit) {
  for (int64_t o = 0; o < join.outer; ++o) {
    std::byte* at = tensor + o * join.width;
    for (size_t k = 0; k < join.chunks.size(); at += join.chunks[k++])
      if (join.chunks[k] > 0) visit(at, k, o * join.chunks[k], static_cast<size_t>(join.chunks[k]));
  }
}

}  // namespace

// X; axis, use_stack -> Out, OutIndex: extents of the items along the axis.
int32_t ArrayToTensor(OpCall& call) {
  using A = args::dt_tensor_array_to_tensor;
  exec::Value* list = ListOf(call, call.Arg(A::X));
  Join join;
  if (list == nullptr || !Plan(call, call.Arg(A::X), *list, join)) return 1;
  if (call.Has(A::Out, 0)) {
    DtBuffer& out = call.Arg(A::Out);
    if (!SetType(call, out, join.type) || !call.Resize(out, join.dims)) return 1;
    EachChunk(join, Data<std::byte>(out), [&](std::byte* at, size_t k, int64_t from, size_t bytes) {
      std::memcpy(at, list->items[k].data() + from, bytes);
    });
  }
  if (!call.Has(A::OutIndex, 0)) return 0;
  DtBuffer& index = call.Arg(A::OutIndex);
  if (!SetType(call, index, DType::kInt32) ||
      !call.Resize(index, {static_cast<int64_t>(join.along.size())}))
    return 1;
  for (size_t k = 0; k < join.along.size(); ++k)
    Data<int32_t>(index)[k] = static_cast<int32_t>(join.along[k]);
  return 0;
}

// Out@GRAD, X; axis, use_stack -> X@GRAD
int32_t ArrayToTensorGrad(OpCall& call) {
  using A = args::dt_tensor_array_to_tensor_grad;
  const DtBuffer& gradient = call.Arg(A::Out_GRAD);
  exec::Value *list = ListOf(call, call.Arg(A::X)), *result = ListOf(call, call.Arg(A::X_GRAD));
  Join join;
  if (list == nullptr || result == nullptr || !Plan(call, call.Arg(A::X), *list, join)) return 1;
  if (TypeOf(gradient) != join.type || OpCall::Dims(gradient) != absl::MakeConstSpan(join.dims))
    return call.Fail("'%s' is not %s, as the items of '%s' make it", gradient.name,
                     ShapeText(join.type, join.dims).c_str(), call.Arg(A::X).name);
  result->items.resize(list->items.size());
  for (size_t k = 0; k < list->items.size(); ++k) {
    DtBuffer item = BufferOf(result->items[k], call.Arg(A::X_GRAD).name);
    if (!SetType(call, item, join.type) || !call.Resize(item, list->items[k].dims)) return 1;
    OpCall::SetLod(item, list->items[k].lod);
  }
  EachChunk(join, Data<std::byte>(gradient),
            [&](const std::byte* at, size_t k, int64_t to, size_t bytes) {
              std::memcpy(result->items[k].data() + to, at, bytes);
            });
  return 0;
}

}  // namespace dtranspile::kernels
