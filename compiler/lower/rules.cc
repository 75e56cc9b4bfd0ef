#include "compiler/lower/rules.h"

#include <cmath>
#include <set>

#include "compiler/lower/kernel/formula_parser.h"
#include "dialects/pd/op_table.h"
#include "llvm/ADT/StringMap.h"

namespace dtranspile::lower {
namespace {

using llvm::LogicalResult;
using llvm::StringRef;

constexpr RuleTable (*kFamilies[])() = {
    activationRules,    ampRules,           controlFlowRules, convolutionRules,  creationRules,
    detectionRules,     elementwiseRules,   embeddingRules,   hostRules,         indexingRules,
    interpolationRules, linearAlgebraRules, normRules,        logicalRules,      lossRules,
    metricRules,        normalizationRules, optimizerRules,   quantizationRules, randomRules,
    recurrentRules,     reductionRules,     sequenceRules,    shapeRules,        tensorArrayRules,
};

const llvm::StringMap<const LoweringRule*>& index() {
  static const auto* map = [] {
    auto* rules = new llvm::StringMap<const LoweringRule*>();
    for (RuleTable (*family)() : kFamilies) {
      for (const LoweringRule& rule : family()) (*rules)[rule.type] = &rule;
    }
    return rules;
  }();
  return *map;
}

int64_t channelOf(const pd::OpView& op, size_t rank) {
  const std::string layout = op.getString("data_layout");
  return layout == "NHWC" || layout == "NDHWC" ? static_cast<int64_t>(rank) - 1 : 1;
}

// `dim`, `reduce_all` of reduce_*; `axis` where the op has that instead.
std::vector<bool> reducedDims(const pd::OpView& op, int64_t rank) {
  const std::vector<int64_t> dims =
      op.getInts(op.spec() && op.spec()->attribute("dim") ? "dim" : "axis");
  std::vector<bool> reduced(rank, op.getBool("reduce_all") || dims.empty());
  for (int64_t d : dims) {
    if (d < 0) d += rank;
    if (d >= 0 && d < rank) reduced[d] = true;
  }
  return reduced;
}

// Which dims of the domain a formula folds (true), as the rule says it: by attribute, all, the
// last, all but the channel.
std::vector<bool> innerDims(Inner inner, const pd::OpView& op, size_t rank) {
  std::vector<bool> mask(
      rank, inner == Inner::All || inner == Inner::NotChannel || inner == Inner::NotFirst);
  const auto n = static_cast<int64_t>(rank);
  auto mark = [&](int64_t dim, bool value) {
    if (dim < 0) dim += n;
    if (dim >= 0 && dim < n) mask[dim] = value;
  };
  if (inner == Inner::Last) mark(-1, true);
  if (inner == Inner::Axis) mark(op.getInt("axis"), true);
  if (inner == Inner::NotChannel) mark(channelOf(op, rank), false);
  if (inner == Inner::NotFirst) mark(0, false);
  if (inner == Inner::Dims) mask = reducedDims(op, n);
  if (inner == Inner::FromAxis) {
    for (int64_t d = op.getInt("begin_norm_axis"); d < n; ++d) mark(d, true);
  }
  return mask;
}

// `axis` of the binary element-wise ops: where the first dim of the argument of lower rank stands.
void alignAxis(OpLowering& op, OpLowering::Bindings& bindings) {
  if (!op.op().hasAttr("axis") || !op.has("X") || !op.has("Y")) return;
  const int64_t axis = op.op().getInt("axis");
  const size_t x = op.in("X")->dims.size(), y = op.in("Y")->dims.size();
  if (axis >= 0 && x != y) bindings.axes.emplace_back(x > y ? "Y" : "X", static_cast<int>(axis));
}

bool isGradient(const OpLowering& op) { return op.op().spec() && op.op().spec()->gradient; }

// An optional input that the rule does not know would change the result: refused, not ignored.
LogicalResult refuseUnread(OpLowering& op, StringRef formula) {
  if (isGradient(op)) return llvm::success();
  const std::set<std::string_view> names =
      identifiersOf(std::string_view(formula.data(), formula.size())).names;
  for (const std::string& slot : op.op().inputSlots()) {
    if (op.has(slot) && !names.contains(slot)) return op.unsupported("input " + slot);
  }
  return llvm::success();
}

// A slot that the op needs may be there and hold no argument. Gradients look for themselves: files
// leave out what one does without.
LogicalResult refuseAbsent(const OpLowering& op) {
  const pd::OpSpec* spec = op.op().spec();
  if (!spec || spec->gradient) return llvm::success();
  for (const pd::Slot& slot : spec->inputs) {
    if (!slot.dispensable && !slot.duplicable && !op.has(slot.name))
      return op.op().operation()->emitError()
             << op.op().type() << ": needs an argument in input slot '" << slot.name << "'";
  }
  return llvm::success();
}

}  // namespace

const LoweringRule* findRule(StringRef type) { return index().lookup(type); }

std::vector<const LoweringRule*> allRules() {
  std::vector<const LoweringRule*> rules;
  for (RuleTable (*family)() : kFamilies) {
    for (const LoweringRule& rule : family()) rules.push_back(&rule);
  }
  return rules;
}

// A formula (kernel/formula.h) sees the op's operands by slot, its attributes by name, and these
// numbers, by which it knows the framework's version and whether it is to compute what the
// framework computes or what its documentation says.
LogicalResult applyFormula(const LoweringRule& rule, OpLowering& op,
                           OpLowering::Bindings bindings) {
  if (llvm::failed(refuseUnread(op, rule.formula))) return llvm::failure();
  // 1.x and 2.x differ in some update formulas; a file without version is a new one.
  bindings.numbers.emplace_back("legacy", op.version() > 0 && op.version() < 2000000);
  // Softmax of the framework's processors never sees more than 64 below the maximum.
  bindings.numbers.emplace_back("lowest", op.mendsDefects() ? -HUGE_VAL : -64);
  bindings.numbers.emplace_back("exact", op.mendsDefects());
  bindings.numbers.emplace_back("sparse", op.hasOtherKinds());
  const auto x = op.in("X");
  bindings.numbers.emplace_back("whole", x && !isFloat(scalarOf(x->dtype)));
  if (rule.inner == Inner::None) alignAxis(op, bindings);
  else
    bindings.inner = [&](const std::vector<int64_t>& domain) {
      return innerDims(rule.inner, op.op(), domain.size());
    };
  llvm::SmallVector<StringRef> parts;
  StringRef(rule.formula).split(parts, '\n');
  for (StringRef part : parts) {
    if (llvm::failed(op.formula(part, bindings))) return llvm::failure();
  }
  return llvm::success();
}

// A row may say several forms: a formula, a function, and a call for values of other kinds
// (SelectedRows, lists) or of extents that only the run knows.
LogicalResult applyRule(const LoweringRule& rule, OpLowering& op) {
  if (llvm::failed(refuseAbsent(op))) return llvm::failure();
  if (rule.call && !rule.formula && !rule.lower) return op.callRow();
  if (rule.callsUnknown && (op.hasOtherKinds() || (rule.lower && op.hasUnknown())))
    return op.callRow();
  if (op.hasOtherKinds() && !rule.anyKind)
    return rule.formula && rule.lower
               ? rule.lower(op)
               : op.unsupported("an argument that is SelectedRows or a list");
  return rule.formula ? applyFormula(rule, op, {}) : rule.lower(op);
}

}  // namespace dtranspile::lower
