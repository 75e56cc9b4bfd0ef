// Declarations, persistables and what shares their storage. Part of the importer (importer.h).
#include "compiler/import/importer.h"
#include "compiler/import/usable.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

namespace dtranspile {

const VarKind& Importer::kindOf(const WireVar& var) {
  const VarKind*& known = kinds_[var.number];
  if (known) return *known;
  std::unique_ptr<VarKind>& made = varKinds_[llvm::CachedHashStringRef(var.type)];
  if (!made) made = std::make_unique<VarKind>(makeVarKind(builder_, var.type));
  return *(known = made.get());
}

// A gradient block also knows the variables of the block that it differentiates, whose parent may
// be its own.
mlir::Type Importer::typeOf(int block, Name name) {
  const WireVar* var = analysis_.resolve(block, name);
  int forward = program_.blocks[block].forward.value_or(-1);
  if (!var && forward > 0) var = analysis_.resolve(forward, name);
  return var ? kindOf(*var).type : pd::RawType::get(context_, kUndeclared);
}

void Importer::importDecl(const WireVar& var) {
  const VarKind& kind = kindOf(var);
  auto flag = [&](std::optional<bool> value) {
    return value ? builder_.getBoolAttr(*value) : mlir::BoolAttr();
  };
  pd::DeclOp::create(
      builder_, unknown_, nameAttr(var.name), kind.kind, kind.dtype, kind.dims, kind.lod,
      flag(var.persistable), flag(var.needCheckFeed), flag(var.isParameter), flag(var.stopGradient),
      kind.more || var.more ? builder_.getStringAttr(llvm::toHex(var.bytes)) : mlir::StringAttr());
}

// Whether no tensor is both: element types differ, or extents that both know.
bool disagree(mlir::Type a, mlir::Type b) {
  auto one = llvm::dyn_cast<mlir::RankedTensorType>(a),
       other = llvm::dyn_cast<mlir::RankedTensorType>(b);
  if (!one || !other || !one.hasStaticShape() || !other.hasStaticShape()) return false;
  return one.getElementType() != other.getElementType() || one.getShape() != other.getShape();
}

// One pd.var per persistable name of any block, in order of declaration.
mlir::LogicalResult Importer::importVariables() {
  llvm::DenseSet<Name> trained;
  for (const WireBlock& block : program_.blocks)
    for (const WireOp& op : block.ops)
      for (const WireSlot& slot : op.inputs)
        if (slot.parameter == "Param") trained.insert(slot.arguments.begin(), slot.arguments.end());
  llvm::DenseMap<mlir::StringAttr, mlir::Operation*> symbols;
  builder_.setInsertionPointToStart(module_.getBody());
  for (mlir::Operation& op : *module_.getBody()) {
    if (auto name = op.getAttrOfType<mlir::StringAttr>(mlir::SymbolTable::getSymbolAttrName()))
      symbols[name] = &op;
    if (llvm::isa<pd::VarOp>(op)) builder_.setInsertionPointAfter(&op);
  }
  if (symbols.contains(builder_.getStringAttr(options_.symbol)))
    return mlir::emitError(start_)
           << "there is a '" << options_.symbol << "' in the module already";
  for (const WireBlock& block : program_.blocks) {
    for (const WireVar& var : block.vars) {
      if (!var.persistable.value_or(false)) continue;
      mlir::StringAttr name = nameAttr(var.name);
      if (name.empty() || name == options_.symbol)
        return mlir::emitError(start_)
               << "block " << block.idx << ": a persistable variable cannot be called '"
               << name.getValue() << "'";
      mlir::Operation*& symbol = symbols[name];
      if (!symbol) symbol = pd::VarOp::create(builder_, start_, name, kindOf(var).type, false);
      auto op = llvm::dyn_cast<pd::VarOp>(symbol);
      if (!op)
        return mlir::emitError(start_) << "block " << block.idx << ": the module has variable '"
                                       << name.getValue() << "' as something else";
      if (mlir::Type type = kindOf(var).type; disagree(type, op.getType())) {
        mlir::InFlightDiagnostic error =
            mlir::emitError(start_) << "block " << block.idx << ": variable '" << name.getValue()
                                    << "' is " << type << " here, and " << op.getType()
                                    << " in the program that was read before: these are not the "
                                       "main and the start-up program of one model";
        error.attachNote(op.getLoc()) << "it is declared here";
        return error;
      }
      if (var.isParameter.value_or(trained.contains(var.name))) op.setParameter(true);
    }
  }
  return mlir::success();
}

namespace {

// The variable that an op sets with a result; null where it sets none.
pd::VarOp variableSetTo(mlir::Value value, mlir::SymbolTableCollection& tables) {
  for (mlir::Operation* user : value.getUsers())
    if (auto set = llvm::dyn_cast<pd::SetOp>(user))
      return tables.lookupNearestSymbolFrom<pd::VarOp>(set, set.getVarAttr());
  return {};
}

// Nothing for unknown extents and for those that do not fit.
std::optional<int64_t> elementsOf(mlir::RankedTensorType tensor) {
  int64_t count = 1;
  for (int64_t extent : tensor.getShape())
    if (extent < 0 || llvm::MulOverflow(count, extent, count)) return std::nullopt;
  return count;
}

}  // namespace

// coalesce_tensor makes its outputs parts of one storage. Where all of them are persistables, and
// fit, that outlives the program and is said of the variable.
void Importer::recordParts(mlir::Block* body) {
  mlir::SymbolTableCollection tables;
  const mlir::OperationName coalesce("pd.coalesce_tensor", context_);
  for (mlir::Operation& op : *body) {
    if (op.getName() != coalesce) continue;
    pd::OpView view(&op);
    mlir::Value fused = view.output("FusedOutput");
    pd::VarOp whole = fused ? variableSetTo(fused, tables) : pd::VarOp();
    mlir::RankedTensorType flat = whole ? pd::tensorOf(whole.getType()) : mlir::RankedTensorType();
    llvm::SmallVector<mlir::Attribute> parts;
    bool legal = static_cast<bool>(flat);
    int64_t elements = 0;
    for (mlir::Value output : view.outputs("Output")) {
      pd::VarOp part = output ? variableSetTo(output, tables) : pd::VarOp();
      mlir::RankedTensorType tensor =
          part ? pd::tensorOf(part.getType()) : mlir::RankedTensorType();
      std::optional<int64_t> count = tensor ? elementsOf(tensor) : std::nullopt;
      legal = legal && count && part != whole && tensor.getElementType() == flat.getElementType() &&
              !llvm::AddOverflow(elements, *count, elements);
      if (legal) parts.push_back(mlir::FlatSymbolRefAttr::get(part.getSymNameAttr()));
    }
    std::optional<int64_t> room = legal ? elementsOf(flat) : std::nullopt;
    if (!parts.empty() && room && elements <= *room)
      whole->setAttr(pd::kPartsAttr, builder_.getArrayAttr(parts));
  }
}

}  // namespace dtranspile
