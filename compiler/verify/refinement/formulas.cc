#include "compiler/verify/refinement/formulas.h"

#include <algorithm>

#include "compiler/verify/refinement/describe.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {

namespace {
constexpr size_t kMostPieces = 128;
}

SortId Sorts::ofExtent(int64_t extent) {
  auto [at, made] = known_.try_emplace(extent, static_cast<SortId>(parents_.size()));
  if (made) parents_.push_back(at->second);
  return at->second;
}

SortId Sorts::ofUnknown(const std::string& axis) {
  auto [at, made] = unknown_.try_emplace(axis, static_cast<SortId>(parents_.size()));
  if (made) parents_.push_back(at->second);
  return find(at->second);
}

SortId Sorts::find(SortId sort) const {
  while (parents_[sort] != sort) sort = parents_[sort];
  return sort;
}

void Sorts::unite(SortId a, SortId b) {
  a = find(a), b = find(b);
  if (a != b) parents_[std::max(a, b)] = std::min(a, b);
}

// Notes that an axis of `extent` is cut at `from` and `to`. A piece has an extent of its own, which
// may be cut further, and the other way round: cuts are carried between a whole and its pieces
// until none is new (a least fixed point, over finitely many positions).
bool Sorts::piece(int64_t extent, int64_t from, int64_t to) {
  if (pieces_.size() == kMostPieces) return false;
  pieces_.push_back({extent, from, to});
  cuts_[extent].insert({from, to});
  // What a cut of the one is to the other, until nothing is added.
  for (bool more = true; more;) {
    more = false;
    for (const Piece& one : pieces_) {
      std::set<int64_t>&whole = cuts_[one.extent], &part = cuts_[one.to - one.from];
      for (int64_t cut : std::set<int64_t>(whole))
        if (cut > one.from && cut < one.to) more |= part.insert(cut - one.from).second;
      for (int64_t cut : std::set<int64_t>(part)) more |= whole.insert(cut + one.from).second;
    }
  }
  return true;
}

std::vector<int64_t> Sorts::cuts(int64_t extent) const {
  std::set<int64_t> all = {0, extent};
  if (auto found = cuts_.find(extent); found != cuts_.end())
    all.insert(found->second.begin(), found->second.end());
  return {all.begin(), all.end()};
}

std::vector<unsigned> Formula::bound() const {
  std::vector<unsigned> all;
  for (unsigned i = 0; i < variables.size(); ++i)
    if (!llvm::is_contained(result, static_cast<int>(i))) all.push_back(i);
  return all;
}

// An axis without positions has no element to look at.
mlir::RankedTensorType realTensorOf(mlir::Type type) {
  auto tensor = llvm::dyn_cast_if_present<mlir::RankedTensorType>(type);
  const bool real = tensor && tensor.getElementType().isFloat() &&
                    !llvm::is_contained(tensor.getShape(), int64_t{0});
  return real ? tensor : mlir::RankedTensorType();
}

namespace {

// Ops that are not known to be anything else, and give something as long as an operand.
struct SameShape {
  const char *type, *input, *output;
};
constexpr SameShape kSameShape[] = {
    {"dropout", "X", "Out"},  {"dropout_grad", "Out@GRAD", "X@GRAD"},
    {"layer_norm", "X", "Y"}, {"log_softmax", "X", "Out"},
    {"softmax", "X", "Out"},  {"softmax_grad", "Out@GRAD", "X@GRAD"},
};

// The operand that a result is as long as: gradients are so by definition.
std::optional<Operand> asLongAs(const FormulaContext& context) {
  const llvm::StringRef slot = context.slot();
  if (slot.ends_with("@GRAD"))
    if (auto found = context.operand(slot.drop_back(5), context.index())) return found;
  for (const SameShape& row : kSameShape)
    if (context.op().type() == row.type && slot == row.output) return context.operand(row.input);
  return std::nullopt;
}

}  // namespace

FormulaContext::FormulaContext(const Atom& atom, Formulas& formulas)
    : formulas_(formulas), op_(atom.op) {
  if (!atom.op || !pd::OpView::isFrameworkOp(atom.op) || op_.type() != atom.type ||
      atom.op->getNumRegions() > 0)
    return;
  // The key ends with the result, "->Out#0:tensor<…>".
  const llvm::StringRef key = atom.key;
  const llvm::StringRef result = key.substr(key.rfind("->") + 2);
  auto [slot, rest] = result.split('#');
  if (key.rfind("->") == llvm::StringRef::npos || rest.consumeInteger(10, index_)) return;
  slot_ = slot.str();
  mlir::Value value = op_.output(slot_, index_);
  if (!value) return;
  // Operands stand in the order of their slots (walk.cc).
  size_t next = 0;
  for (const auto& [name, values] : describeOp(op_, false).inputs)
    for (mlir::Value operand : values) {
      if (next == atom.operands.size()) return;
      const TermId term = atom.operands[next++];
      operands_[name].push_back({term, operand ? realTensorOf(operand.getType()) : nullptr});
    }
  type_ = realTensorOf(value.getType());
  plain_ = next == atom.operands.size() && type_;
}

