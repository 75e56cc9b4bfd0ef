#include "dialects/pd/op_view.h"

#include <limits>

#include "dialects/pd/integer.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile::pd {
namespace {

constexpr llvm::StringLiteral kIns = "ins";
constexpr llvm::StringLiteral kOuts = "outs";
constexpr llvm::StringLiteral kAttrs = "attrs";

mlir::ArrayAttr slotsOf(mlir::Operation* op, llvm::StringRef which) {
  return op->getAttrOfType<mlir::ArrayAttr>(which);
}

// Where the arguments of a slot stand among operands or results.
struct Found {
  SlotAttr slot;
  unsigned first = 0;  // index of its first operand or result
};

// Slots are a list of (name, arguments); operands of all slots follow one another, holes having
// none, so that a slot's first operand is the sum of the counts before it.
Found find(mlir::Operation* op, llvm::StringRef which, llvm::StringRef name) {
  Found found;
  for (mlir::Attribute attribute : slotsOf(op, which)) {
    auto slot = llvm::cast<SlotAttr>(attribute);
    if (slot.getName().getValue() == name) {
      found.slot = slot;
      return found;
    }
    found.first += slot.values();
  }
  return found;
}

// Index of argument `index` of a slot among operands or results; -1 where there is none.
int position(const Found& found, unsigned index) {
  const int at = found.slot ? found.slot.valueOf(index) : -1;
  return at < 0 ? -1 : static_cast<int>(found.first) + at;
}

// Null in place of the holes.
template <typename Values>
std::vector<mlir::Value> valuesOf(const Found& found, Values all) {
  std::vector<mlir::Value> values;
  if (!found.slot) return values;
  values.reserve(found.slot.getArgs().size());
  unsigned next = found.first;
  for (mlir::StringAttr argument : found.slot.getArgs())
    values.push_back(argument.getValue() == kEmptyArgument ? mlir::Value() : all[next++]);
  return values;
}

// The slot and the argument of a result; a null slot where the lists do not have it.
std::pair<SlotAttr, unsigned> argumentOf(mlir::OpResult result) {
  unsigned at = result.getResultNumber();
  for (mlir::Attribute attribute : slotsOf(result.getOwner(), kOuts)) {
    auto slot = llvm::cast<SlotAttr>(attribute);
    if (at < slot.values()) return {slot, slot.argumentOf(at)};
    at -= slot.values();
  }
  return {};
}

// In the order in which the op was written, empty slots included.
std::vector<std::string> slotNames(mlir::Operation* op, llvm::StringRef which) {
  std::vector<std::string> names;
  for (mlir::Attribute slot : slotsOf(op, which))
    names.push_back(llvm::cast<SlotAttr>(slot).getName().str());
  return names;
}

// Splits "{1,2}" or "3" of a row's default into words.
std::vector<std::string> defaultWords(const std::string& text) {
  llvm::StringRef body = llvm::StringRef(text).trim();
  if (body.consume_front("{")) body.consume_back("}");
  std::vector<std::string> words;
  if (body.empty()) return words;
  llvm::SmallVector<llvm::StringRef> parts;
  body.split(parts, ',');
  for (llvm::StringRef part : parts) {
    part = part.trim();
    if (part.consume_front("'")) part.consume_back("'");
    words.push_back(part.str());
  }
  return words;
}

// What an attribute that the program leaves out means, by the op's row.
std::vector<std::string> rowDefault(const OpView& view, llvm::StringRef name) {
  const OpSpec* spec = view.spec();
  const AttrRow* row = spec ? spec->attribute(name) : nullptr;
  return row ? defaultWords(row->defaultText) : std::vector<std::string>();
}

// Rows spell truth as words; what is no number either is 0.
double toDouble(llvm::StringRef text) {
  double value = 0;
  if (text == "true") return 1;
  if (text == "false") return 0;
  text.getAsDouble(value);
  return value;
}

mlir::Attribute unwrapScalar(mlir::Attribute attribute) {
  if (auto scalar = llvm::dyn_cast_or_null<ScalarAttr>(attribute)) return scalar.getValue();
  return attribute;
}

// A number whatever its type: versions of an op differ in whether an attribute is bool, integer,
// float or scalar.
double numberOf(mlir::Attribute attribute) {
  attribute = unwrapScalar(attribute);
  if (auto value = llvm::dyn_cast<mlir::BoolAttr>(attribute)) return value.getValue();
  if (auto value = llvm::dyn_cast<mlir::IntegerAttr>(attribute))
    return static_cast<double>(value.getInt());
  if (auto value = llvm::dyn_cast<mlir::FloatAttr>(attribute))
    return value.getValue().convertToDouble();
  return 0;
}

}  // namespace

bool OpView::isFrameworkOp(mlir::Operation* op) {
  return llvm::isa_and_nonnull<PdDialect>(op->getDialect()) && op->hasAttr(kIns) &&
         op->hasAttr(kOuts);
}

