// What the translations of one rank's programs make operators with. Not for users outside of this
// folder.
#pragma once

#include <string>
#include <vector>

#include "compiler/export/collective/rings.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/pd.h"
#include "llvm/ADT/ArrayRef.h"
#include "runtime/base/dtype.h"

namespace dtranspile {

// Operators are made at the builder's place, which is that of the op being translated.
class Emitter {
 public:
  using Attributes = std::vector<mlir::NamedAttribute>;

  Emitter(mlir::MLIRContext* context, dist::MeshOp mesh, int64_t rank, llvm::ArrayRef<Ring> rings)
      : builder_(context), mesh_(mesh), rank_(rank), rings_(rings) {}

  mlir::OpBuilder& builder() { return builder_; }
  pd::Declarations& declarations() { return declarations_; }
  dist::MeshOp mesh() const { return mesh_; }
  int64_t rank() const { return rank_; }
  llvm::ArrayRef<Ring> rings() const { return rings_; }
  // -1: a group of one has no ring.
  int ringOf(mlir::Operation* op) const;

  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }
  mlir::NamedAttribute named(llvm::StringRef name, int64_t value) {
    return named(name, builder_.getI32IntegerAttr(static_cast<int32_t>(value)));
  }
  mlir::NamedAttribute flag(llvm::StringRef name, bool value) {
    return named(name, builder_.getBoolAttr(value));
  }
  // A name that nothing in the block has.
  std::string freshName(llvm::StringRef wanted) {
    return declarations_.freshName(builder_.getInsertionBlock(), wanted.str());
  }

  // An op with one result, `out` of this name and type.
  mlir::Value create(mlir::Location loc, llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs,
                     const std::string& name, mlir::Type result, const Attributes& attributes,
                     int role);
  // One value in, the same name out; but a variable keeps what it holds: what is made of it and
  // does not go back to it gets a name of its own (`keeps`).
  mlir::Value inPlace(mlir::Location loc, llvm::StringRef type, mlir::Value value,
                      const Attributes& attributes, int role, bool keeps = false);
  // What the stream of communication of a ring has done so far is waited for.
  mlir::Value syncRing(mlir::Location loc, mlir::Value value, int ring, int role);
  // One number in every element.
  mlir::Value filled(mlir::Location loc, const std::string& name, mlir::Type type,
                     llvm::ArrayRef<int64_t> shape, DType dtype, float value);

 private:
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  dist::MeshOp mesh_;
  int64_t rank_;
  llvm::ArrayRef<Ring> rings_;
};

// The role of an inserted op: that of the op that made the value, without the Loss bit.
int roleOf(mlir::Value value);

// Erased at the end of its turn; a start's wait comes later in the block and is erased then.
mlir::LogicalResult drop(mlir::Operation* op);

}  // namespace dtranspile
