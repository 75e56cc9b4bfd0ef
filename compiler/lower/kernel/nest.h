// A loop nest to be, over the domain of a formula, and the kernel it becomes.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compiler/lower/kernel/formula.h"

namespace dtranspile::lower {

using Dims = std::vector<int64_t>;

// A tensor as one place of the formula reads or writes it.
struct Ref {
  TensorRef tensor;
  Dims strides;  // over the domain
};

// A store: one value per element or, with `perRow`, one per row. Level n runs after the reductions
// of level n - 1.
struct Assignment {
  int ref;
  ExprId value;
  int level;
  bool perRow;
};

struct PendingReduction {
  Combine how;
  ExprId value;
  int level;
};

struct Nest {
  std::vector<bool> inner;  // per dim of the domain: reduced in a row
  std::vector<PendingReduction> reductions;
  std::vector<Assignment> stores;
};

// The kernel of `nest`: the order of its dims, its lane, and its stages, level by level.
// Expressions are those of `source`, whose loads and stores are numbers in `refs`. `dynamic`:
// extents may be symbols (extents.h).
BoundKernel buildNest(std::string_view hint, const Dims& domain, const ExprPool& source,
                      const std::vector<Ref>& refs, const Nest& nest, bool dynamic);

}  // namespace dtranspile::lower
