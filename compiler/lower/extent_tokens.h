// Unknown extents of the tensors of one op, for a formula: which of them are the same extent, and
// what stands for each (kernel/extents.h). Two unknown extents at the same place of the domain are
// taken to be equal, and one beside a known extent to be that: the runtime checks it before the
// kernel runs (runtime/exec/executor.cc). A tensor of rows (`Out[r]`) that lacks the dims that are
// reduced has its dims at the places of the others.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "compiler/lower/kernel/formula.h"

namespace dtranspile::lower {

class ExtentTokens {
 public:
  void add(const std::optional<TensorRef>& tensor, bool rows = false);
  // False, with a reason, where it cannot be said which extents are which. `inner`: the dims that
  // are reduced.
  bool assign(const InnerDims& inner, std::string& error);

  bool any() const { return any_; }
  std::optional<TensorRef> resolve(std::optional<TensorRef> tensor) const;
  // The extents of a buffer as `resolve` gave them; tokens are numbers (tokenNumber).
  std::vector<int64_t> shapeOf(int buffer) const;

 private:
  std::vector<int64_t> resolved(const TensorRef& tensor) const;
  size_t placeOf(const TensorRef& tensor, size_t dim) const;
  std::vector<TensorRef> tensors_;
  std::vector<int> rows_;        // buffers of tensors of rows
  std::vector<size_t> outer_;    // dims of the domain that are not reduced
  std::vector<int64_t> domain_;  // the reference: -1 replaced by a token or a known extent
  std::vector<size_t> unknown_;  // its dims that were -1
  bool any_ = false;
};

}  // namespace dtranspile::lower
