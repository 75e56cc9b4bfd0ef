// Equal work shall have equal text, so that kernels of a model are compiled once (the cache goes by
// text). Two rewrites make it so: a dim of extent one is taken out, and two neighbouring dims that
// every operand walks as one contiguous run (the outer stride is the inner one times its extent)
// become one. Neither changes the order in which elements are visited. Dims are kept apart where
// somebody asks for the position in one, where only one of them is a loop of a stage, and at the
// borders of rows, inner dims and the lane.
#include "compiler/lower/kernel/kernel.h"

#include <algorithm>
#include <set>

#include "compiler/lower/kernel/extents.h"

namespace dtranspile::lower {
namespace {

// True if some expression or loop list speaks of the position in `dim`.
bool usesPosition(const Kernel& kernel, int dim) {
  for (size_t i = 0; i < kernel.exprs.size(); ++i) {
    const Expr& e = kernel.exprs[static_cast<ExprId>(i)];
    if (e.op == Op::Index && e.index == dim) return true;
  }
  return false;
}

// The stages that loop over one of the dims loop over both, next to each other.
bool stagesAgree(const Kernel& kernel, int dim) {
  for (const Stage& stage : kernel.stages) {
    auto first = std::find(stage.loops.begin(), stage.loops.end(), dim);
    auto second = std::find(stage.loops.begin(), stage.loops.end(), dim + 1);
    if ((first == stage.loops.end()) != (second == stage.loops.end())) return false;
    if (first != stage.loops.end() && first + 1 != second) return false;
  }
  return true;
}

// dim and dim+1 can be one: same kind, and every operand walks them as one contiguous run.
bool mergeable(const Kernel& kernel, int dim) {
  if (dim + 1 == kernel.inner || dim + 1 == kernel.lane || dim == kernel.lane) return false;
  if (usesPosition(kernel, dim) || usesPosition(kernel, dim + 1) || !stagesAgree(kernel, dim))
    return false;
  return std::all_of(kernel.operands.begin(), kernel.operands.end(), [&](const Operand& operand) {
    return operand.strides[dim] == operand.strides[dim + 1] * kernel.dims[dim + 1];
  });
}

// Takes `dim` out; positions in it become 0.
void removeDim(Kernel& kernel, int dim) {
  kernel.dims.erase(kernel.dims.begin() + dim);
  for (Operand& operand : kernel.operands) operand.strides.erase(operand.strides.begin() + dim);
  if (dim < kernel.inner) --kernel.inner;
  if (dim < kernel.lane) --kernel.lane;
  for (Stage& stage : kernel.stages) {
    std::erase(stage.loops, dim);
    for (int& loop : stage.loops) loop -= loop > dim;
  }
  ExprPool pool;
  std::map<ExprId, ExprId> done;
  auto leaf = [&](const Expr& e) {
    if (e.op == Op::Load) return pool.load(e.index, e.type);
    if (e.op == Op::Result) return pool.result(e.index, e.type);
    return e.index == dim ? pool.constant(0, Scalar::I64)
                          : pool.position(e.index - (e.index > dim));
  };
  for (Reduction& r : kernel.reductions) r.value = kernel.exprs.copyTo(pool, r.value, done, leaf);
  for (Stage& stage : kernel.stages) {
    for (Store& store : stage.stores)
      store.value = kernel.exprs.copyTo(pool, store.value, done, leaf);
  }
  kernel.exprs = std::move(pool);
}

void merge(Kernel& kernel, int dim) {
  kernel.dims[dim + 1] *= kernel.dims[dim];
  removeDim(kernel, dim);
}

}  // namespace

int64_t Kernel::elements() const {
  int64_t count = 1;
  for (int64_t extent : dims) count *= extent;
  return count;
}

// An empty domain stores nothing, but a reduction over no elements still stores its start (the sum
// of nothing is 0).
bool Kernel::storesNothing() const {
  const bool reduces = std::any_of(stages.begin(), stages.end(),
                                   [](const Stage& stage) { return !stage.reductions.empty(); });
  if (!reduces) return elements() == 0;
  for (int d = 0; d < static_cast<int>(dims.size()); ++d) {
    if (dims[d] == 0 && (d < inner || d == lane)) return true;
  }
  return false;
}

bool Kernel::mayFault(const Expr& e) const {
  if (!divides(e.op) || isFloat(e.type)) return false;
  const Expr& divisor = exprs[e.b];
  return divisor.op != Op::Const || divisor.value == 0 || divisor.value == -1;
}

bool Kernel::mayFault() const {
  for (size_t i = 0; i < exprs.size(); ++i) {
    if (mayFault(exprs[static_cast<ExprId>(i)])) return true;
  }
  return false;
}

bool Kernel::unknown(int64_t number) const { return dynamic && isSymbolic(number); }

// The tokens for extents that a step decides, in one order: these are parameters of the kernel. Dim
// 0 is not among them, since the caller gives the range of rows.
std::vector<int64_t> Kernel::unknownNumbers() const {
  std::set<int64_t> numbers;
  auto add = [&](int64_t number) {
    if (unknown(number)) numbers.insert(number);
  };
  for (size_t dim = 1; dim < dims.size(); ++dim) add(dims[dim]);
  for (const Operand& operand : operands) {
    for (int64_t stride : operand.strides) add(stride);
  }
  for (size_t i = 0; i < exprs.size(); ++i) {
    const Expr& e = exprs[static_cast<ExprId>(i)];
    if (e.op == Op::Extent) add(static_cast<int64_t>(e.value));
  }
  return {numbers.begin(), numbers.end()};
}

void canonicalize(Kernel& kernel) {
  for (int dim = static_cast<int>(kernel.dims.size()) - 1; dim >= 0; --dim) {
    const bool onlyRow = dim < kernel.inner && kernel.inner == 1;
    if (kernel.dims[dim] == 1 && dim != kernel.lane && !onlyRow) removeDim(kernel, dim);
  }
  for (int dim = static_cast<int>(kernel.dims.size()) - 2; dim >= 0; --dim) {
    if (mergeable(kernel, dim)) merge(kernel, dim);
  }
}

int64_t grainOf(const Kernel& kernel) {
  const int64_t perRow =
      std::max<int64_t>(1, kernel.elements() / std::max<int64_t>(1, kernel.rows()));
  return std::max<int64_t>(1, 16384 / perRow);
}

}  // namespace dtranspile::lower
