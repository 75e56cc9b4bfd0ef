// An op that owns one block (while, conditional_block, recurrent and their gradients), as their
// lowerings look at it: names of variables to arguments and last values of the region
// (docs/dialects/pd.md, "Block ops").
#pragma once

#include <string>
#include <vector>

#include "dialects/pd/op_view.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile::lower {

class BlockOp {
 public:
  explicit BlockOp(pd::OpView op);

  const pd::OpView& op() const { return op_; }
  mlir::Operation* operation() const { return op_.operation(); }

  // A diagnostic where the op has not exactly one block, or its captures have no values.
  llvm::LogicalResult check() const;
  llvm::LogicalResult unsupported(const llvm::Twine& what) const;

  mlir::Block& block() const { return op_.operation()->getRegion(0).front(); }
  // One of the four lists captures, locals, written, saved.
  const std::vector<std::string>& names(llvm::StringRef list) const;
  bool isWritten(llvm::StringRef name) const { return written_.contains(name); }
  mlir::Value captured(size_t index) const {
    return op_.input("$capture", static_cast<unsigned>(index));
  }
  // Of the region: its argument of that name, and the last value of that name; null where there is
  // none.
  mlir::Value argument(llvm::StringRef name) const { return arguments_.lookup(name); }
  mlir::Value inside(llvm::StringRef name) const;
  // The gradient of a forward argument as the block calls it: by the forward name, else as the op's
  // result is called.
  mlir::Value gradientInside(mlir::Value forward, llvm::StringRef result) const;

 private:
  pd::OpView op_;
  llvm::StringSet<> written_;
  llvm::StringMap<std::vector<std::string>> names_;
  llvm::StringMap<mlir::Value> arguments_, inside_;
};

}  // namespace dtranspile::lower
