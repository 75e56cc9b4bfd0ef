#include "dialects/pd/types.h"

#include "dialects/pd/pd.h"

namespace dtranspile::pd {
namespace {

struct KindRow {
  int kind;
  llvm::StringLiteral name;
  llvm::StringLiteral mnemonic;
};

// VarType.Type of framework.proto: number, name there, word in our types.
constexpr KindRow kKinds[] = {
    {7, "LOD_TENSOR", "tensor"},
    {8, "SELECTED_ROWS", "rows"},
    {9, "FEED_MINIBATCH", "feeds"},
    {10, "FETCH_LIST", "fetches"},
    {11, "STEP_SCOPES", "tape"},
    {12, "LOD_RANK_TABLE", "rank_table"},
    {13, "LOD_TENSOR_ARRAY", "array"},
    {14, "PLACE_LIST", "places"},
    {15, "READER", "reader"},
    {16, "FETCH_VAR_LIST", "fetch_vars"},
    {17, "RAW", "raw"},
    {18, "TUPLE", "tuple"},
    {25, "STRING", "string"},
    {26, "STRINGS", "strings"},
    {27, "VOCAB", "vocab"},
    {28, "FEED_LIST", "feed_list"},
    {30, "SPARSE_COO", "sparse_coo"},
    {31, "SPARSE_CSR", "sparse_csr"},
};

const KindRow* findKind(int kind) {
  for (const KindRow& row : kKinds)
    if (row.kind == kind) return &row;
  return nullptr;
}

}  // namespace

mlir::Type elementType(mlir::MLIRContext* context, DType dtype) {
  using mlir::IntegerType;
  switch (dtype) {
    case DType::kBool: return IntegerType::get(context, 1);
    case DType::kInt8: return IntegerType::get(context, 8);
    case DType::kInt16: return IntegerType::get(context, 16);
    case DType::kInt32: return IntegerType::get(context, 32);
    case DType::kInt64: return IntegerType::get(context, 64);
    case DType::kUInt8: return IntegerType::get(context, 8, IntegerType::Unsigned);
    case DType::kUInt32: return IntegerType::get(context, 32, IntegerType::Unsigned);
    case DType::kUInt64: return IntegerType::get(context, 64, IntegerType::Unsigned);
    case DType::kSizeT: return mlir::IndexType::get(context);
    case DType::kFloat16: return mlir::Float16Type::get(context);
    case DType::kBFloat16: return mlir::BFloat16Type::get(context);
    case DType::kFloat32: return mlir::Float32Type::get(context);
    case DType::kFloat64: return mlir::Float64Type::get(context);
    case DType::kComplex64: return mlir::ComplexType::get(mlir::Float32Type::get(context));
    case DType::kComplex128: return mlir::ComplexType::get(mlir::Float64Type::get(context));
  }
  return {};
}

std::optional<DType> dtypeOf(mlir::Type type) {
  constexpr DType kAll[] = {DType::kBool,    DType::kInt8,      DType::kInt16,     DType::kInt32,
                            DType::kInt64,   DType::kUInt8,     DType::kUInt32,    DType::kUInt64,
                            DType::kSizeT,   DType::kFloat16,   DType::kBFloat16,  DType::kFloat32,
                            DType::kFloat64, DType::kComplex64, DType::kComplex128};
  for (DType dtype : kAll)
    if (elementType(type.getContext(), dtype) == type) return dtype;
  return std::nullopt;
}

mlir::RankedTensorType tensorType(mlir::MLIRContext* context, DType dtype,
                                  llvm::ArrayRef<int64_t> dims) {
  llvm::SmallVector<int64_t> shape;
  for (int64_t dim : dims) shape.push_back(dim < 0 ? mlir::ShapedType::kDynamic : dim);
  return mlir::RankedTensorType::get(shape, elementType(context, dtype));
}

llvm::StringRef kindName(int kind) {
  const KindRow* row = findKind(kind);
  return row ? llvm::StringRef(row->name) : "UNKNOWN";
}

llvm::StringRef kindMnemonic(int kind) {
  const KindRow* row = findKind(kind);
  return row ? llvm::StringRef(row->mnemonic) : "";
}

std::optional<int> kindFromMnemonic(llvm::StringRef text) {
  for (const KindRow& row : kKinds)
    if (row.mnemonic == text) return row.kind;
  return std::nullopt;
}

// The type of a value of a declared variable. What we know no structure of (readers, places …), and
// tensors of unknown element types, are raw: they can be passed on and not looked into.
mlir::Type valueType(mlir::MLIRContext* context, int kind, std::optional<int> dtype,
                     llvm::ArrayRef<int64_t> dims, int lodLevel) {
  if (kind == 11) return TapeType::get(context);
  std::optional<DType> element = dtype ? DTypeFromCode(*dtype) : std::nullopt;
  mlir::RankedTensorType tensor =
      element ? tensorType(context, *element, dims) : mlir::RankedTensorType();
  if (tensor) {
    unsigned levels = lodLevel > 0 ? lodLevel : 0;
    if (kind == 7) return levels ? mlir::Type(LodType::get(context, tensor, levels)) : tensor;
    if (kind == 8) return RowsType::get(context, tensor);
    if (kind == 13) return ArrayType::get(context, tensor, levels);
  }
  return RawType::get(context, kindName(kind));
}

// The tensor inside of any type that has one: of rows the whole tensor that they are rows of, of an
// array its items.
mlir::RankedTensorType tensorOf(mlir::Type type) {
  if (auto lod = llvm::dyn_cast<LodType>(type)) type = lod.getTensor();
  else if (auto rows = llvm::dyn_cast<RowsType>(type)) type = rows.getTensor();
  else if (auto array = llvm::dyn_cast<ArrayType>(type)) type = array.getTensor();
  return llvm::dyn_cast<mlir::RankedTensorType>(type);
}

llvm::SmallVector<int64_t> dimsOf(mlir::RankedTensorType type) {
  llvm::SmallVector<int64_t> dims;
  for (int64_t dim : type.getShape()) dims.push_back(mlir::ShapedType::isDynamic(dim) ? -1 : dim);
  return dims;
}

}  // namespace dtranspile::pd