std::optional<Operand> FormulaContext::operand(llvm::StringRef slot, unsigned index) const {
  auto found = operands_.find(slot.str());
  if (found == operands_.end() || index >= found->second.size() || !found->second[index].type)
    return std::nullopt;
  return found->second[index];
}

std::vector<Operand> FormulaContext::operands(llvm::StringRef slot) const {
  auto found = operands_.find(slot.str());
  if (found == operands_.end() ||
      llvm::any_of(found->second, [](const Operand& one) { return !one.type; }))
    return {};
  return found->second;
}

bool FormulaContext::same(const Dim& a, const Dim& b) const {
  if (a.extent >= 0 || b.extent >= 0) return a.extent == b.extent;
  return sorts().find(a.sort) == sorts().find(b.sort);
}

bool FormulaContext::demand(const Dim& a, const Dim& b) const {
  if (a.extent >= 0 || b.extent >= 0) return a.extent == b.extent;
  sorts().unite(a.sort, b.sort);
  return true;
}

// The extents of a term, with a sort for each: axes of one sort have the same extent in every
// instance. A dynamic axis has the sort of its summands where all of them agree.
std::vector<Dim> Formulas::dims(const Operand& operand) {
  std::vector<Dim> all;
  const auto axis = [&](unsigned i) { return operand.type.getDimSize(i); };
  for (unsigned i = 0; i < operand.type.getRank(); ++i)
    all.push_back({operand.type.isDynamicDim(i) ? -1 : axis(i), 0});
  const std::vector<Summand>& summands = terms_.summands(operand.term);
  for (unsigned i = 0; i < all.size(); ++i) {
    if (all[i].extent >= 0) {
      all[i].sort = sorts_.ofExtent(all[i].extent);
      continue;
    }
    // Where not all summands are known to be as long, the axis is one of its own.
    std::set<SortId> found;
    for (const Summand& summand : summands) {
      const std::vector<Dim> own = dimsOfAtom(summand.atom, operand.type);
      found.insert(sorts_.find(own[i].sort));
    }
    all[i].sort = found.size() == 1 ? *found.begin()
                                    : sorts_.ofUnknown("term " + std::to_string(operand.term) +
                                                       " axis " + std::to_string(i));
  }
  return all;
}

// Of a value of that type: one dim per axis of it.
std::vector<Dim> Formulas::dimsOfAtom(AtomId id, mlir::RankedTensorType type) {
  const Atom& atom = terms_.atomOf(id);
  const auto fits = [&](const std::vector<Dim>& dims) {
    if (static_cast<int64_t>(dims.size()) != type.getRank()) return false;
    for (unsigned i = 0; i < dims.size(); ++i)
      if ((dims[i].extent < 0) != type.isDynamicDim(i)) return false;
    return true;
  };
  std::vector<Dim> all;
  if (const Formula* formula = of(id)) {
    for (int variable : formula->result)
      all.push_back(variable < 0 ? Dim{1, sorts_.ofExtent(1)} : formula->variables[variable]);
    if (fits(all)) return all;
  } else if (const FormulaContext context(atom, *this); context.isPlain()) {
    if (std::optional<Operand> same = asLongAs(context)) {
      all = dims(*same);
      if (fits(all)) return all;
    }
  }
  all.clear();
  for (unsigned i = 0; i < type.getRank(); ++i)
    all.push_back({type.isDynamicDim(i) ? -1 : type.getDimSize(i),
                   sorts_.ofUnknown("atom " + std::to_string(id) + " axis " + std::to_string(i))});
  return all;
}

namespace {

// The result that the formula speaks of is the one that the op declares.
bool fitsType(const Formula& formula, mlir::RankedTensorType type) {
  if (static_cast<int64_t>(formula.result.size()) != type.getRank()) return false;
  for (unsigned i = 0; i < formula.result.size(); ++i) {
    const int variable = formula.result[i];
    const int64_t extent = variable < 0 ? 1 : formula.variables[variable].extent;
    if (type.isDynamicDim(i) ? extent >= 0 : extent != type.getDimSize(i)) return false;
  }
  return true;
}

}  // namespace

// Made when it is first asked for; making it may ask for others, so that the place is looked up
// again.
const Formula* Formulas::of(AtomId id) {
  auto [at, first] = made_.try_emplace(id);
  if (first) {
    const FormulaContext context(terms_.atomOf(id), *this);
    std::optional<Formula> formula;
    if (context.isPlain()) formula = formulaOf(context);
    if (formula && !fitsType(*formula, context.type())) formula.reset();
    at = made_.find(id);  // others have been made meanwhile
    at->second = std::move(formula);
  }
  return at->second ? &*at->second : nullptr;
}

}  // namespace dtranspile::verify
