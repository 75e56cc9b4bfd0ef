// How #pd.slot is kept: its arguments, and which of them are holes. Computed once per different
// slot of a program, so that whoever asks for one argument of many does not count those before it.
#pragma once

#include "dialects/pd/pd.h"
#include "mlir/IR/AttributeSupport.h"

namespace dtranspile::pd::detail {

struct SlotAttrStorage : mlir::AttributeStorage {
  using KeyTy = std::pair<mlir::StringAttr, llvm::ArrayRef<mlir::StringAttr>>;

  SlotAttrStorage(mlir::StringAttr name, llvm::ArrayRef<mlir::StringAttr> args,
                  llvm::ArrayRef<unsigned> holes)
      : name(name), args(args), holes(holes) {}

  KeyTy getAsKey() const { return {name, args}; }
  bool operator==(const KeyTy& key) const { return key == getAsKey(); }
  static llvm::hash_code hashKey(const KeyTy& key) {
    return llvm::hash_combine(key.first, key.second);
  }
  static SlotAttrStorage* construct(mlir::AttributeStorageAllocator& allocator, const KeyTy& key) {
    llvm::SmallVector<unsigned> holes;
    for (auto [index, argument] : llvm::enumerate(key.second))
      if (argument.getValue() == kEmptyArgument) holes.push_back(static_cast<unsigned>(index));
    return new (allocator.allocate<SlotAttrStorage>()) SlotAttrStorage(
        key.first, allocator.copyInto(key.second), allocator.copyInto(llvm::ArrayRef(holes)));
  }

  mlir::StringAttr name;
  llvm::ArrayRef<mlir::StringAttr> args;
  llvm::ArrayRef<unsigned> holes;  // positions of @EMPTY@, ascending
};

}  // namespace dtranspile::pd::detail