// Ops without a row in the table, and those of blocks that no op owns, keep the framework's name in
// an attribute.
llvm::StringRef OpView::type() const {
  llvm::StringRef name = op_->getName().stripDialect();
  if (name == "opaque" || name == "orphan_block")
    if (auto type = op_->getAttrOfType<mlir::StringAttr>("type")) return type.getValue();
  return name;
}

const OpSpec* OpView::spec() const {
  llvm::StringRef name = op_->getName().stripDialect();
  return name == "opaque" ? nullptr : findOp(name);
}

int OpView::role() const {
  auto role = llvm::dyn_cast_or_null<mlir::IntegerAttr>(attr("op_role"));
  return !role || role.getInt() == kNotSpecified ? kForward : static_cast<int>(role.getInt());
}

bool OpView::hasInput(llvm::StringRef slot) const { return inputCount(slot) > 0; }
bool OpView::hasOutput(llvm::StringRef slot) const { return outputCount(slot) > 0; }

unsigned OpView::inputCount(llvm::StringRef slot) const {
  Found found = find(op_, kIns, slot);
  return found.slot ? found.slot.getArgs().size() : 0;
}

unsigned OpView::outputCount(llvm::StringRef slot) const {
  Found found = find(op_, kOuts, slot);
  return found.slot ? found.slot.getArgs().size() : 0;
}

mlir::Value OpView::input(llvm::StringRef slot, unsigned index) const {
  int at = position(find(op_, kIns, slot), index);
  return at < 0 ? mlir::Value() : op_->getOperand(at);
}

mlir::Value OpView::output(llvm::StringRef slot, unsigned index) const {
  int at = position(find(op_, kOuts, slot), index);
  return at < 0 ? mlir::Value() : op_->getResult(at);
}

std::vector<mlir::Value> OpView::inputs(llvm::StringRef slot) const {
  return valuesOf(find(op_, kIns, slot), op_->getOperands());
}

std::vector<mlir::Value> OpView::outputs(llvm::StringRef slot) const {
  return valuesOf(find(op_, kOuts, slot), op_->getResults());
}

std::vector<std::string> OpView::inputSlots() const { return slotNames(op_, kIns); }
std::vector<std::string> OpView::outputSlots() const { return slotNames(op_, kOuts); }

void OpView::setInput(llvm::StringRef slot, unsigned index, mlir::Value value) {
  int at = position(find(op_, kIns, slot), index);
  assert(at >= 0 && "no such operand");
  op_->setOperand(at, value);
}

llvm::StringRef OpView::outputName(llvm::StringRef slot, unsigned index) const {
  Found found = find(op_, kOuts, slot);
  return found.slot && index < found.slot.getArgs().size() ? found.slot.getArgs()[index].getValue()
                                                           : llvm::StringRef();
}

std::pair<std::string, unsigned> OpView::slotOf(mlir::OpResult result) const {
  auto [slot, index] = argumentOf(result);
  return slot ? std::make_pair(slot.getName().str(), index) : std::make_pair(std::string(), 0u);
}

mlir::Attribute OpView::attr(llvm::StringRef name) const {
  auto attributes = op_->getAttrOfType<mlir::DictionaryAttr>(kAttrs);
  return attributes ? attributes.get(name) : mlir::Attribute();
}

// An integer is read as such, not by way of a double, which loses digits above 2^53. A float that
// is none is the smallest number, which no attribute means.
int64_t OpView::getInt(llvm::StringRef name) const {
  if (auto value = llvm::dyn_cast_or_null<mlir::IntegerAttr>(unwrapScalar(attr(name))))
    return value.getInt();
  return truncated(getFloat(name)).value_or(std::numeric_limits<int64_t>::min());
}

double OpView::getFloat(llvm::StringRef name) const {
  if (mlir::Attribute value = attr(name)) return numberOf(value);
  std::vector<std::string> words = rowDefault(*this, name);
  return words.empty() ? 0 : toDouble(words[0]);
}

bool OpView::getBool(llvm::StringRef name) const {
  if (auto value = llvm::dyn_cast_or_null<mlir::BoolAttr>(attr(name))) return value.getValue();
  return getFloat(name) != 0;
}

std::string OpView::getString(llvm::StringRef name) const {
  if (auto value = llvm::dyn_cast_or_null<mlir::StringAttr>(attr(name)))
    return value.getValue().str();
  std::vector<std::string> words = rowDefault(*this, name);
  return words.empty() ? "" : words[0];
}

// Any of the list types, or one number as a list; without the attribute the row's default.
std::vector<int64_t> OpView::getInts(llvm::StringRef name) const {
  std::vector<int64_t> values;
  mlir::Attribute attribute = attr(name);
  if (auto list = llvm::dyn_cast_or_null<mlir::DenseI32ArrayAttr>(attribute)) {
    values.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  } else if (auto list = llvm::dyn_cast_or_null<mlir::DenseI64ArrayAttr>(attribute)) {
    values = list.asArrayRef().vec();
  } else if (auto list = llvm::dyn_cast_or_null<mlir::DenseBoolArrayAttr>(attribute)) {
    values.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  } else if (auto list = llvm::dyn_cast_or_null<ScalarsAttr>(attribute)) {
    for (mlir::Attribute scalar : list.getValues())
      values.push_back(static_cast<int64_t>(numberOf(scalar)));
  } else if (attribute) {
    values.push_back(getInt(name));
  } else {
    for (const std::string& word : rowDefault(*this, name))
      values.push_back(static_cast<int64_t>(toDouble(word)));
  }
  return values;
}

