// Shared parts of inference (infer_common.h): extents, numbers from tensors or attributes, results
// that take after operands.
#include "dialects/pd/ops/infer_common.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::pd {

bool TensorInfo::isStatic() const {
  return rankKnown && llvm::all_of(dims, [](int64_t extent) { return extent >= 0; });
}

int64_t TensorInfo::elements() const { return rankKnown ? productOf(dims).value_or(-1) : -1; }

// -1 with an unknown extent among them, unless another one is 0; nothing where it overflows or an
// extent is no extent.
std::optional<int64_t> productOf(DimsRef dims) {
  if (llvm::any_of(dims, [](int64_t extent) { return extent < -1; })) return std::nullopt;
  if (llvm::is_contained(dims, 0)) return 0;
  int64_t product = 1;
  bool unknown = false;
  for (int64_t extent : dims) {
    unknown |= extent == -1;
    if (extent != -1 && llvm::MulOverflow(product, extent, product)) return std::nullopt;
  }
  return unknown ? -1 : product;
}

std::string textOf(DimsRef dims) {
  std::string text = "[";
  for (int64_t extent : dims) {
    if (text.size() > 1) text += ", ";
    text += known(extent) ? std::to_string(extent) : "?";
  }
  return text + "]";
}

bool agree(DimsRef a, DimsRef b) {
  return a.size() == b.size() && llvm::all_of(llvm::zip(a, b), [](auto pair) {
           return agree(std::get<0>(pair), std::get<1>(pair));
         });
}

std::optional<int64_t> axisOf(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank) return std::nullopt;
  return axis < 0 ? axis + rank : axis;
}

Dims scalarDims(const InferContext& c) { return c.programVersion() >= 2005000 ? Dims{} : Dims{1}; }

const TensorInfo* require(InferContext& c, llvm::StringRef slot, unsigned index) {
  const TensorInfo* info = c.in(slot, index);
  if (!info) (void)c.fail("needs an argument in input slot '" + slot + "'");
  return info;
}

TensorInfo tensorInfo(DType dtype, Dims dims) {
  TensorInfo info;
  info.dtype = dtype;
  info.dims = std::move(dims);
  return info;
}

TensorInfo withDims(const TensorInfo& like, Dims dims) {
  TensorInfo info = like;
  info.dims = std::move(dims);
  info.rankKnown = true;
  return info;
}

TensorInfo withoutLod(TensorInfo info) {
  info.lodLevel = 0;
  return info;
}

TensorInfo unknownLike(const TensorInfo& like) {
  TensorInfo info = like;
  info.dims.clear();
  info.rankKnown = false;
  return info;
}

std::optional<DType> dtypeAttr(InferContext& c, llvm::StringRef name) {
  int64_t code = c.op().getInt(name);
  std::optional<DType> dtype;
  if (code >= 0 && code <= INT32_MAX) dtype = DTypeFromCode(static_cast<int32_t>(code));
  if (!dtype)
    (void)c.fail("attribute '" + name + "' holds " + llvm::Twine(code) +
                 ", which is no element type");
  return dtype;
}

// A list that an op takes in three ways, by precedence: a tensor per number, a tensor of all, an
// attribute. Numbers that no constant of the program gives are kUnknownValue; nothing where not
// even their count is known.
std::optional<Dims> listFrom(InferContext& c, llvm::StringRef listSlot, llvm::StringRef tensorSlot,
                             llvm::StringRef attribute) {
  if (unsigned count = listSlot.empty() ? 0 : c.inCount(listSlot)) {
    Dims list;
    for (unsigned i = 0; i < count; ++i) {
      std::optional<llvm::SmallVector<int64_t>> value = c.constant(listSlot, i);
      list.push_back(value && value->size() == 1 ? (*value)[0] : kUnknownValue);
    }
    return list;
  }
  if (const TensorInfo* tensor = tensorSlot.empty() ? nullptr : c.in(tensorSlot)) {
    if (std::optional<llvm::SmallVector<int64_t>> value = c.constant(tensorSlot))
      return Dims(value->begin(), value->end());
    constexpr int64_t kMaxRank = 64;
    int64_t count = tensor->elements();
    if (count < 0 || count > kMaxRank) return std::nullopt;
    return Dims(count, kUnknownValue);
  }
  std::vector<int64_t> list = c.op().getInts(attribute);
  return Dims(list.begin(), list.end());
}

int64_t numberFrom(InferContext& c, llvm::StringRef tensorSlot, llvm::StringRef attribute) {
  if (!c.in(tensorSlot)) return c.op().getInt(attribute);
  std::optional<llvm::SmallVector<int64_t>> value = c.constant(tensorSlot);
  return value && value->size() == 1 ? (*value)[0] : kUnknownValue;
}

llvm::LogicalResult noAxis(InferContext& c, int64_t axis, DimsRef dims) {
  return c.fail("has no axis " + llvm::Twine(axis) + " in " + textOf(dims));
}

llvm::LogicalResult inferSameAs(InferContext& c, llvm::StringRef input, llvm::StringRef output) {
  for (unsigned i = 0, n = std::max(1u, c.outCount(output)); i < n; ++i) {
    const TensorInfo* info = require(c, input, i);
    if (!info) return llvm::failure();
    c.out(output, i, *info);
  }
  return llvm::success();
}

llvm::LogicalResult inferAllLike(InferContext& c, llvm::StringRef input) {
  const TensorInfo* info = require(c, input);
  if (!info) return llvm::failure();
  for (const std::string& slot : c.op().outputSlots()) c.out(slot, *info);
  return llvm::success();
}

// "S@GRAD" has the type and extents of S: right for most gradient ops, whose rows say nothing else.
llvm::LogicalResult inferGradients(InferContext& c) {
  for (const std::string& slot : c.op().outputSlots()) {
    llvm::StringRef forward = slot;
    if (!forward.consume_back("@GRAD"))
      return c.fail("has an output slot '" + slot + "', which is no gradient");
    for (unsigned i = 0, n = c.outCount(slot); i < n; ++i) {
      if (const TensorInfo* info = c.in(forward, i)) c.out(slot, i, *info);
      else if (!c.op().outputName(slot, i).empty() && c.op().output(slot, i))
        return c.fail("lacks the forward value of '" + slot + "'");
    }
  }
  return llvm::success();
}

}  // namespace dtranspile::pd
