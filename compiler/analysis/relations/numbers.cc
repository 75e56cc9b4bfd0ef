#include "compiler/analysis/relations/numbers.h"

#include <algorithm>

#include "compiler/analysis/relations/kinds.h"
#include "dialects/pd/integer.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

constexpr int64_t kMostNumbers = 64;  // no tensor of extents has more
constexpr int kDeepest = 16;          // ops that are followed back

std::optional<Numbers> trace(mlir::Value tensor, int depth);

// The numbers that `fill_constant` fills in, where they and their count are attributes. The count
// is bounded, so that a hostile shape does not allocate.
std::optional<Numbers> ofFill(const pd::OpView& op) {
  for (llvm::StringRef slot : {"ValueTensor", "ShapeTensor", "ShapeTensorList"})
    if (op.inputCount(slot)) return std::nullopt;
  double value = op.getFloat("value");
  if (std::string text = op.getString("str_value");
      !text.empty() && llvm::StringRef(text).getAsDouble(value))
    return std::nullopt;
  const std::optional<int64_t> number = pd::truncated(value);
  if (!number) return std::nullopt;
  int64_t count = 1;
  for (int64_t extent : op.getInts("shape"))
    if (extent < 0 || __builtin_mul_overflow(count, extent, &count) || count > kMostNumbers)
      return std::nullopt;
  return Numbers(count, Number::known(*number));
}

std::optional<Numbers> ofValues(const pd::OpView& op) {
  for (llvm::StringRef name : {"int32_values", "int64_values", "values"}) {
    if (!op.spec()->attribute(name) || !op.hasAttr(name)) continue;
    Numbers numbers;
    for (int64_t value : op.getInts(name)) numbers.push_back(Number::known(value));
    if (!numbers.empty()) return numbers;
  }
  return std::nullopt;
}

// Extents are known by name: which tensor's, along which dim. Whether that is the reference's
// extent depends on how the tensor is cut.
std::optional<Numbers> ofShape(const pd::OpView& op) {
  mlir::Value tensor = op.input("Input");
  if (!tensor) return std::nullopt;
  Numbers numbers;
  for (int i = 0, n = rankOf(tensor); i < n; ++i)
    numbers.push_back({Number::Kind::Extent, 0, tensor, i});
  return numbers;
}

// A constant range of a known vector.
std::optional<Numbers> ofSlice(const pd::OpView& op, int depth) {
  for (llvm::StringRef slot : {"StartsTensor", "EndsTensor", "StartsTensorList", "EndsTensorList"})
    if (op.inputCount(slot)) return std::nullopt;
  std::vector<int64_t> starts = op.getInts("starts"), ends = op.getInts("ends");
  std::optional<Numbers> all = trace(op.input("Input"), depth);
  if (!all || op.getInts("axes") != std::vector<int64_t>{0} || starts.size() != 1 ||
      ends.size() != 1)
    return std::nullopt;
  const auto size = static_cast<int64_t>(all->size());
  auto inside = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + size : at, 0, size); };
  const int64_t from = inside(starts[0]), to = std::max(from, inside(ends[0]));
  return Numbers(all->begin() + from, all->begin() + to);
}

std::optional<Numbers> ofList(const pd::OpView& op, int depth) {
  Numbers numbers;
  for (mlir::Value value : op.inputs("X")) {
    std::optional<Numbers> part = rankOf(value) <= 1 ? trace(value, depth) : std::nullopt;
    if (!part) return std::nullopt;
    numbers.append(*part);
  }
  return numbers;
}

bool keepsElements(llvm::StringRef type) {
  return llvm::is_contained({"assign", "share_data", "reshape", "reshape2", "squeeze", "squeeze2",
                             "unsqueeze", "unsqueeze2", "flatten", "flatten2"},
                            type);
}

// Between integers: a cast from floats may round.
bool keepsIntegers(const pd::OpView& op) {
  mlir::Value x = op.input("X"), out = op.output("Out");
  return op.type() == "cast" && x && out && isIntegral(x) && isIntegral(out);
}

// Follows integers from where they are used back to literals and shapes, through ops that only move
// them. Bounded in depth, since programs are input.
std::optional<Numbers> trace(mlir::Value tensor, int depth) {
  mlir::Operation* maker = tensor ? tensor.getDefiningOp() : nullptr;
  if (!maker || depth > kDeepest || !pd::OpView::isFrameworkOp(maker)) return std::nullopt;
  pd::OpView op(maker);
  const llvm::StringRef type = op.type();
  if (type == "fill_constant") return ofFill(op);
  if (type == "assign_value") return ofValues(op);
  if (type == "shape") return ofShape(op);
  if (type == "slice") return ofSlice(op, depth + 1);
  if (type == "concat" || type == "stack") return ofList(op, depth + 1);
  if (keepsElements(type) || keepsIntegers(op)) return trace(op.input("X"), depth + 1);
  return std::nullopt;
}

}  // namespace

std::optional<Numbers> numbersOf(mlir::Value tensor) { return trace(tensor, 0); }

// From the list of tensors, else the tensor, else the attribute.
std::optional<Numbers> numbersOf(const pd::OpView& op, const NumberSource& source) {
  Numbers numbers;
  if (*source.list && op.inputCount(source.list)) {
    for (mlir::Value one : op.inputs(source.list)) {
      std::optional<Numbers> found = numbersOf(one);
      numbers.push_back(found && found->size() == 1 ? found->front() : Number());
    }
    return numbers;
  }
  if (*source.tensor && op.input(source.tensor)) return numbersOf(op.input(source.tensor));
  const pd::AttrRow* row = *source.attribute ? op.spec()->attribute(source.attribute) : nullptr;
  if (!row) return std::nullopt;
  for (int64_t value : op.getInts(source.attribute)) numbers.push_back(Number::known(value));
  return numbers;
}

// All of the numbers, or nothing: an extent among them may be that of a batch.
std::optional<llvm::SmallVector<int64_t>> knownNumbers(const pd::OpView& op,
                                                       const NumberSource& source) {
  std::optional<Numbers> numbers = numbersOf(op, source);
  if (!numbers) return std::nullopt;
  llvm::SmallVector<int64_t> values;
  for (const Number& number : *numbers) {
    if (!number.isKnown()) return std::nullopt;
    values.push_back(number.value);
  }
  return values;
}

// Whether a rank may have another extent there than the reference.
bool isSplitAlong(RuleContext& context, mlir::Value tensor, int dim) {
  auto along = [&](const Reading& reading) {
    return llvm::any_of(reading.states, [&](const State& state) {
      return state.isSplit() && (state.dim == dim || state.dim == dist::kFlat);
    });
  };
  const Relation& relation = context.relation(tensor);
  return !relation.whole.known || along(relation.whole) || (relation.ofShare >> dim & 1U) != 0 ||
         llvm::any_of(relation.whole.states,
                      [](const State& state) { return state.isParts() || state.isDifferent(); });
}

// An extent that a rank has of its own part makes the result cut along that dim: the tensor it is
// read off becomes a term that lends its shape.
void addExtent(RuleContext& context, const Number& number, int label, int& resultLabel,
               Form& form) {
  if (!number.isExtent() || !isSplitAlong(context, number.tensor, number.dim)) return;
  Labels labels = wholeLabels(number.tensor);
  labels[number.dim] = resultLabel = label;
  form.terms.push_back({number.tensor, labels, Use::Shape});
}

}  // namespace dtranspile::verify
