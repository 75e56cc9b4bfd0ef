#include "compiler/verify/refinement/describe.h"

#include <cmath>

#include "compiler/analysis/relations/needs.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace dtranspile::verify {
namespace {

bool isText(const pd::AttrRow& row) {
  using pd::AttrType;
  return llvm::any_of(row.types, [](AttrType type) {
    return type == AttrType::String || type == AttrType::Strings || type == AttrType::Var ||
           type == AttrType::Vars;
  });
}
bool isBlock(const pd::AttrRow& row) {
  return row.types[0] == pd::AttrType::Block || row.types[0] == pd::AttrType::Blocks;
}

// Attributes whose number names an element type.
bool namesType(llvm::StringRef attribute) {
  return attribute == "dtype" || attribute == "in_dtype" || attribute == "out_dtype";
}

// Codes of the framework's VarType.Type: FP16, FP32, BF16.
bool isFloatCode(const std::vector<double>& numbers) {
  return numbers.size() == 1 && (numbers[0] == 4 || numbers[0] == 5 || numbers[0] == 22);
}

std::string printed(mlir::Attribute attribute) {
  std::string text;
  llvm::raw_string_ostream(text) << attribute;
  return text;
}

// An attribute's value such that two texts are equal where the op computes the same: numbers by
// their exact binary value, at the precision that the attribute has in the file, whichever of its
// types holds them. With `anyFloat` element types of floats are one.
std::string textOf(pd::OpView op, const pd::AttrRow& row, bool anyFloat) {
  mlir::Attribute given = op.attr(row.name);
  // What a variable holds is another operand, and not looked at.
  if (given && llvm::isa<pd::RefAttr, pd::RefsAttr>(given)) return printed(given);
  if (isText(row)) return attributeText(op.getStrings(row.name));
  if (row.types[0] == pd::AttrType::Bool)
    return attributeText({op.getBool(row.name) ? 1.0 : 0.0}, false);
  const std::vector<double> numbers = op.getFloats(row.name);
  if (anyFloat && namesType(row.name) && isFloatCode(numbers)) return "float";
  const bool single = row.types[0] == pd::AttrType::Float || row.types[0] == pd::AttrType::Floats;
  // Integers that no double holds are told apart by their digits.
  const bool exact = llvm::all_of(numbers, [](double n) { return std::fabs(n) < 0x1p53; });
  return attributeText(numbers, single) + (exact || !given ? "" : printed(given));
}

}  // namespace

mlir::Value Description::input(llvm::StringRef slot) const {
  auto found = inputs.find(slot.str());
  return found == inputs.end() || found->second.empty() ? mlir::Value() : found->second.front();
}

std::string attributeText(const std::vector<double>& numbers, bool single) {
  std::string text;
  llvm::raw_string_ostream out(text);
  for (double number : numbers)
    out << llvm::format("%a,", single ? static_cast<double>(static_cast<float>(number)) : number);
  return text;
}

std::string attributeText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += std::to_string(word.size()) + ":" + word + ",";
  return text;
}

// A type as text; with `anyFloat` all float types are one, since precision is compared elsewhere.
std::string describeType(mlir::Type type, bool anyFloat) {
  std::string text;
  llvm::raw_string_ostream out(text);
  // Ragged tensors, rows and lists too.
  mlir::RankedTensorType tensor = anyFloat ? pd::tensorOf(type) : mlir::RankedTensorType();
  if (tensor && tensor.getElementType().isFloat()) {
    if (auto ragged = llvm::dyn_cast<pd::LodType>(type)) out << "lod " << ragged.getLevels() << " ";
    else if (auto list = llvm::dyn_cast<pd::ArrayType>(type))
      out << "list " << list.getLevels() << " ";
    else if (llvm::isa<pd::RowsType>(type)) out << "rows ";
    for (int64_t extent : tensor.getShape()) out << extent << "x";
    out << "float";
  } else {
    out << type;
  }
  return text;
}

