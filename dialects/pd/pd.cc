// Registration of dialect pd and the hand-written parts of its structural ops. Framework ops:
// row_op.cc.
#include "dialects/pd/pd.h"

#include "dialects/pd/pd_dialect.cc.inc"
#include "dialects/pd/slot_storage.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/TypeSwitch.h"
#include "mlir/IR/DialectImplementation.h"

#define GET_TYPEDEF_CLASSES
#include "dialects/pd/pd_types.cc.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/pd/pd_attrs.cc.inc"

#define GET_OP_CLASSES
#include "dialects/pd/pd_ops.cc.inc"

namespace dtranspile::pd {

void PdDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/pd/pd_ops.cc.inc"
      >();
  registerRowOps();
}

void PdDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/pd/pd_types.cc.inc"
      >();
}

void PdDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/pd/pd_attrs.cc.inc"
      >();
}

//===----------------------------------------------------------------------===//
// #pd.slot
//===----------------------------------------------------------------------===//

mlir::StringAttr SlotAttr::getName() const { return getImpl()->name; }

llvm::ArrayRef<mlir::StringAttr> SlotAttr::getArgs() const { return getImpl()->args; }

unsigned SlotAttr::values() const {
  return static_cast<unsigned>(getImpl()->args.size() - getImpl()->holes.size());
}

int SlotAttr::valueOf(unsigned index) const {
  llvm::ArrayRef<unsigned> holes = getImpl()->holes;
  const unsigned* hole = llvm::lower_bound(holes, index);
  if (index >= getImpl()->args.size() || (hole != holes.end() && *hole == index)) return -1;
  return static_cast<int>(index) - static_cast<int>(hole - holes.begin());
}

unsigned SlotAttr::argumentOf(unsigned value) const {
  // Hole number k has (position - k) values before it.
  llvm::ArrayRef<unsigned> holes = getImpl()->holes;
  size_t before = 0, end = holes.size();
  while (before < end) {
    const size_t middle = (before + end) / 2;
    if (holes[middle] - middle <= value) before = middle + 1;
    else end = middle;
  }
  return value + static_cast<unsigned>(before);
}

//===----------------------------------------------------------------------===//
// pd.program
//===----------------------------------------------------------------------===//

int64_t ProgramOp::getVersion() {
  auto version = (*this)->getAttrOfType<mlir::IntegerAttr>("version");
  return version ? version.getInt() : 0;
}

DeclOp ProgramOp::lookupDecl(llvm::StringRef name) {
  for (auto decl : getBodyBlock()->getOps<DeclOp>())
    if (decl.getName() == name) return decl;
  return {};
}

//===----------------------------------------------------------------------===//
// pd.decl "x" tensor f32 [-1, 10] lod 0 {persistable = true}
//===----------------------------------------------------------------------===//

mlir::Type DeclOp::getValueType() {
  std::optional<int> dtype;
  if (std::optional<uint32_t> code = getDtype()) dtype = static_cast<int>(*code);
  llvm::ArrayRef<int64_t> dims;
  if (std::optional<llvm::ArrayRef<int64_t>> given = getDims()) dims = *given;
  return valueType(getContext(), getKind(), dtype, dims, static_cast<int>(getLod().value_or(0)));
}

// An element type is printed by the framework's name where it has one, else by its code: `dtype
// 99`.
void DeclOp::print(mlir::OpAsmPrinter& p) {
  p << ' ';
  p.printAttributeWithoutType(getNameAttr());
  llvm::StringRef mnemonic = kindMnemonic(getKind());
  if (mnemonic.empty()) p << " kind " << static_cast<int32_t>(getKind());
  else p << ' ' << mnemonic;
  if (std::optional<uint32_t> code = getDtype()) {
    std::optional<DType> dtype = DTypeFromCode(static_cast<int32_t>(*code));
    if (dtype) p << " of " << NameOf(*dtype);
    else p << " dtype " << static_cast<int32_t>(*code);
  }
  if (std::optional<llvm::ArrayRef<int64_t>> dims = getDims()) {
    p << " [";
    llvm::interleaveComma(*dims, p);
    p << ']';
  }
  if (std::optional<uint32_t> lod = getLod()) p << " lod " << static_cast<int32_t>(*lod);
  p.printOptionalAttrDict((*this)->getAttrs(), {"name", "kind", "dtype", "dims", "lod"});
}

