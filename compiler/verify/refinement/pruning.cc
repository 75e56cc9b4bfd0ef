#include "compiler/verify/refinement/pruning.h"

#include "compiler/verify/refinement/counting.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/Support/MathExtras.h"
#include "mlir/IR/TypeUtilities.h"

namespace dtranspile::verify {
namespace {

constexpr int64_t kGroup = 4, kZeros = 2, kBlock = kGroup * kGroup;
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
  // A cast between floats, which is nothing where floats are one type.
  Chain& cast(mlir::Type from, mlir::Type to, bool anyFloat) {
    return anyFloat || from == to ? *this : by("cast", "Out", [&](pd::OpView op) {
      return op.getInt("out_dtype") == static_cast<int64_t>(*pd::dtypeOf(to));
    });
  }
  // The elements of a table, by their places along its first dim: goes on with the places.
  Chain& from(llvm::function_ref<bool(TermId)> isTable) {
    return past("gather", [&](pd::OpView op, const Atom& atom) {
      // By slot: Index, X.
      return op.inputCount("Axis") == 0 && op.getInt("axis") == 0 && isTable(atom.operands[1]);
    });
  }
  // The products of the rows of a matrix with those of a table: goes on with the matrix.
  Chain& times(llvm::function_ref<bool(TermId)> isTable) {
    return past("matmul", [&](pd::OpView op, const Atom& atom) {
      return !op.getBool("transpose_X") && op.getBool("transpose_Y") && op.getFloat("alpha") == 1 &&
             op.getInt("head_number") == 1 && op.getInts("fused_reshape_Out").empty() &&
             op.getInts("fused_transpose_Out").empty() && isTable(atom.operands[1]);
    });
  }
  // rank >= 2: the first operand.
  Chain& atLeast(int64_t least) {
    return past("greater_equal", [&](pd::OpView, const Atom& atom) {
      return valueOf(terms_, atom.operands[1], {}) == least;
    });
  }
  bool endsAt(TermId value) const { return good_ && at_ == value; }

 private:
  // The first of two operands.
  Chain& past(llvm::StringRef type, llvm::function_ref<bool(pd::OpView, const Atom&)> holds) {
    const Atom* atom = good_ ? terms_.single(at_) : nullptr;
    good_ = atom && atom->op && atom->type == type && atom->operands.size() == 2 &&
            holds(pd::OpView(atom->op), *atom);
    if (good_) at_ = atom->operands[0];
    return *this;
  }

  const Terms& terms_;
  TermId at_;
  bool good_ = true;
};

bool isAscending(pd::OpView op) { return op.getInt("axis") == -1 && !op.getBool("descending"); }

}  // namespace

// Which parameters the framework's ASP prunes: those that an optimizer updates, by name and not
// excluded, with at least a group of elements along the dim that groups run along.
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

