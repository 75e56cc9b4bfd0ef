#include "compiler/analysis/relations/reshapes.h"

#include <map>

#include "compiler/analysis/relations/kinds.h"
#include "llvm/ADT/STLExtras.h"

namespace dtranspile::verify {
namespace {

// A product of a number and of extents that are not known. Symbols: dims of what is reshaped, then
// extents of other tensors.
// number · Π symbol^power: closed under product and quotient, which is all that reshapes do to
// extents, so that equality can be decided without knowing the symbols.
struct Size {
  Rational number;
  std::map<int, int> powers;

  static Size of(int64_t value) { return {Rational(value), {}}; }
  static Size symbol(int which) { return {Rational(), {{which, 1}}}; }
  int power(int which) const {
    auto found = powers.find(which);
    return found == powers.end() ? 0 : found->second;
  }
  // An extent is a number times powers of symbols for unknown extents; `to` is 1 for a product and
  // -1 for a quotient.
  Size raised(const Size& other, int to) const {
    Size result = *this;
    result.number =
        number *
        (to > 0 ? other.number : Rational(other.number.denominator(), other.number.numerator()));
    for (auto [which, power] : other.powers)
      if ((result.powers[which] += to * power) == 0) result.powers.erase(which);
    return result;
  }
  Size operator*(const Size& other) const { return raised(other, 1); }
  Size operator/(const Size& other) const { return raised(other, -1); }
  bool operator==(const Size& other) const {
    return number == other.number && powers == other.powers;
  }
};

using Sizes = llvm::SmallVector<Size, 6>;

// 1 of no extents.
Size product(llvm::ArrayRef<Size> extents) {
  Size result;
  for (const Size& extent : extents) result = result * extent;
  return result;
}

// What a reshape does to extents, by the type of the op.
// Extents of the result as functions of those of X. With one dim of X a symbol, the dim of the
// result in whose extent the symbol occurs is the one that is cut where X is cut.
class Reshape {
 public:
  Reshape(RuleContext& context, const pd::OpView& op, llvm::ArrayRef<int64_t> from)
      : context_(context), op_(op), from_(from) {
    const llvm::StringRef type = op.type();
    if (type.starts_with("reshape")) numbers_ = numbersOf(op, {"ShapeTensor", "Shape", "shape"});
    if (type.starts_with("unsqueeze"))
      numbers_ = numbersOf(op, {"AxesTensorList", "AxesTensor", "axes"});
    if (type.starts_with("squeeze")) numbers_ = numbersOf(op, {"", "", "axes"});
  }

  // Tensors that are asked for numbers and say none.
  llvm::SmallVector<mlir::Value, 2> untraced() const {
    llvm::SmallVector<mlir::Value, 2> values;
    const bool known = numbers_ && llvm::all_of(*numbers_, [](const Number& one) {
                         return one.kind != Number::Kind::Unknown;
                       });
    for (llvm::StringRef slot : {"ShapeTensor", "Shape", "AxesTensorList", "AxesTensor"})
      for (mlir::Value value : known ? std::vector<mlir::Value>() : op_.inputs(slot))
        if (value) values.push_back(value);
    return values;
  }

  // Sizes of what is reshaped, where dim `varied` has one that is not known.
  Sizes before(int varied) const {
    Sizes extents;
    for (auto [i, extent] : llvm::enumerate(from_)) {
      const int dim = static_cast<int>(i);
      extents.push_back(extent <= 0 || dim == varied ? Size::symbol(dim) : Size::of(extent));
    }
    return extents;
  }
  // Nothing where the result's rank or extents depend on more than that.
  std::optional<Sizes> after(const Sizes& from) {
    const llvm::StringRef type = op_.type();
    if (type.starts_with("reshape")) return reshaped(from);
    if (type.starts_with("squeeze")) return squeezed(from);
    if (type.starts_with("unsqueeze")) return unsqueezed(from);
    if (type.starts_with("flatten_contiguous_range")) return flattenedRange(from);
    return flattened(from);
  }

