#include "passes/amp/values.h"

#include "dialects/pd/types.h"

namespace dtranspile::passes {
namespace {

int32_t codeOf(mlir::Type element) { return static_cast<int32_t>(*pd::dtypeOf(element)); }

// ".cast_fp16": how the framework calls what it casts.
std::string suffixOf(mlir::Type element) {
  if (element.isF16()) return ".cast_fp16";
  return element.isBF16() ? ".cast_bf16" : ".cast_fp32";
}

// `x.cast_fp16@GRAD` of `x@GRAD`: the gradient of what was cast.
std::string nameOfCast(llvm::StringRef name, mlir::Type element) {
  const size_t at = std::min(name.find("@GRAD"), name.size());
  return (name.take_front(at) + suffixOf(element) + name.drop_front(at)).str();
}

// What an op says of the gradients that it completes follows their names.
void renameListed(pd::OpView op, llvm::StringRef old, llvm::StringRef now) {
  if (!op.hasAttr("op_role_var")) return;
  std::vector<std::string> names = op.getStrings("op_role_var");
  for (size_t i = 1; i < names.size(); i += 2)
    if (names[i] == old) names[i] = now.str();
  const std::vector<llvm::StringRef> list(names.begin(), names.end());
  op.setAttr("op_role_var", mlir::Builder(op.operation()->getContext()).getStrArrayAttr(list));
}

}  // namespace

mlir::Type elementOf(mlir::Type type) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  return tensor ? tensor.getElementType() : mlir::Type();
}

mlir::Type withElement(mlir::Type type, mlir::Type element) {
  const mlir::Type tensor = pd::tensorOf(type).clone(element);
  if (auto lod = llvm::dyn_cast<pd::LodType>(type))
    return pd::LodType::get(type.getContext(), tensor, lod.getLevels());
  if (llvm::isa<pd::RowsType>(type)) return pd::RowsType::get(type.getContext(), tensor);
  if (auto array = llvm::dyn_cast<pd::ArrayType>(type))
    return pd::ArrayType::get(type.getContext(), tensor, array.getLevels());
  return tensor;
}

bool isHalf(mlir::Type element) { return element && (element.isF16() || element.isBF16()); }

Values::Values(pd::ProgramOp main, pd::Declarations& declarations)
    : block_(main.getBodyBlock()), declarations_(declarations) {
  for (mlir::Operation& op : *block_)
    for (mlir::Value result : op.getResults())
      if (!llvm::isa<pd::GetOp>(op)) ++writers_[pd::nameOf(result)];
}

// One cast for each value and element type, made in front of the first user that asks and shared by
// those that follow. It takes role and device of that first user, so that it stands in the same
// stage of a pipeline.
mlir::Value Values::as(mlir::Value value, mlir::Type element, mlir::Operation* user) {
  if (elementOf(value) == element) return value;
  auto [found, fresh] = casts_.try_emplace({value, element});
  if (!fresh) return found->second;
  mlir::OpBuilder builder(user);
  const pd::OpView view(user);
  mlir::Operation* made =
      cast(builder, value, element, nameOfCast(pd::nameOf(value), element), view.role());
  if (mlir::Attribute device = view.attr("op_device"))
    pd::OpView(made).setAttr("op_device", device);
  return casts_[{value, element}] = made->getResult(0);
}

// A cast of what the loss takes or gives is not the loss: only one op is that.
mlir::Operation* Values::cast(mlir::OpBuilder& builder, mlir::Value value, mlir::Type element,
                              llvm::StringRef name, int role) {
  const mlir::Type type = withElement(value.getType(), element);
  std::string own = name.str();
  if (!declarations_.declare(block_, own, type)) {
    own = declarations_.freshName(block_, name);
    declarations_.declare(block_, own, type);
  }
  ++writers_[own];
  const auto code = [&](mlir::Type one) { return builder.getI32IntegerAttr(codeOf(one)); };
  return declarations_
      .create(builder, value.getLoc(), "cast", {{"X", {value}}}, {{"Out", {{own, type}}}},
              {builder.getNamedAttr("in_dtype", code(elementOf(value))),
               builder.getNamedAttr("out_dtype", code(element))},
              role & ~pd::kLoss)
      .operation();
}

// A variable that only this op writes, and that is not persistable, changes its declared element
// type. Any other keeps its declaration, since other writers or the stored parameter rely on it,
// and the result gets a name of its own.
void Values::retype(mlir::OpResult result, mlir::Type element) {
  const std::string name = pd::nameOf(result).str();
  const mlir::Type type = withElement(result.getType(), element);
  result.setType(type);
  pd::DeclOp decl = declarations_.find(block_, name);
  const bool alone = writers_[name] == 1 && !(decl && decl.isPersistable());
  if (!alone) return rename(result, nameOfCast(name, element));
  if (decl) decl.setDtype(codeOf(element));
  else declarations_.declare(block_, name, type);
}

// Gives a result another name (a fresh one if it is taken) in its op's slots and in the attributes
// that list names, and keeps the count of writers per name.
void Values::rename(mlir::OpResult result, llvm::StringRef name) {
  std::string own = name.str();
  if (!declarations_.declare(block_, own, result.getType())) {
    own = declarations_.freshName(block_, name);
    declarations_.declare(block_, own, result.getType());
  }
  const std::string old = pd::nameOf(result).str();
  --writers_[old];
  ++writers_[own];
  mlir::Operation* op = result.getOwner();
  mlir::MLIRContext* context = op->getContext();
  renameListed(pd::OpView(op), old, own);
  unsigned at = 0;
  llvm::SmallVector<mlir::Attribute> slots;
  for (mlir::Attribute attribute : op->getAttrOfType<mlir::ArrayAttr>("outs")) {
    auto slot = llvm::cast<pd::SlotAttr>(attribute);
    llvm::SmallVector<mlir::StringAttr> arguments(slot.getArgs());
    for (mlir::StringAttr& argument : arguments)
      if (argument.getValue() != pd::kEmptyArgument && at++ == result.getResultNumber())
        argument = mlir::StringAttr::get(context, own);
    slots.push_back(pd::SlotAttr::get(context, slot.getName(), arguments));
  }
  op->setAttr("outs", mlir::ArrayAttr::get(context, slots));
}

// The op computes in the other precision under a new name, and a cast behind it writes the old name
// with the old element type, so that readers by name, fetches among them, see what they saw before.
mlir::Operation* Values::castBehind(mlir::OpResult result, mlir::Type element, int role) {
  const std::string name = pd::nameOf(result).str();
  pd::DeclOp decl = declarations_.find(block_, name);
  if (decl && elementOf(decl.getValueType()) != element && writers_[name] == 1)
    decl.setDtype(codeOf(element));
  rename(result, nameOfCast(name, elementOf(result)));
  mlir::OpBuilder builder(result.getContext());
  builder.setInsertionPointAfter(result.getOwner());
  mlir::Operation* made = cast(builder, result, element, name, role);
  result.replaceAllUsesExcept(made->getResult(0), made);
  return made;
}

}  // namespace dtranspile::passes
