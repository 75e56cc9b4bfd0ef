#include "compiler/verify/structure/form.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_diff.h"
#include "compiler/analysis/relations/composite_body.h"
#include "compiler/analysis/relations/reshapes.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// A slot with its arguments: names of results, and whether an operand is there or a hole.
using Slots = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Slots without arguments are as good as absent.
Slots slotsOf(mlir::Operation* op, llvm::StringRef which) {
  Slots slots;
  for (mlir::Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>(which)) {
    auto slot = llvm::cast<pd::SlotAttr>(attribute);
    if (slot.getArgs().empty()) continue;
    slots.push_back({slot.getName().getValue().str(), {}});
    for (mlir::StringAttr argument : slot.getArgs())
      slots.back().second.push_back(argument.getValue().str());
  }
  return slots;
}

// The same of a composite, which names the slot of every value and has no holes.
Slots slotsOf(mlir::ArrayAttr names, mlir::ArrayAttr arguments) {
  Slots slots;
  for (auto [i, name] : llvm::enumerate(names.getAsValueRange<mlir::StringAttr>())) {
    if (slots.empty() || slots.back().first != name) slots.push_back({name.str(), {}});
    slots.back().second.push_back(
        arguments ? llvm::cast<mlir::StringAttr>(arguments[i]).getValue().str() : "");
  }
  return slots;
}

// "X(2) Y(1) "
std::string countsOf(const Slots& slots) {
  std::string text;
  for (const auto& [name, arguments] : slots)
    text += name + "(" + std::to_string(arguments.size()) + ") ";
  return text;
}

// Outputs that nothing writes (holes) have no place in a composite.
Slots withoutHoles(Slots slots) {
  for (auto& [name, arguments] : slots) llvm::erase(arguments, pd::kEmptyArgument.str());
  llvm::erase_if(slots, [](const auto& slot) { return slot.second.empty(); });
  return slots;
}

// The first difference in words: another number of values in the slots, another name, or another
// order.
std::string slotsDiffer(const Slots& mine, const Slots& theirs, mlir::Operation* original) {
  if (mine == theirs) return "";
  const std::string counts = countsOf(mine), wanted = countsOf(theirs);
  if (counts != wanted)
    return "has the slots " + counts + "and stands for " + pd::describe(original) + ", which has " +
           wanted;
  for (auto [a, b] : llvm::zip(mine, theirs))
    for (auto [own, other] : llvm::zip(a.second, b.second))
      if (own != other)
        return "has `" + own + "` in slot " + a.first + " where " + pd::describe(original) +
               " has `" + other + "`";
  return "has its slots in another order than " + pd::describe(original);
}

// A rank may have a part of what the reference has: extents are looked at in rung 2, where it is
// known which part.
bool isPartOf(mlir::Type mine, mlir::Type theirs) {
  auto own = llvm::dyn_cast<mlir::RankedTensorType>(mine),
       whole = llvm::dyn_cast<mlir::RankedTensorType>(theirs);
  return own && whole && own.getElementType() == whole.getElementType();
}

std::string typesDiffer(mlir::Operation* op, mlir::Operation* original) {
  for (auto [own, theirs] : llvm::zip(op->getResults(), original->getResults())) {
    if (dist::unlocated(own.getType()) == theirs.getType() ||
        isPartOf(dist::unlocated(own.getType()), theirs.getType()))
      continue;
    std::string text;
    llvm::raw_string_ostream(text) << "gives " << dist::unlocated(own.getType()) << " where "
                                   << pd::describe(original) << " gives " << theirs.getType();
    return text;
  }
  return "";
}

// Extents of a reshape may be written otherwise, as long as they say the same of what the reference
// reshapes: a number in the place of a dim that is cut is that of the whole, and -1 is that of a
// part as well.
bool shapesAlike(mlir::Operation* op, mlir::Operation* original) {
  const pd::OpView mine(op), theirs(original);
  if (theirs.type() != "reshape" && theirs.type() != "reshape2") return false;
  mlir::Value x = theirs.input("X");
  if (!x || theirs.input("Shape") || !theirs.inputs("ShapeTensor").empty() ||
      !mine.hasAttr("shape") || !theirs.hasAttr("shape"))
    return false;
  return makeSameShape(dimsOf(x), theirs.getInts("shape"), mine.getInts("shape"));
}