// From every form in which some version of the framework writes a list of reals, or one number for
// a list of one; without the attribute the row's default.
std::vector<double> OpView::getFloats(llvm::StringRef name) const {
  std::vector<double> values;
  mlir::Attribute attribute = attr(name);
  if (auto list = llvm::dyn_cast_or_null<mlir::DenseF32ArrayAttr>(attribute)) {
    values.assign(list.asArrayRef().begin(), list.asArrayRef().end());
  } else if (auto list = llvm::dyn_cast_or_null<mlir::DenseF64ArrayAttr>(attribute)) {
    values = list.asArrayRef().vec();
  } else if (auto list = llvm::dyn_cast_or_null<ScalarsAttr>(attribute)) {
    for (mlir::Attribute scalar : list.getValues()) values.push_back(numberOf(scalar));
  } else if (llvm::isa_and_nonnull<mlir::FloatAttr, mlir::IntegerAttr, ScalarAttr>(attribute)) {
    values.push_back(numberOf(attribute));  // one number, not cut off; true is 1
  } else if (attribute) {
    for (int64_t value : getInts(name)) values.push_back(static_cast<double>(value));
  } else {
    for (const std::string& word : rowDefault(*this, name)) values.push_back(toDouble(word));
  }
  return values;
}

// A single text counts as a list of one, an empty one as none.
std::vector<std::string> OpView::getStrings(llvm::StringRef name) const {
  std::vector<std::string> values;
  mlir::Attribute attribute = attr(name);
  if (auto list = llvm::dyn_cast_or_null<mlir::ArrayAttr>(attribute)) {
    for (mlir::Attribute value : list)
      if (auto text = llvm::dyn_cast<mlir::StringAttr>(value))
        values.push_back(text.getValue().str());
  } else if (auto text = llvm::dyn_cast_or_null<mlir::StringAttr>(attribute)) {
    if (!text.getValue().empty()) values.push_back(text.getValue().str());
  } else if (!attribute) {
    values = rowDefault(*this, name);
  }
  return values;
}

// The order that the file had is by position among all: it ends with the first attribute that is
// added or removed.
void OpView::setAttr(llvm::StringRef name, mlir::Attribute value) {
  mlir::NamedAttrList list(op_->getAttrOfType<mlir::DictionaryAttr>(kAttrs));
  const size_t before = list.getAttrs().size();
  if (value) list.set(name, value);
  else list.erase(name);
  if (list.getAttrs().size() != before) op_->removeAttr("order");
  op_->setAttr(kAttrs, list.getDictionary(op_->getContext()));
}

namespace {

// Arguments of a region are its captures, then its locals, by the lists of names that the op has
// for each of its blocks.
mlir::StringAttr nameOfArgument(mlir::BlockArgument argument) {
  mlir::Operation* parent = argument.getOwner()->getParentOp();
  auto blocks = parent ? parent->getAttrOfType<mlir::ArrayAttr>("blocks") : mlir::ArrayAttr();
  unsigned region = parent ? argument.getOwner()->getParent()->getRegionNumber() : 0;
  if (!blocks || region >= blocks.size()) return {};
  auto dictionary = llvm::dyn_cast<mlir::DictionaryAttr>(blocks[region]);
  unsigned index = argument.getArgNumber();
  for (llvm::StringRef list : {"captures", "locals"}) {
    auto names = dictionary ? dictionary.getAs<mlir::ArrayAttr>(list) : mlir::ArrayAttr();
    unsigned size = names ? names.size() : 0;
    if (index < size) return llvm::dyn_cast<mlir::StringAttr>(names[index]);
    index -= size;
  }
  return {};
}

}  // namespace

// The variable that a value is a definition of: by the slot that yields it, the symbol that it was
// read from, or the feed.
mlir::StringAttr nameAttrOf(mlir::Value value) {
  if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) return nameOfArgument(argument);
  auto result = llvm::cast<mlir::OpResult>(value);
  mlir::Operation* op = result.getOwner();
  if (op->getAttrOfType<mlir::ArrayAttr>(kOuts) &&
      llvm::isa_and_nonnull<PdDialect>(op->getDialect())) {
    auto [slot, index] = argumentOf(result);
    return slot ? slot.getArgs()[index] : mlir::StringAttr();
  }
  if (auto get = llvm::dyn_cast<GetOp>(op)) return get.getVarAttr().getAttr();
  if (auto input = llvm::dyn_cast<InputOp>(op)) return input.getNameAttr();
  if (auto undef = llvm::dyn_cast<UndefOp>(op)) return undef.getNameAttr();
  return {};
}

llvm::StringRef nameOf(mlir::Value value) {
  mlir::StringAttr name = nameAttrOf(value);
  return name ? name.getValue() : llvm::StringRef();
}

}  // namespace dtranspile::pd
