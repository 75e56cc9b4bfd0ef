// Types and extents of values as inference finds them from the feeds on, and inference that reads
// and writes them.
#pragma once

#include "dialects/pd/infer.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/DenseMap.h"

namespace dtranspile::lower {

class ValueInfos {
 public:
  pd::TensorInfo& operator[](mlir::Value value) { return infos_[value]; }
  const pd::TensorInfo* find(mlir::Value value) const;  // null where nobody has said
  void erase(mlir::Value value) { infos_.erase(value); }

 private:
  llvm::DenseMap<mlir::Value, pd::TensorInfo> infos_;
};

// Serves the inference of one op.
class InferAdapter : public pd::InferContext {
 public:
  // `quiet`: failures are not said.
  InferAdapter(ValueInfos& infos, pd::OpView op, int64_t version, bool quiet = false)
      : infos_(infos), op_(op), version_(version), quiet_(quiet) {}

  const pd::OpView& op() const override { return op_; }
  const pd::TensorInfo* in(llvm::StringRef slot, unsigned index) const override;
  using pd::InferContext::out;
  unsigned inCount(llvm::StringRef slot) const override { return op_.inputCount(slot); }
  unsigned outCount(llvm::StringRef slot) const override { return op_.outputCount(slot); }
  void out(llvm::StringRef slot, unsigned index, pd::TensorInfo info) override;
  std::optional<llvm::SmallVector<int64_t>> constant(llvm::StringRef slot,
                                                     unsigned index) const override;
  int64_t programVersion() const override { return version_; }
  llvm::LogicalResult fail(const llvm::Twine& message) override;

 private:
  ValueInfos& infos_;
  pd::OpView op_;
  int64_t version_;
  bool quiet_;
};

}  // namespace dtranspile::lower
