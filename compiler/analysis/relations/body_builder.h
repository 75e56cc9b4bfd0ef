// What composes the bodies of composites that work on parts of what their op takes. Values inside
// are the composite's arguments. Not for users outside of this folder.
#pragma once

#include "compiler/analysis/relations/part_bodies.h"
#include "dialects/dist/dist.h"
#include "dialects/pd/declarations.h"

namespace dtranspile::verify {

class BodyBuilder {
 public:
  // Of a composite that has operands, types of results and attributes, and no block.
  BodyBuilder(dist::CompositeOp composite, const Parts& parts, pd::Declarations& declarations);

  // Ends the block with what was given. A slot that nobody has given is undefined.
  void finish();
  void give(llvm::StringRef slot, mlir::Value value) { outputs_[slot] = value; }

  const Parts& parts() const { return parts_; }
  mlir::Value in(llvm::StringRef slot) { return inputs_.lookup(slot); }  // null where absent
  mlir::Type typeOf(llvm::StringRef result);
  int64_t integer(llvm::StringRef attribute, int64_t otherwise);

  mlir::NamedAttribute named(llvm::StringRef name, mlir::Attribute value) {
    return builder_.getNamedAttr(name, value);
  }
  mlir::OpBuilder& builder() { return builder_; }
  mlir::IntegerAttr i32(int64_t value) {
    return builder_.getI32IntegerAttr(static_cast<int32_t>(value));
  }
  mlir::FloatAttr f32(double value) { return builder_.getF32FloatAttr(static_cast<float>(value)); }
  mlir::Value op(llvm::StringRef type, llvm::ArrayRef<pd::InputSlot> inputs, mlir::Type result,
                 llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                 llvm::StringRef slot = "Out");
  mlir::Value unary(llvm::StringRef type, mlir::Value x) {
    return op(type, {{"X", {x}}}, x.getType());
  }
  // Of the type of x; y may be one number, or one per row.
  mlir::Value binary(llvm::StringRef type, mlir::Value x, mlir::Value y) {
    return op(type, {{"X", {x}}, {"Y", {y}}}, x.getType(), {named("axis", i32(-1))});
  }
  mlir::Value compare(llvm::StringRef type, mlir::Value x, mlir::Value y);
  mlir::Value cast(mlir::Value x, mlir::Type element);
  mlir::Value constant(int64_t value);  // one number, int64
  mlir::Value coordinate();             // of this rank
  mlir::ResultRange overRanks(dist::Reduce reduce, mlir::ValueRange values);

 private:
  dist::CompositeOp composite_;
  const Parts& parts_;
  pd::Declarations& declarations_;
  mlir::OpBuilder builder_;
  llvm::StringMap<mlir::Value> inputs_, outputs_;
  int role_ = 0, count_ = 0;
};

// vocabulary_body.cc
void fillVocabulary(BodyBuilder& body, const PartForm& form);

}  // namespace dtranspile::verify