mlir::ParseResult DeclOp::parse(mlir::OpAsmParser& parser, mlir::OperationState& result) {
  mlir::Builder& b = parser.getBuilder();
  mlir::StringAttr name;
  llvm::StringRef keyword;
  if (parser.parseAttribute(name) || parser.parseKeyword(&keyword)) return mlir::failure();
  result.addAttribute("name", name);
  int32_t number = 0;
  if (keyword == "kind") {
    if (parser.parseInteger(number)) return mlir::failure();
  } else if (std::optional<int> kind = kindFromMnemonic(keyword)) {
    number = *kind;
  } else {
    return parser.emitError(parser.getNameLoc(), "no kind of variable is called '")
           << keyword << "'";
  }
  result.addAttribute("kind", b.getI32IntegerAttr(number));
  if (mlir::succeeded(parser.parseOptionalKeyword("of"))) {
    if (parser.parseKeyword(&keyword)) return mlir::failure();
    std::optional<DType> dtype = DTypeFromName(keyword.str());
    if (!dtype)
      return parser.emitError(parser.getNameLoc(), "no element type is called '") << keyword << "'";
    result.addAttribute("dtype", b.getI32IntegerAttr(static_cast<int32_t>(*dtype)));
  } else if (mlir::succeeded(parser.parseOptionalKeyword("dtype"))) {
    if (parser.parseInteger(number)) return mlir::failure();
    result.addAttribute("dtype", b.getI32IntegerAttr(number));
  }
  if (mlir::succeeded(parser.parseOptionalLSquare())) {
    llvm::SmallVector<int64_t> dims;
    if (mlir::failed(parser.parseOptionalRSquare())) {
      auto one = [&] { return parser.parseInteger(dims.emplace_back()); };
      if (parser.parseCommaSeparatedList(one) || parser.parseRSquare()) return mlir::failure();
    }
    result.addAttribute("dims", b.getDenseI64ArrayAttr(dims));
  }
  if (mlir::succeeded(parser.parseOptionalKeyword("lod"))) {
    if (parser.parseInteger(number)) return mlir::failure();
    result.addAttribute("lod", b.getI32IntegerAttr(number));
  }
  return parser.parseOptionalAttrDict(result.attributes);
}

//===----------------------------------------------------------------------===//
// pd.get, pd.set
//===----------------------------------------------------------------------===//

namespace {

mlir::LogicalResult verifyVariable(mlir::Operation* op, mlir::FlatSymbolRefAttr symbol,
                                   mlir::SymbolTableCollection& tables) {
  if (tables.lookupNearestSymbolFrom<VarOp>(op, symbol)) return mlir::success();
  return op->emitOpError("names ") << symbol << ", but no pd.var of that name is in scope";
}

}  // namespace

mlir::LogicalResult GetOp::verifySymbolUses(mlir::SymbolTableCollection& tables) {
  return verifyVariable(*this, getVarAttr(), tables);
}
mlir::LogicalResult SetOp::verifySymbolUses(mlir::SymbolTableCollection& tables) {
  return verifyVariable(*this, getVarAttr(), tables);
}

void GetOp::getEffects(llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(mlir::MemoryEffects::Read::get(), getVarAttr(), VariableResource::get());
}

void SetOp::getEffects(llvm::SmallVectorImpl<mlir::MemoryEffects::EffectInstance>& effects) {
  effects.emplace_back(mlir::MemoryEffects::Write::get(), getVarAttr(), VariableResource::get());
}

}  // namespace dtranspile::pd
