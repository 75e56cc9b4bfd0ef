// A kernel before it is MLIR: a loop nest over rows with stages of reductions and stores in it.
// formula.h makes kernels from the formulas of the rule tables, fuse.h joins them, emit.h prints
// them, plan.h calls them.
//
//   for row in [lo, n):                      dim 0, the extent that the runtime cuts among threads
//     for the other enclosing dims:          dims [1, inner)
//       stage 0: for its loops (dims >= inner): reductions; stores
//       stage 1: ...
//
// An element-wise kernel has one stage without loops. Where the innermost dim in memory is a kept
// one (a column sum, a norm over the channel of NHWC), it becomes the `lane`: the innermost loop of
// every stage, with one accumulator per lane.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/lower/kernel/expr.h"

namespace dtranspile::lower {

struct Operand {
  DType dtype = DType::kFloat32;
  bool reads = false, writes = false;
  int64_t offset = 0;                 // elements
  std::vector<int64_t> strides = {};  // elements, one per dim of the kernel; 0: broadcast along it

  bool operator==(const Operand&) const = default;
};

enum class Combine : uint8_t { Sum, Prod, Max, Min, All, Any };

struct Reduction {
  Combine how;
  Scalar type;
  ExprId value;
};

struct Store {
  int operand;
  ExprId value;
};

struct Stage {
  std::vector<int> loops;       // dims, outermost first
  std::vector<int> reductions;  // indices of Kernel::reductions computed here
  std::vector<Store> stores;  // in the loops, or once per enclosing position when `loops` is empty
};

struct Kernel {
  std::string hint;  // op type, for the name
  std::vector<int64_t> dims;
  int inner = 0;      // dims [0, inner) enclose all stages
  int lane = -1;      // dim that is the innermost loop of every stage, or -1
  int64_t needs = 1;  // extent (a product) that may not be 0 where there are rows: means, maxima,
                      // minima of nothing have no value
  bool dynamic = false;  // extents and strides may be products of tokens (extents.h)
  std::vector<Operand> operands;
  ExprPool exprs;
  std::vector<Reduction> reductions;
  std::vector<Stage> stages;

  bool elementwise() const {
    return reductions.empty() && inner == static_cast<int>(dims.size()) && lane < 0;
  }
  int64_t rows() const { return dims.empty() ? 1 : dims[0]; }
  int64_t elements() const;
  // Some extent is 0: of what is kept, or of an element-wise kernel. A sum of nothing is stored.
  bool storesNothing() const;

  // Whether an operation is one of the integer divisions, and whether one stands here whose divisor
  // may be 0 or -1. Such kernels take a fault cell after their arguments (abi.h).
  static bool divides(Op op) { return op == Op::Div || op == Op::Rem || op == Op::FloorDiv; }
  bool mayFault(const Expr& e) const;
  bool mayFault() const;

  // Whether an extent, a stride or a count is known at run time only.
  bool unknown(int64_t number) const;
  // Those that the compiled kernel reads, in the order of its table of extents: bounds of loops but
  // the rows, strides, counts. Ascending.
  std::vector<int64_t> unknownNumbers() const;
};

// Brings a kernel into its shortest form: extents of one dropped, neighbouring dims that every
// operand walks contiguously made one, so that equal work has equal text whatever the shapes were
// called. Keeps at least dim 0.
void canonicalize(Kernel& kernel);

// Rows below which cutting does not pay (about 16 K elements).
int64_t grainOf(const Kernel& kernel);

}  // namespace dtranspile::lower
