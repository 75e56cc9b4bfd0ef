// Both programs are walked side by side in the order of the text. Values are compared by where they
// are made: results and block arguments of the two sides are paired as the walk meets them, and an
// operand is the same if its pair is. So names and numbers of SSA values do not matter, and the
// first place where the programs part is the one that is found.
#include "compiler/analysis/program_diff.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dtranspile {
namespace {

// Of a value that a message shows.
constexpr size_t kLongestText = 80;

template <typename Printed>
std::string textOf(Printed value) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  if (text.size() > kLongestText) text = text.substr(0, kLongestText - 3) + "...";
  return text;
}

std::string textOf(mlir::Attribute attribute) {
  return attribute ? textOf<mlir::Attribute>(attribute) : "absent";
}

// An entry in which two dictionaries differ. They are sorted by name.
std::optional<std::string> entryDifference(mlir::DictionaryAttr mine, mlir::DictionaryAttr theirs) {
  for (mlir::NamedAttribute entry : mine)
    if (mlir::Attribute other = theirs.get(entry.getName()); other != entry.getValue())
      return attributeDifference(entry.getName(), entry.getValue(), other);
  for (mlir::NamedAttribute entry : theirs)
    if (!mine.get(entry.getName()))
      return attributeDifference(entry.getName(), {}, entry.getValue());
  return std::nullopt;
}

class Comparison {
 public:
  explicit Comparison(const CompareRules& rules) : rules_(rules) {}

  std::optional<Difference> compare(mlir::Operation* mine, mlir::Operation* theirs);

 private:
  std::optional<Difference> compare(mlir::Region& mine, mlir::Region& theirs,
                                    mlir::Operation* around);
  std::optional<Difference> compare(mlir::Block& mine, mlir::Block& theirs,
                                    mlir::Operation* around);
  std::optional<std::string> attributes(mlir::Operation* mine, mlir::Operation* theirs);
  bool same(mlir::Value mine, mlir::Value theirs) {
    auto found = values_.find(mine);
    return found != values_.end() ? found->second == theirs
                                  : rules_.sameOutside && rules_.sameOutside(mine, theirs);
  }

  const CompareRules& rules_;
  llvm::DenseMap<mlir::Value, mlir::Value> values_;
};

std::optional<std::string> Comparison::attributes(mlir::Operation* mine, mlir::Operation* theirs) {
  if (mine->getAttrDictionary() == theirs->getAttrDictionary()) return std::nullopt;
  auto kept = [&](mlir::Operation* op) {
    mlir::NamedAttrList list;
    for (mlir::NamedAttribute attribute : op->getAttrDictionary())
      if (!rules_.skipJobAttributes || !attribute.getName().getValue().starts_with("dist."))
        list.push_back(attribute);
    return list.getDictionary(op->getContext());
  };
  mlir::DictionaryAttr a = kept(mine), b = kept(theirs);
  return a == b ? std::nullopt : entryDifference(a, b);
}

// Results are paired before the regions are compared, since what is inside may use them.
std::optional<Difference> Comparison::compare(mlir::Operation* mine, mlir::Operation* theirs) {
  auto differ = [&](std::string text) { return Difference{mine, theirs, std::move(text)}; };
  if (mine->getName() != theirs->getName())
    return differ("is " + mine->getName().getStringRef().str() + ", and " +
                  theirs->getName().getStringRef().str() + " there");
  if (std::optional<std::string> text = attributes(mine, theirs)) return differ(*text);
  if (mine->getNumOperands() != theirs->getNumOperands() ||
      mine->getNumResults() != theirs->getNumResults() ||
      mine->getNumRegions() != theirs->getNumRegions())
    return differ("has other numbers of operands, results or blocks there");
  for (auto [i, a, b] : llvm::enumerate(mine->getOperands(), theirs->getOperands()))
    if (!same(a, b))
      return differ("takes another value as operand " + std::to_string(i) + " there");
  for (auto [a, b] : llvm::zip(mine->getResults(), theirs->getResults())) {
    if (a.getType() != b.getType())
      return differ("gives " + textOf(a.getType()) + ", and " + textOf(b.getType()) + " there");
    values_[a] = b;
  }
  for (auto [a, b] : llvm::zip(mine->getRegions(), theirs->getRegions()))
    if (auto found = compare(a, b, mine)) return found;
  return std::nullopt;
}

std::optional<Difference> Comparison::compare(mlir::Region& mine, mlir::Region& theirs,
                                              mlir::Operation* around) {
  if (mine.getBlocks().size() != theirs.getBlocks().size())
    return Difference{around, nullptr, "has another number of blocks there"};
  for (auto [a, b] : llvm::zip(mine, theirs))
    if (auto found = compare(a, b, around)) return found;
  return std::nullopt;
}

std::optional<Difference> Comparison::compare(mlir::Block& mine, mlir::Block& theirs,
                                              mlir::Operation* around) {
  if (mine.getArgumentTypes() != theirs.getArgumentTypes())
    return Difference{around, nullptr, "has a block of other arguments there"};
  for (auto [a, b] : llvm::zip(mine.getArguments(), theirs.getArguments())) values_[a] = b;
  auto a = mine.begin(), b = theirs.begin();
  for (; a != mine.end() && b != theirs.end(); ++a, ++b)
    if (auto found = compare(&*a, &*b)) return found;
  if (a != mine.end()) return Difference{&*a, nullptr, "is not there"};
  if (b != theirs.end())
    return Difference{around, &*b,
                      "lacks " + b->getName().getStringRef().str() +
                          ", which stands "
                          "there"};
  return std::nullopt;
}

}  // namespace

std::string attributeDifference(llvm::StringRef name, mlir::Attribute mine,
                                mlir::Attribute theirs) {
  auto a = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(mine),
       b = llvm::dyn_cast_or_null<mlir::DictionaryAttr>(theirs);
  if (a && b)
    if (std::optional<std::string> inner = entryDifference(a, b)) return *inner;
  return "attribute `" + name.str() + "` is " + textOf(mine) + ", and " + textOf(theirs) + " there";
}

std::optional<Difference> firstDifference(mlir::Operation* mine, mlir::Operation* theirs,
                                          const CompareRules& rules) {
  return Comparison(rules).compare(mine, theirs);
}

}  // namespace dtranspile
