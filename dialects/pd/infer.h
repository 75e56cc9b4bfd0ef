// Shape and type inference: what a row's infer function sees. Called by the lowering with concrete
// extents and by the verifier with declared ones; -1 is an extent not known. An infer function
// reads inputs and attributes, and sets every output that is present.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "dialects/pd/op_view.h"
#include "llvm/ADT/SmallVector.h"
#include "runtime/base/dtype.h"

namespace dtranspile::pd {

// What kind of thing a variable is, with the codes of VarType.Type.
enum class Kind : int {
  Tensor = 7,
  SelectedRows = 8,
  FeedMinibatch = 9,
  FetchList = 10,
  StepScopes = 11,
  RankTable = 12,
  TensorArray = 13,
  Reader = 15,
  Raw = 17,
  Other = -1
};

struct TensorInfo {
  Kind kind = Kind::Tensor;
  DType dtype = DType::kFloat32;
  llvm::SmallVector<int64_t, 4>
      dims;  // -1: not known; of SelectedRows: of the dense tensor it stands for
  int lodLevel = 0;
  bool rankKnown = true;

  int64_t rank() const { return static_cast<int64_t>(dims.size()); }
  bool isStatic() const;
  int64_t elements() const;  // -1 if not known
};

// What the declared type of a value says.
TensorInfo declaredInfo(mlir::Type type);

class InferContext {
 public:
  virtual ~InferContext() = default;
  virtual const OpView& op() const = 0;

  // Info of argument `index` of an input slot; null where absent. `count` is the number of
  // arguments.
  virtual const TensorInfo* in(llvm::StringRef slot, unsigned index = 0) const = 0;
  virtual unsigned inCount(llvm::StringRef slot) const = 0;
  virtual unsigned outCount(llvm::StringRef slot) const = 0;

  // The value of an input where it is known while compiling (a constant shape tensor); nothing
  // otherwise.
  virtual std::optional<llvm::SmallVector<int64_t>> constant(llvm::StringRef slot,
                                                             unsigned index = 0) const {
    return std::nullopt;
  }

  // Ignored when that output is absent.
  virtual void out(llvm::StringRef slot, unsigned index, TensorInfo info) = 0;
  void out(llvm::StringRef slot, TensorInfo info) { out(slot, 0, std::move(info)); }

  // Program version (2006002 …): scalars are [1] before 2.5 and [] from then on.
  virtual int64_t programVersion() const = 0;

  // Reports and returns failure.
  virtual llvm::LogicalResult fail(const llvm::Twine& message) = 0;
};

}  // namespace dtranspile::pd
