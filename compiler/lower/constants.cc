#include "compiler/lower/constants.h"

#include <cmath>

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::lower {
namespace {

using Numbers = llvm::SmallVector<int64_t>;
using Result = std::optional<Numbers>;

constexpr int64_t kMostElements = 64;
constexpr int kDeepest = 16;    // ops between a literal and its use
constexpr int kMostOps = 1000;  // looked at for one question

// Integers that the program computes of literals and static shapes (targets of reshapes, axes, ends
// of slices) are constants for inference, and so are whole numbers that stand as literals in a
// tensor of floats (ends of a range). Only small tensors, exactly, and within bounds of depth and
// work.
class Folder {
 public:
  explicit Folder(InfoOf info) : info_(info) {}

  Result fold(mlir::Value value);
  Result in(const pd::OpView& op, llvm::StringRef slot, unsigned index = 0) {
    return op.input(slot, index) ? fold(op.input(slot, index)) : std::nullopt;
  }
  const pd::TensorInfo* infoOf(mlir::Value value) const { return value ? info_(value) : nullptr; }

 private:
  InfoOf info_;
  int depth_ = 0, seen_ = 0;
};

bool isFloat(DType dtype) { return dtype == DType::kFloat32 || dtype == DType::kFloat64; }

bool fits(int64_t number, DType dtype) {
  if (dtype == DType::kBool) return number == 0 || number == 1;
  if (isFloat(dtype)) return std::abs(number) <= 1 << 24;
  return dtype == DType::kInt64 || (number >= INT32_MIN && number <= INT32_MAX);
}

bool isInteger(DType dtype) {
  return dtype == DType::kInt32 || dtype == DType::kInt64 || dtype == DType::kBool;
}

// A literal that is a whole number below 2^53.
std::optional<int64_t> whole(double number) {
  if (!(std::fabs(number) <= 9007199254740992.0) || number != std::floor(number))
    return std::nullopt;
  return static_cast<int64_t>(number);
}

// Of dense tensors with static extents: rows of sequences depend on the batch.
Result foldShape(Folder& f, const pd::OpView& op, const pd::TensorInfo&) {
  const pd::TensorInfo* input = f.infoOf(op.input("Input"));
  if (!input || input->kind != pd::Kind::Tensor || input->lodLevel > 0 || !input->isStatic())
    return std::nullopt;
  return Numbers(input->dims.begin(), input->dims.end());
}

// The text of the value, where there is one, is exact; the number beside it is a float32.
Result foldFill(Folder&, const pd::OpView& op, const pd::TensorInfo& out) {
  if (op.hasInput("ValueTensor") || !out.isStatic()) return std::nullopt;
  double value = op.getFloat("value");
  const std::string text = op.getString("str_value");
  if (!text.empty()) {
    char* end = nullptr;
    value = std::strtod(text.c_str(), &end);
    if (*end != '\0') return std::nullopt;
  }
  std::optional<int64_t> number = whole(value);
  if (!number) return std::nullopt;
  return Numbers(out.elements(), *number);
}

// Versions of the op differ in the attribute that has the values; the lists of other types are
// empty.
Result foldAssignValue(Folder&, const pd::OpView& op, const pd::TensorInfo& out) {
  for (llvm::StringRef list : {"int32_values", "int64_values", "bool_values"}) {
    const std::vector<int64_t> values = op.getInts(list);
    if (!values.empty()) return Numbers(values.begin(), values.end());
  }
  Numbers numbers;
  for (double value : op.getFloats("values")) {
    std::optional<int64_t> number = whole(value);
    if (!number) return std::nullopt;
    numbers.push_back(*number);
  }
  return numbers;
}

// Same elements in the same order.
Result foldSame(Folder& f, const pd::OpView& op, const pd::TensorInfo&) { return f.in(op, "X"); }

// Of vectors, by constant bounds; bounds count from the end where negative and are cut at the
// extent.
Result foldSlice(Folder& f, const pd::OpView& op, const pd::TensorInfo&) {
  for (llvm::StringRef slot :
       {"StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList"}) {
    if (op.inputCount(slot) > 0) return std::nullopt;
  }
  const pd::TensorInfo* input = f.infoOf(op.input("Input"));
  const std::vector<int64_t> starts = op.getInts("starts"), ends = op.getInts("ends");
  if (!input || input->dims.size() != 1 || op.getInts("axes") != std::vector<int64_t>{0} ||
      starts.size() != 1 || ends.size() != 1)
    return std::nullopt;
  Result all = f.in(op, "Input");
  if (!all) return std::nullopt;
  const auto count = static_cast<int64_t>(all->size());
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + count : at, 0, count); };
  const int64_t start = clamp(starts[0]), end = std::max(start, clamp(ends[0]));
  return Numbers(all->begin() + start, all->begin() + end);
}

