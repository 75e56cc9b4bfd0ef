// Declarations for values that passes make: every name that an op writes is declared, as the saved format asks.
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "dialects/pd/types.h"

namespace dtranspile::pd {
namespace {

DeclOp findIn(mlir::Block* block, llvm::StringRef name) {
  for (auto decl : block->getOps<DeclOp>())
    if (decl.getName() == name) return decl;
  return {};
}

// The declaration that `name` resolves to from `block`, looking outwards up to the program.
DeclOp resolve(mlir::Block* block, llvm::StringRef name) {
  while (block) {
    if (DeclOp decl = findIn(block, name)) return decl;
    mlir::Operation* parent = block->getParentOp();
    if (!parent || llvm::isa<ProgramOp>(parent)) return {};
    block = parent->getBlock();
  }
  return {};
}

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

bool declare(mlir::Block* block, llvm::StringRef name, mlir::Type type) {
  if (DeclOp existing = resolve(block, name)) return existing.getValueType() == type;
  mlir::OpBuilder builder = mlir::OpBuilder::atBlockBegin(block);
  for (mlir::Operation& op : *block) {
    if (!llvm::isa<DeclOp>(op)) break;
    builder.setInsertionPointAfter(&op);
  }
  mlir::IntegerAttr dtype, lod;
  mlir::DenseI64ArrayAttr dims;
  if (mlir::RankedTensorType tensor = tensorOf(type)) {
    if (std::optional<DType> code = dtypeOf(tensor.getElementType())) dtype = builder.getI32IntegerAttr(static_cast<int32_t>(*code));
    dims = builder.getDenseI64ArrayAttr(dimsOf(tensor));
  }
  if (auto lodType = llvm::dyn_cast<LodType>(type)) lod = builder.getI32IntegerAttr(lodType.getLevels());
  DeclOp::create(builder, builder.getUnknownLoc(), builder.getStringAttr(name), builder.getI32IntegerAttr(kindOf(type)), dtype, dims, lod,
                 mlir::BoolAttr(), mlir::BoolAttr(), mlir::BoolAttr(), mlir::BoolAttr(), mlir::StringAttr());
  return true;
}

std::string freshName(mlir::Block* block, llvm::StringRef stem) {
  mlir::Operation* table = mlir::SymbolTable::getNearestSymbolTable(block->getParentOp());
  auto taken = [&](llvm::StringRef name) {
    return resolve(block, name) || (table && mlir::SymbolTable::lookupSymbolIn(table, name));
  };
  std::string name = stem.str();
  for (int k = 0; taken(name); ++k) name = (stem + "_" + llvm::Twine(k)).str();
  return name;
}

}  // namespace dtranspile::pd
