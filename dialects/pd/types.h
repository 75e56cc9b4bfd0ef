// Between the framework's type codes and MLIR types.
#pragma once

#include <optional>

#include "mlir/IR/BuiltinTypes.h"
#include "runtime/base/dtype.h"

namespace dtranspile::pd {

// Element type of a dtype: BOOL i1, UINT8 ui8, SIZE_T index, other integers signless.
mlir::Type elementType(mlir::MLIRContext* context, DType dtype);

// The inverse; nothing for types that no dtype has.
std::optional<DType> dtypeOf(mlir::Type elementType);

// Ranked tensor with -1 as `?`; so is every negative extent (the framework's inference multiplies
// unknown ones: -128).
mlir::RankedTensorType tensorType(mlir::MLIRContext* context, DType dtype,
                                  llvm::ArrayRef<int64_t> dims);

// Codes of variable kinds and their names ("LOD_TENSOR" …) and short forms as printed by pd.decl
// ("tensor" …).
llvm::StringRef kindName(int kind);
llvm::StringRef kindMnemonic(int kind);  // empty for an unknown code
std::optional<int> kindFromMnemonic(llvm::StringRef text);

// The value type of a variable of `kind` with description (dtype, dims, lod level); raw<"…"> where
// there is no description.
mlir::Type valueType(mlir::MLIRContext* context, int kind, std::optional<int> dtype,
                     llvm::ArrayRef<int64_t> dims, int lodLevel);

// The tensor type inside tensor, lod, rows or array types; null for others.
mlir::RankedTensorType tensorOf(mlir::Type type);

// -1 for `?`.
llvm::SmallVector<int64_t> dimsOf(mlir::RankedTensorType type);

}  // namespace dtranspile::pd
