// What declared types say of an op's operands: for constraints, and inference run on declared types
// alone, which is what the verifier may rely on before anything is concrete.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "dialects/pd/op_view.h"
#include "dialects/pd/ops/infer_common.h"

namespace dtranspile::pd {

// Extents of a tensor operand (of SelectedRows: of the tensor it stands for; of an array: of its
// elements), -1 for unknown ones; nothing where the argument is absent or of another kind. A
// declared 0 is an extent that the framework did not infer: unknown.
std::optional<Dims> declaredDims(const OpView& op, llvm::StringRef slot, unsigned index = 0);

// True where the file describes no tensor of known rank: variables of gradient blocks that come
// from the tape, kinds without extents.
bool isUndescribed(mlir::Value value);

// Serves inference with declared types. Constants are those of `fill_constant`.
class DeclaredContext : public InferContext {
 public:
  explicit DeclaredContext(OpView op);

  const OpView& op() const override { return op_; }
  unsigned inCount(llvm::StringRef slot) const override { return op_.inputCount(slot); }
  unsigned outCount(llvm::StringRef slot) const override { return op_.outputCount(slot); }
  int64_t programVersion() const override { return version_; }
  const TensorInfo* in(llvm::StringRef slot, unsigned index) const override;
  std::optional<llvm::SmallVector<int64_t>> constant(llvm::StringRef slot,
                                                     unsigned index) const override;
  using InferContext::out;
  void out(llvm::StringRef slot, unsigned index, TensorInfo info) override {
    results[{slot.str(), index}] = std::move(info);
  }
  llvm::LogicalResult fail(const llvm::Twine& text) override;

  std::map<std::pair<std::string, unsigned>, TensorInfo> results;
  std::string message;  // after a failure

 private:
  OpView op_;
  int64_t version_;
  mutable std::map<std::pair<std::string, unsigned>, TensorInfo> infos_;
};

// True where kind, dtype and all extents known to both are the same.
bool compatible(const TensorInfo& a, const TensorInfo& b);

// Runs the row's inference on what is declared; fails, saying why, where no operand of the declared
// types would do. Silent where an operand is undescribed, or declared otherwise than the op that
// makes it computes: a variable that is written twice with different extents has one declaration.
llvm::LogicalResult inferDeclared(const OpView& op, std::string& why);

}  // namespace dtranspile::pd