// Parts of one dim or none, one after the other.
Result foldJoin(Folder& f, const pd::OpView& op, const pd::TensorInfo& out) {
  if (op.hasInput("AxisTensor") || out.dims.size() != 1) return std::nullopt;
  Numbers joined;
  for (unsigned i = 0; i < op.inputCount("X"); ++i) {
    Result part = f.in(op, "X", i);
    if (!part) return std::nullopt;
    joined.append(part->begin(), part->end());
  }
  return joined;
}

// Sum and product, element by element or with one number.
Result foldArithmetic(Folder& f, const pd::OpView& op, const pd::TensorInfo&) {
  Result x = f.in(op, "X"), y = f.in(op, "Y");
  if (!x || !y || (x->size() != y->size() && x->size() != 1 && y->size() != 1)) return std::nullopt;
  const llvm::StringRef type = op.type();
  Numbers result(x->size() == 1 ? y->size() : x->size());
  for (size_t i = 0; i < result.size(); ++i) {
    const int64_t a = (*x)[x->size() == 1 ? 0 : i], b = (*y)[y->size() == 1 ? 0 : i];
    const bool overflow = type == "elementwise_add"   ? llvm::AddOverflow(a, b, result[i])
                          : type == "elementwise_sub" ? llvm::SubOverflow(a, b, result[i])
                                                      : llvm::MulOverflow(a, b, result[i]);
    if (overflow) return std::nullopt;
  }
  return result;
}

using FoldFn = Result (*)(Folder&, const pd::OpView&, const pd::TensorInfo&);

// What is folded, by table.
FoldFn foldOf(llvm::StringRef type) {
  static const auto* table = new llvm::StringMap<FoldFn>{
      {"shape", foldShape},
      {"fill_constant", foldFill},
      {"assign_value", foldAssignValue},
      {"assign", foldSame},
      {"cast", foldSame},
      {"reshape", foldSame},
      {"reshape2", foldSame},
      {"squeeze", foldSame},
      {"squeeze2", foldSame},
      {"unsqueeze", foldSame},
      {"unsqueeze2", foldSame},
      {"slice", foldSlice},
      {"concat", foldJoin},
      {"stack", foldJoin},
      {"elementwise_add", foldArithmetic},
      {"elementwise_sub", foldArithmetic},
      {"elementwise_mul", foldArithmetic},
  };
  return table->lookup(type);
}

// A result counts where it has as many elements as inference says, and all fit the type.
Result Folder::fold(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  const pd::TensorInfo* info = infoOf(value);
  if (!op || !info || !pd::OpView::isFrameworkOp(op) || depth_ == kDeepest || ++seen_ > kMostOps)
    return std::nullopt;
  const bool floats = isFloat(info->dtype);
  if (info->kind != pd::Kind::Tensor || !(floats || isInteger(info->dtype)) ||
      info->elements() < 0 || info->elements() > kMostElements)
    return std::nullopt;
  const pd::OpView view(op);
  const FoldFn function = foldOf(view.type());
  if (!function || (floats && function == foldArithmetic)) return std::nullopt;
  ++depth_;
  Result result = function(*this, view, *info);
  --depth_;
  if (!result || static_cast<int64_t>(result->size()) != info->elements()) return std::nullopt;
  return llvm::all_of(*result, [&](int64_t number) { return fits(number, info->dtype); })
             ? result
             : std::nullopt;
}

}  // namespace

std::optional<llvm::SmallVector<int64_t>> constantOf(mlir::Value value, InfoOf info) {
  return Folder(info).fold(value);
}

}  // namespace dtranspile::lower