// What the op computes, apart from the values that it takes: names, positions and hints of the
// framework are left out, defaults are filled in.
Description describeOp(pd::OpView op, bool anyFloat) {
  Description result;
  result.type = op.type().str();
  if (const pd::OpSpec* spec = op.spec()) {
    for (const pd::AttrRow& row : spec->attributes) {
      // One that must be given and is not is the business of the op's verifier.
      if (row.hint || isValueFree(row.name) || isBlock(row) ||
          (row.required && !op.hasAttr(row.name)))
        continue;
      result.attributes[row.name] = textOf(op, row, anyFloat);
    }
    // One that the table does not know may mean anything.
    if (auto given = op.operation()->getAttrOfType<mlir::DictionaryAttr>("attrs"))
      for (mlir::NamedAttribute attribute : given)
        if (!spec->attribute(attribute.getName()) && !pd::isCommonAttribute(attribute.getName()) &&
            !isValueFree(attribute.getName()))
          result.attributes[attribute.getName().str()] = printed(attribute.getValue());
  } else {
    result.attributes["attrs"] = printed(op.operation()->getAttr("attrs"));
  }
  for (const std::string& slot : op.inputSlots())
    if (op.inputCount(slot) > 0) result.inputs[slot] = op.inputs(slot);
  for (mlir::OpResult value : op.operation()->getResults()) {
    auto [slot, index] = op.slotOf(value);
    result.outputs.push_back(slot + "#" + std::to_string(index));
  }
  return result;
}

// Made of an op that has none, which is asked and thrown away: the table's defaults in the same
// notation.
std::map<std::string, std::string> defaultAttributes(mlir::MLIRContext* context,
                                                     llvm::StringRef type) {
  mlir::Builder builder(context);
  mlir::OperationState state(builder.getUnknownLoc(), ("pd." + type).str());
  state.addAttribute("attrs", builder.getDictionaryAttr({}));
  state.addAttribute("ins", builder.getArrayAttr({}));
  state.addAttribute("outs", builder.getArrayAttr({}));
  mlir::Operation* op = mlir::Operation::create(state);
  std::map<std::string, std::string> attributes = describeOp(pd::OpView(op), false).attributes;
  op->destroy();
  return attributes;
}

namespace {

// The text of regions with values numbered in the order in which they are met: equal for regions
// that compute the same, whatever their values and variables are called. Values from outside are
// numbered too, and listed, for the caller to compare.
class RegionText {
 public:
  explicit RegionText(bool anyFloat) : anyFloat_(anyFloat) {}

  void add(mlir::Region& region) {
    for (mlir::Block& block : region) {
      out_ << "{";
      for (mlir::BlockArgument argument : block.getArguments()) define(argument);
      for (mlir::Operation& op : block)
        if (!llvm::isa<pd::DeclOp>(op)) add(&op);
      out_ << "}";
    }
  }
  RegionDescription take() {
    result_.text = std::move(text_);
    return std::move(result_);
  }

 private:
  void define(mlir::Value value) {
    numbers_.try_emplace(value, numbers_.size());
    out_ << describeType(value.getType(), anyFloat_) << ";";
  }

  void use(mlir::Value value) {
    auto [found, outside] = numbers_.try_emplace(value, numbers_.size());
    if (outside) result_.captured.push_back(value);
    out_ << found->second << ",";
  }

  // Serialises an op with its regions: operands and results by numbers in the order of their
  // definition, variables by name. Two blocks with equal texts are the same function of what they
  // read, whatever their values are called.
  void add(mlir::Operation* op) {
    if (auto get = llvm::dyn_cast<pd::GetOp>(op)) note(get.getVar(), result_.read, seenRead_);
    if (auto set = llvm::dyn_cast<pd::SetOp>(op)) note(set.getVar(), result_.written, seenWritten_);
    out_ << op->getName().getStringRef() << "(";
    for (mlir::Value operand : op->getOperands()) use(operand);
    out_ << ")";
    if (pd::OpView::isFrameworkOp(op)) {
      const Description own = describeOp(pd::OpView(op), anyFloat_);
      for (const auto& [name, value] : own.attributes) out_ << name << "=" << value << ";";
      for (const auto& [slot, values] : own.inputs) out_ << slot << "*" << values.size() << ";";
      for (const std::string& output : own.outputs) out_ << output << ";";
    } else {
      out_ << op->getAttrDictionary();
    }
    for (mlir::Value result : op->getResults()) define(result);
    for (mlir::Region& region : op->getRegions()) add(region);
  }

  static void note(llvm::StringRef name, std::vector<std::string>& list, llvm::StringSet<>& seen) {
    if (seen.insert(name).second) list.push_back(name.str());
  }

  bool anyFloat_;
  RegionDescription result_;
  llvm::StringSet<> seenRead_, seenWritten_;
  llvm::DenseMap<mlir::Value, size_t> numbers_;
  std::string text_;
  llvm::raw_string_ostream out_{text_};
};

}  // namespace

RegionDescription describeRegions(mlir::Operation* op, bool anyFloat) {
  RegionText text(anyFloat);
  for (mlir::Region& region : op->getRegions()) text.add(region);
  return text.take();
}

}  // namespace dtranspile::verify