namespace {

// The grouped dim is turned to the end, filled up with zeros and cut into fours; an order of the
// order says of each element how many are before it.
bool isMaskOfFours(const Terms& terms, TermId mask, TermId weight, mlir::RankedTensorType type,
                   bool) {
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

// Element (row, column) of a block is bit 15 - (4 · row + column) of a pattern's number.
int keptOf(uint32_t pattern, int row, int column) {
  return static_cast<int>((pattern >> (kBlock - 1 - kGroup * row - column)) & 1);
}
// The most, and the least, that a row or a column keeps.
std::pair<int, int> boundsOf(uint32_t pattern) {
  int most = 0, least = kGroup;
  for (int line = 0; line < kGroup; ++line) {
    int row = 0, column = 0;
    for (int at = 0; at < kGroup; ++at) {
      row += keptOf(pattern, line, at);
      column += keptOf(pattern, at, line);
    }
    most = std::max({most, row, column});
    least = std::min({least, row, column});
  }
  return {most, least};
}
bool keepsTwoOfAll(uint32_t pattern) { return boundsOf(pattern) == std::pair<int, int>(2, 2); }
// None of the other elements can be kept too.
bool keepsTwoAtMost(uint32_t pattern) {
  if (boundsOf(pattern).first > 2) return false;
  for (int at = 0; at < kBlock; ++at)
    if (!(pattern >> at & 1) && boundsOf(pattern | 1U << at).first <= 2) return false;
  return true;
}

// A constant of these dims with these numbers, possibly as another float type.
bool isTable(const Terms& terms, TermId term, const Ints& dims, llvm::ArrayRef<double> numbers) {
  const Atom* atom = terms.single(term);
  if (atom && atom->op && atom->type == "cast" && atom->operands.size() == 1 &&
      mlir::getElementTypeOrSelf(atom->op->getResult(0)).isFloat())
    atom = terms.single(atom->operands[0]);
  if (!atom || !atom->op || atom->type != "assign_value") return false;
  const pd::OpView op(atom->op);
  return op.getInt("dtype") == static_cast<int64_t>(DType::kFloat32) &&
         op.getInts("shape") == dims &&
         llvm::ArrayRef<double>(op.getFloats("fp32_values")) == numbers;
}
std::vector<double> tableOf(bool (*legal)(uint32_t)) {
  std::vector<double> numbers;
  for (uint32_t pattern = 0; pattern < 1U << kBlock; ++pattern)
    for (int at = 0; legal(pattern) && at < kBlock; ++at)
      numbers.push_back(keptOf(pattern, at / kGroup, at % kGroup));
  return numbers;
}

// Made a matrix of what the framework prunes, filled up with zeros and cut into blocks.
struct Blocks {
  // How the framework lays a weight out as a matrix before it prunes 4 × 4 blocks: the grouped dim
  // last, the others reversed in front of it; both sides are filled up with zeros to whole blocks.
  explicit Blocks(mlir::RankedTensorType type) {
    const int64_t grouped = groupedDim(type);
    for (int64_t dim = type.getRank() - 1; dim >= 0; --dim)
      if (dim != grouped) order.push_back(dim);
    order.push_back(grouped);
    back.resize(order.size());
    for (auto [at, dim] : llvm::enumerate(order)) {
      back[dim] = static_cast<int64_t>(at);
      turned.push_back(type.getDimSize(dim));
    }
    columns = turned.back();
    rows = type.getNumElements() / columns;
    down = llvm::divideCeil(rows, kGroup);
    across = llvm::divideCeil(columns, kGroup);
    filled = rows != down * kGroup || columns != across * kGroup;
    isMatrix = type.getRank() == 2;
  }
  // From the mask to the kept elements, block by block.
  Chain& fromMask(Chain& chain) const {
    chain.by("transpose2", "axis", back);
    if (!isMatrix) chain.by("reshape2", "shape", turned);
    if (filled)
      chain.by("slice", "Out", [&](pd::OpView op) {
        return op.getInts("axes") == Ints{0, 1} && op.getInts("starts") == Ints{0, 0} &&
               op.getInts("ends") == Ints{rows, columns} && op.getInts("decrease_axis").empty();
      });
    return chain.by("reshape2", "shape", Ints{down * kGroup, across * kGroup})
        .by("transpose2", "axis", Ints{0, 2, 1, 3})
        .by("reshape2", "shape", Ints{down, across, kGroup, kGroup});
  }
  // From the elements of the blocks to the weight.
  Chain& toWeight(Chain& chain) const {
    chain.by("reshape2", "shape", Ints{down * across, kBlock})
        .by("transpose2", "axis", Ints{0, 2, 1, 3})
        .by("reshape2", "shape", Ints{down, kGroup, across, kGroup});
    if (filled)
      chain.by("pad", "Out", [&](pd::OpView op) {
        return op.getInts("paddings") ==
                   Ints{0, down * kGroup - rows, 0, across * kGroup - columns} &&
               op.getFloat("pad_value") == 0;
      });
    if (!isMatrix) chain.by("reshape2", "shape", Ints{rows, columns});
    return chain.by("transpose2", "axis", order);
  }
  int64_t count() const { return down * across; }

  Ints order, back, turned;
  int64_t rows, columns, down, across;
  bool filled, isMatrix;
};

bool isFirstMost(pd::OpView op) {
  return op.getInt("axis") == -1 && !op.getBool("keepdims") && !op.getBool("flatten");
}

// Of all patterns with two of each row and column the first whose sum is largest.
bool isMaskOfSums(const Terms& terms, TermId mask, TermId weight, mlir::RankedTensorType type,
                  bool anyFloat) {
  static const std::vector<double> patterns = tableOf(keepsTwoOfAll);
  const Blocks blocks(type);
  const auto known = [&](TermId term) {
    return isTable(terms, term, {static_cast<int64_t>(patterns.size()) / kBlock, kBlock}, patterns);
  };
  const mlir::Type wide = mlir::Float64Type::get(type.getContext());
  Chain chain(terms, mask);
  blocks.fromMask(chain)
      .cast(wide, type.getElementType(), anyFloat)
      .from(known)
      .by("arg_max", "Out", isFirstMost)
      .times(known)
      .cast(type.getElementType(), wide, anyFloat);
  return blocks.toWeight(chain).endsAt(weight);
}

// An element outweighs all smaller ones together, since its weight is 2^rank: the largest sum is
// that of the elements that are kept one by one, largest first, where a row and a column have room.
bool isMaskOfSizes(const Terms& terms, TermId mask, TermId weight, mlir::RankedTensorType type,
                   bool anyFloat) {
  static const std::vector<double> patterns = tableOf(keepsTwoAtMost);
  std::vector<double> powers;
  for (int i = 0; i < kBlock; ++i) powers.push_back(1 << i);
  const Blocks blocks(type);
  const auto known = [&](TermId term) {
    return isTable(terms, term, {static_cast<int64_t>(patterns.size()) / kBlock, kBlock}, patterns);
  };
  Chain chain(terms, mask);
  blocks.fromMask(chain)
      .cast(mlir::Float32Type::get(type.getContext()), type.getElementType(), anyFloat)
      .from(known)
      .by("arg_max", "Out", isFirstMost)
      .times(known)
      .by("reshape2", "shape", Ints{blocks.count(), kBlock})
      .from([&](TermId term) { return isTable(terms, term, {kBlock}, powers); })
      .by("reshape2", "shape", Ints{blocks.count() * kBlock})
      .by("argsort", "Indices", isAscending)
      .by("argsort", "Indices", isAscending)
      .by("abs", "Out", [](pd::OpView) { return true; });
  return blocks.toWeight(chain).endsAt(weight);
}

constexpr MaskRow kMasks[] = {
    {"mask_1d", "the two largest of every four elements", isMaskOfFours},
    {"mask_2d_greedy",
     "the elements of every block of four by four as they come by size, two of a row and of a "
     "column at most,",
     isMaskOfSizes},
    {"mask_2d_best",
     "those two of each row and column of every block of four by four whose sum is largest",
     isMaskOfSums},
};

}  // namespace

const MaskRow* findMask(llvm::StringRef algorithm) {
  const auto* row =
      llvm::find_if(kMasks, [&](const MaskRow& one) { return algorithm == one.algorithm; });
  return row == std::end(kMasks) ? nullptr : row;
}

bool isPruned(const Terms& terms, TermId product, TermId weight, TermId mask) {
  const Atom* atom = terms.single(product);
  return atom && atom->op && atom->type == "elementwise_mul" &&
         atom->operands == std::vector<TermId>{weight, mask} &&
         pd::OpView(atom->op).getInt("axis") == -1;
}

}  // namespace dtranspile::verify