  // Sizes of tensors that were met in `after`, by symbol.
  const llvm::SmallVector<Number, 2>& tensors() const { return tensors_; }
  int symbolOf(size_t tensor) const { return static_cast<int>(from_.size() + tensor); }

 private:
  // A number of the shape that is an extent of some tensor: of X itself it is X's, of a tensor that
  // is not cut the declared one, else a symbol of its own.
  Size ofTensor(const Number& number, const Sizes& from) {
    // Of what is reshaped itself, or of what has its extents.
    if (number.tensor == op_.input("X") && number.dim < static_cast<int>(from.size()))
      return from[number.dim];
    const int64_t declared = dimsOf(number.tensor)[number.dim];
    if (declared > 0 && !isSplitAlong(context_, number.tensor, number.dim))
      return Size::of(declared);
    for (auto [i, other] : llvm::enumerate(tensors_))
      if (other.tensor == number.tensor && other.dim == number.dim)
        return Size::symbol(symbolOf(i));
    tensors_.push_back(number);
    return Size::symbol(symbolOf(tensors_.size() - 1));
  }

  // 0 keeps the extent of the same dim, one -1 takes what is left of the elements.
  std::optional<Sizes> reshaped(const Sizes& from) {
    if (!numbers_) return std::nullopt;
    Sizes result;
    std::optional<size_t> open;
    for (auto [i, number] : llvm::enumerate(*numbers_)) {
      if (number.isExtent()) result.push_back(ofTensor(number, from));
      else if (!number.isKnown()) return std::nullopt;
      else if (number.value > 0) result.push_back(Size::of(number.value));
      else if (number.value == 0 && i < from.size()) result.push_back(from[i]);
      else if (number.value == -1 && !open) open = i, result.push_back(Size());
      else return std::nullopt;
    }
    if (open) result[*open] = product(from) / product(result);
    return result;
  }

  // An axis of extent 1 goes; where it may have another extent it may stay.
  std::optional<Sizes> squeezed(const Sizes& from) const {
    llvm::SmallVector<bool, 6> named(from.size(), !numbers_ || numbers_->empty());
    for (const Number& number : numbers_ ? *numbers_ : Numbers()) {
      const int axis = normalAxis(number.value, static_cast<int>(from.size()));
      if (axis < 0 || axis >= static_cast<int>(from.size())) return std::nullopt;
      named[axis] = true;
    }
    Sizes result;
    for (auto [i, extent] : llvm::enumerate(from)) {
      if (!named[i]) result.push_back(extent);
      else if (!extent.powers.empty()) return std::nullopt;
      else if (!extent.number.isOne()) result.push_back(extent);
    }
    return result;
  }

  std::optional<Sizes> unsqueezed(const Sizes& from) const {
    if (!numbers_) return std::nullopt;
    Sizes result = from;
    for (const Number& number : *numbers_) {
      const int axis = normalAxis(number.value, static_cast<int>(result.size()) + 1);
      if (!number.isKnown() || axis < 0 || axis > static_cast<int>(result.size()))
        return std::nullopt;
      result.insert(result.begin() + axis, Size());
    }
    return result;
  }

  std::optional<Sizes> flattened(const Sizes& from) const {
    const auto axis = static_cast<size_t>(op_.getInt("axis"));
    if (axis > from.size()) return std::nullopt;
    const llvm::ArrayRef<Size> all(from);
    return Sizes{product(all.take_front(axis)), product(all.drop_front(axis))};
  }

  std::optional<Sizes> flattenedRange(const Sizes& from) const {
    const int rank = static_cast<int>(from.size());
    const int start = normalAxis(op_.getInt("start_axis"), rank),
              stop = normalAxis(op_.getInt("stop_axis"), rank);
    if (start < 0 || stop < start || stop >= rank) return std::nullopt;
    const llvm::ArrayRef<Size> all(from);
    Sizes result(from.begin(), from.begin() + start);
    result.push_back(product(all.slice(start, stop - start + 1)));
    result.append(from.begin() + stop + 1, from.end());
    return result;
  }

