// Declarations for values that passes make: every name that an op writes is declared, as the saved
// format asks.
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"

namespace dtranspile::pd {
namespace {

// The framework's code of a kind of variable (VarType.Type): 7 is a dense tensor, 8 SelectedRows,
// 11 step scopes, 13 an array of tensors, 17 what has no better one.
int kindOf(mlir::Type type) {
  if (llvm::isa<RowsType>(type)) return 8;
  if (llvm::isa<ArrayType>(type)) return 13;
  if (llvm::isa<TapeType>(type)) return 11;
  if (auto raw = llvm::dyn_cast<RawType>(type))
    for (int kind = 7; kind <= 31; ++kind)
      if (kindName(kind) == raw.getKind()) return kind;
  return llvm::isa<RawType>(type) ? 17 : 7;
}

}  // namespace

// Built once per block, at the first question: O(ops), after which names are found by hash. `last`
// is the last of the declarations that the block begins with, after which new ones are put.
Declarations::Scope& Declarations::scopeOf(mlir::Block* block) {
  auto [found, isNew] = scopes_.try_emplace(block);
  Scope& scope = found->second;
  if (!isNew) return scope;
  bool begins = true;
  for (mlir::Operation& op : *block) {
    auto decl = llvm::dyn_cast<DeclOp>(op);
    begins = begins && decl;
    if (begins) scope.last = &op;
    if (decl) scope.byName.try_emplace(decl.getName(), decl);
  }
  return scope;
}

DeclOp Declarations::find(mlir::Block* block, llvm::StringRef name) {
  return scopeOf(block).byName.lookup(name);
}

// Inner blocks see the names of outer ones, up to the program, as scopes of the framework do.
DeclOp Declarations::resolve(mlir::Block* block, llvm::StringRef name) {
  while (block) {
    if (DeclOp decl = find(block, name)) return decl;
    mlir::Operation* parent = block->getParentOp();
    if (!parent || llvm::isa<ProgramOp>(parent)) return {};
    block = parent->getBlock();
  }
  return {};
}

// False where the name is declared with another type.
bool Declarations::declare(mlir::Block* block, llvm::StringRef name, mlir::Type type) {
  if (DeclOp existing = resolve(block, name)) return existing.getValueType() == type;
  Scope& scope = scopeOf(block);
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(block);
  if (scope.last) builder.setInsertionPointAfter(scope.last);
  mlir::IntegerAttr dtype, lod;
  mlir::DenseI64ArrayAttr dims;
  if (mlir::RankedTensorType tensor = tensorOf(type)) {
    if (std::optional<DType> code = dtypeOf(tensor.getElementType()))
      dtype = builder.getI32IntegerAttr(static_cast<int32_t>(*code));
    dims = builder.getDenseI64ArrayAttr(dimsOf(tensor));
  }
  if (auto lodType = llvm::dyn_cast<LodType>(type))
    lod = builder.getI32IntegerAttr(lodType.getLevels());
  auto decl =
      DeclOp::create(builder, builder.getUnknownLoc(), builder.getStringAttr(name),
                     builder.getI32IntegerAttr(kindOf(type)), dtype, dims, lod, mlir::BoolAttr(),
                     mlir::BoolAttr(), mlir::BoolAttr(), mlir::BoolAttr(), mlir::StringAttr());
  scope.byName[name] = decl;
  scope.last = decl;
  return true;
}

// A temporary like the original, whatever the original was: copies are neither saved nor fed.
DeclOp Declarations::copy(DeclOp original, llvm::StringRef name) {
  Scope& scope = scopeOf(original->getBlock());
  mlir::OpBuilder builder(original);
  builder.setInsertionPointAfter(original);
  auto decl = llvm::cast<DeclOp>(builder.clone(*original));
  decl.setName(name);
  decl.removePersistableAttr();
  decl.removeIsParameterAttr();
  decl.removeNeedCheckFeedAttr();
  if (scope.last == original) scope.last = decl;
  scope.byName[name] = decl;
  return decl;
}

// The stem, or stem_0, stem_1, … : the first that neither a declaration nor a variable has. Names
// depend on the program alone, so that the same job is made every time.
std::string Declarations::freshName(mlir::Block* block, llvm::StringRef stem) {
  mlir::Operation* table = mlir::SymbolTable::getNearestSymbolTable(block->getParentOp());
  auto taken = [&](llvm::StringRef name) {
    return resolve(block, name) || (table && mlir::SymbolTable::lookupSymbolIn(table, name));
  };
  std::string name = stem.str();
  for (int k = 0; taken(name); ++k) name = (stem + "_" + llvm::Twine(k)).str();
  return name;
}

// A framework op as a saved program would have it: operands and results by slot, `@EMPTY@` for
// values that are null, attribute op_role, and a declaration of every name that it writes.
OpView Declarations::create(mlir::OpBuilder& builder, mlir::Location location, llvm::StringRef type,
                            llvm::ArrayRef<InputSlot> inputs, llvm::ArrayRef<OutputSlot> outputs,
                            llvm::ArrayRef<mlir::NamedAttribute> attributes, int role) {
  mlir::MLIRContext* context = builder.getContext();
  mlir::OperationState state(location, ("pd." + type).str());
  llvm::SmallVector<mlir::Attribute> ins, outs;
  for (const InputSlot& slot : inputs) {
    llvm::SmallVector<mlir::StringAttr> arguments;
    for (mlir::Value value : slot.values) {
      arguments.push_back(builder.getStringAttr(value ? "" : kEmptyArgument));
      if (value) state.operands.push_back(value);
    }
    ins.push_back(SlotAttr::get(context, builder.getStringAttr(slot.name), arguments));
  }
  for (const OutputSlot& slot : outputs) {
    llvm::SmallVector<mlir::StringAttr> arguments;
    for (const auto& [name, resultType] : slot.results) {
      arguments.push_back(builder.getStringAttr(name));
      if (name != kEmptyArgument) state.types.push_back(resultType);
    }
    outs.push_back(SlotAttr::get(context, builder.getStringAttr(slot.name), arguments));
  }
  mlir::NamedAttrList list(attributes);
  list.set("op_role", builder.getI32IntegerAttr(role));
  state.addAttribute("attrs", list.getDictionary(context));
  state.addAttribute("ins", builder.getArrayAttr(ins));
  state.addAttribute("outs", builder.getArrayAttr(outs));
  OpView view(builder.create(state));
  for (const OutputSlot& slot : outputs)
    for (const auto& [name, resultType] : slot.results)
      if (name != kEmptyArgument) declare(view.operation()->getBlock(), name, resultType);
  return view;
}

}  // namespace dtranspile::pd