mlir::DictionaryAttr withoutShape(mlir::Operation* op) {
  mlir::NamedAttrList attributes(op->getAttrOfType<mlir::DictionaryAttr>("attrs"));
  attributes.erase("shape");
  return attributes.getDictionary(op->getContext());
}

}  // namespace

// Attributes of the program, both ways: what the job has otherwise, and what it lacks. Those of
// dialect dist are the job's own.
std::optional<std::string> programAttributesDiffer(mlir::Operation* mine, mlir::Operation* theirs,
                                                   llvm::ArrayRef<llvm::StringRef> except) {
  mlir::DictionaryAttr a = mine->getAttrDictionary(), b = theirs->getAttrDictionary();
  if (a == b) return std::nullopt;
  auto compared = [&](mlir::StringAttr name) {
    return !name.getValue().starts_with("dist.") && !llvm::is_contained(except, name.getValue());
  };
  for (mlir::NamedAttribute entry : a)
    if (compared(entry.getName()) && b.get(entry.getName()) != entry.getValue())
      return attributeDifference(entry.getName(), entry.getValue(), b.get(entry.getName()));
  for (mlir::NamedAttribute entry : b)
    if (compared(entry.getName()) && !a.get(entry.getName()))
      return attributeDifference(entry.getName(), {}, entry.getValue());
  return std::nullopt;
}

// An op that says to stand for one of the reference (`dist.src`) must look like it: type, slots
// with the names in them, types and attributes. A composite has the slots of its op without the
// empty ones, and other extents in attributes are allowed where the shape that they spell has been
// cut in the same way (`shapesAlike`).
void checkForm(mlir::Operation* op, const Reference& reference, Rung& rung) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  if (!number) return;
  mlir::Operation* original = reference.op(number.getInt());
  auto refute = [&](std::string text) {
    rung.add(messageAt(op, Message::Level::Refuted, "D30", std::move(text),
                       "correct dist.src, or keep the op as the reference has it"));
  };
  if (!original)
    return refute("stands for op " + std::to_string(number.getInt()) +
                  " of the reference, which has " + std::to_string(reference.opCount()));
  auto composite = llvm::dyn_cast<dist::CompositeOp>(op);
  bool named = composite ? compositeStandsFor(composite.getOp(), pd::OpView(original).type())
                         : op->getName() == original->getName();
  if (!named) return refute("stands for " + pd::describe(original) + ", which is of another type");
  for (bool ins : {true, false}) {
    Slots theirs = slotsOf(original, ins ? "ins" : "outs");
    Slots mine = !composite ? slotsOf(op, ins ? "ins" : "outs")
                 : ins      ? slotsOf(composite.getInputSlots(), {})
                            : slotsOf(composite.getOutputSlots(), composite.getOutputNames());
    if (composite) theirs = withoutHoles(std::move(theirs));
    if (std::string text = slotsDiffer(mine, theirs, original); !text.empty()) return refute(text);
  }
  if (std::string text = typesDiffer(op, original); !text.empty()) return refute(text);
  std::optional<std::string> different;
  if (!composite) {
    const bool alike = shapesAlike(op, original) && withoutShape(op) == withoutShape(original);
    llvm::SmallVector<llvm::StringRef, 3> except = {"ins", "outs"};
    if (alike) except.push_back("attrs");
    different = programAttributesDiffer(op, original, except);
  } else if (auto theirs = original->getAttrOfType<mlir::DictionaryAttr>("attrs");
             composite.getAttrs() != theirs) {
    different = attributeDifference("attrs", composite.getAttrs(), theirs);
  }
  if (different) refute("differs from " + pd::describe(original) + ": " + *different);
}

}  // namespace dtranspile::verify