  RuleContext& context_;
  const pd::OpView& op_;
  llvm::ArrayRef<int64_t> from_;
  std::optional<Numbers> numbers_;
  llvm::SmallVector<Number, 2> tensors_;
};

// The dim of the result whose extent, and no other's, is divided where that of dim `varied` and of
// the symbol `tensor` (-1: none) are; -1 where there is none, or elements change places.
int partner(const Sizes& from, const Sizes& to, int varied, int tensor) {
  int found = -1;
  for (auto [j, extent] : llvm::enumerate(to)) {
    const int power = extent.power(varied) + (tensor < 0 ? 0 : extent.power(tensor));
    if (power == 0) continue;
    if (power != 1 || found >= 0) return -1;
    found = static_cast<int>(j);
  }
  const bool inPlace = found >= 0 && product(llvm::ArrayRef(from).take_front(varied)) ==
                                         product(llvm::ArrayRef(to).take_front(found));
  return inPlace ? found : -1;
}

// Ranks hold parts along this dim of what is reshaped, of which a gradient knows XShape only.
bool isPart(RuleContext& context, int dim) {
  mlir::Value x = context.op().input("X"), xshape = context.op().input("XShape");
  if (!x && !xshape) return false;
  const Reading& whole = context.relation(x ? x : xshape).whole;
  return whole.known && llvm::any_of(whole.states, [&](const State& state) {
           return state.isSplit() && state.dim == (x ? dim : dim + 1);
         });
}

// What the entries make of a tensor of these extents; nothing where they do not fit it.
std::optional<Sizes> shapeOf(const Sizes& from, llvm::ArrayRef<int64_t> entries) {
  Sizes result;
  std::optional<size_t> open;
  for (auto [i, entry] : llvm::enumerate(entries)) {
    if (entry > 0) result.push_back(Size::of(entry));
    else if (entry == 0 && i < from.size()) result.push_back(from[i]);
    else if (entry == -1 && !open) open = i, result.push_back(Size());
    else return std::nullopt;
  }
  if (open) result[*open] = product(from) / product(result);
  return result;
}

}  // namespace

// Whether two shapes with -1 and 0 (the framework's "rest" and "as before") mean the same for
// whatever the unknown extents are.
bool makeSameShape(llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> one,
                   llvm::ArrayRef<int64_t> other) {
  Sizes extents;
  for (auto [i, extent] : llvm::enumerate(from)) {
    if (extent == 0) return one == other;
    extents.push_back(extent < 0 ? Size::symbol(static_cast<int>(i)) : Size::of(extent));
  }
  const std::optional<Sizes> mine = shapeOf(extents, one), theirs = shapeOf(extents, other);
  return one == other || (mine && theirs && *mine == *theirs);
}

// Dim by dim: which dim of the result a part along it becomes a part of. O(rank²) sizes.
ReshapeLabels reshapeLabels(RuleContext& context, const pd::OpView& op,
                            llvm::ArrayRef<int64_t> from, int to) {
  Reshape reshape(context, op, from);
  ReshapeLabels labels{
      Labels(from.size(), kWholeDim), Labels(to, kWholeDim), {}, reshape.untraced()};
  for (int dim = 0, n = static_cast<int>(from.size()); dim < n; ++dim) {
    // It has no parts, and would stand in the way of those that have. (A part may have extent 1.)
    if (from[dim] == 1 && !isPart(context, dim)) continue;
    const Sizes before = reshape.before(dim);
    std::optional<Sizes> after = reshape.after(before);
    if (!after || static_cast<int>(after->size()) != to) continue;
    int other = partner(before, *after, dim, -1);
    for (size_t t = 0; other < 0 && t < reshape.tensors().size(); ++t) {
      other = partner(before, *after, dim, reshape.symbolOf(t));
      if (other < 0) continue;
      const Number& extent = reshape.tensors()[t];
      Labels shape = wholeLabels(extent.tensor);
      shape[extent.dim] = dim;
      labels.extents.push_back({extent.tensor, shape, Use::Shape});
    }
    if (other >= 0 && labels.to[other] < 0) labels.from[dim] = labels.to[other] = dim;
  }
  return labels;
}

}  // namespace dtranspile::verify
