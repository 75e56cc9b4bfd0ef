#include "compiler/verify/refinement/pruning.h"

#include "compiler/verify/refinement/counting.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile::verify {
namespace {

constexpr int64_t kGroup = 4, kZeros = 2;
constexpr llvm::StringLiteral kLayers[] = {"fc", "linear", "conv2d"};

int64_t groupedDim(mlir::RankedTensorType type) { return type.getRank() == 4 ? 1 : 0; }

bool isPrunedByName(llvm::StringRef parameter) {
  auto [owner, kind] = parameter.split('.');
  return kind.split('.').first.contains("w_") &&
         (llvm::is_contained(kLayers, owner) ||
          llvm::is_contained(kLayers, owner.rsplit('_').first));
}

using Ints = std::vector<int64_t>;

// Goes from a value to what the op that made it took, as long as the ops are the ones asked for.
class Chain {
 public:
  Chain(const Terms& terms, TermId from) : terms_(terms), at_(from) {}

  // The only operand of an op whose result `slot` this is, and of which `holds`.
  Chain& by(llvm::StringRef type, llvm::StringRef slot,
            llvm::function_ref<bool(pd::OpView)> holds) {
    const Atom* atom = good_ ? terms_.single(at_) : nullptr;
    good_ = atom && atom->op && atom->type == type && atom->operands.size() == 1 &&
            atom->key.find("->" + slot.str() + "#0") != std::string::npos &&
            holds(pd::OpView(atom->op));
    if (good_) at_ = atom->operands[0];
    return *this;
  }
  Chain& by(llvm::StringRef type, llvm::StringRef attribute, const Ints& value) {
    return by(type, "Out", [&](pd::OpView op) { return op.getInts(attribute) == value; });
  }
  // rank >= 2: the first operand.
  Chain& atLeast(int64_t least) {
    const Atom* atom = good_ ? terms_.single(at_) : nullptr;
    good_ = atom && atom->op && atom->type == "greater_equal" && atom->operands.size() == 2 &&
            valueOf(terms_, atom->operands[1], {}) == least;
    if (good_) at_ = atom->operands[0];
    return *this;
  }
  bool endsAt(TermId value) const { return good_ && at_ == value; }

 private:
  const Terms& terms_;
  TermId at_;
  bool good_ = true;
};

bool isAscending(pd::OpView op) { return op.getInt("axis") == -1 && !op.getBool("descending"); }

}  // namespace

std::map<std::string, mlir::RankedTensorType> prunedWeights(
    pd::ProgramOp main, const std::vector<std::string>& excluded) {
  std::map<std::string, mlir::RankedTensorType> weights;
  main.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op) || !pd::OpView(op).input("Grad")) return;
    const pd::OpView update(op);
    for (unsigned i = 0; i < update.inputCount("Param"); ++i) {
      if (!update.input("Param", i) || !update.output("ParamOut", i)) continue;
      const std::string name = pd::nameOf(update.input("Param", i)).str();
      auto type = llvm::dyn_cast<mlir::RankedTensorType>(update.input("Param", i).getType());
      const bool named = isPrunedByName(name) && llvm::none_of(excluded, [&](const auto& part) {
                           return name.find(part) != std::string::npos;
                         });
      if (!named || !type || !type.hasStaticShape() || type.getRank() == 0) continue;
      const bool isShort = type.getDimSize(groupedDim(type)) < kGroup;
      if (isShort && (type.getRank() == 2 || type.getRank() == 4)) continue;
      weights[name] = type;
    }
  });
  return weights;
}

std::string maskOf(const std::string& weight) { return weight + ".asp_mask"; }

// The grouped dim is turned to the end, filled up with zeros and cut into fours; an order of the
// order says of each element how many are before it.
bool isMask(const Terms& terms, TermId mask, TermId weight, mlir::RankedTensorType type) {
  const int64_t last = type.getRank() - 1, grouped = groupedDim(type);
  Ints order, back(type.getRank()), lines;
  for (int64_t dim = 0; dim <= last; ++dim)
    if (dim != grouped) order.push_back(dim);
  order.push_back(grouped);
  for (auto [at, dim] : llvm::enumerate(order)) {
    back[dim] = static_cast<int64_t>(at);
    lines.push_back(type.getDimSize(dim));
  }
  const int64_t length = lines[last], more = llvm::divideCeil(length, kGroup) * kGroup - length;
  lines[last] += more;
  const int64_t groups = type.getNumElements() / length * lines[last] / kGroup;
  Ints paddings(2 * lines.size(), 0);
  paddings.back() = more;
  const auto element = pd::dtypeOf(type.getElementType());

  Chain chain(terms, mask);
  chain.by("transpose2", "axis", back);
  if (more)
    chain.by("slice", "Out", [&](pd::OpView op) {
      return op.getInts("axes") == Ints{last} && op.getInts("starts") == Ints{0} &&
             op.getInts("ends") == Ints{length} && op.getInts("decrease_axis").empty();
    });
  chain.by("reshape2", "shape", lines)
      .by("cast", "Out",
          [&](pd::OpView op) { return op.getInt("out_dtype") == static_cast<int64_t>(*element); })
      .atLeast(kZeros)
      .by("argsort", "Indices", isAscending)
      .by("argsort", "Indices", isAscending)
      .by("abs", "Out", [](pd::OpView) { return true; })
      .by("reshape2", "shape", {groups, kGroup});
  if (more)
    chain.by("pad", "Out", [&](pd::OpView op) {
      return op.getInts("paddings") == paddings && op.getFloat("pad_value") == 0;
    });
  return chain.by("transpose2", "axis", order).endsAt(weight);
}

bool isPruned(const Terms& terms, TermId product, TermId weight, TermId mask) {
  const Atom* atom = terms.single(product);
  return atom && atom->op && atom->type == "elementwise_mul" &&
         atom->operands == std::vector<TermId>{weight, mask} &&
         pd::OpView(atom->op).getInt("axis") == -1;
}

}  // namespace dtranspile::verify
