// Scalar expressions of kernels: what one element of an output is, as a function of elements of the
// inputs. Nodes are hashed, so that equal sub-expressions are one node, and folded where they are
// constant. formula.h builds them from the text of a rule, fuse.h moves them between kernels,
// emit.h prints them as MLIR.
#pragma once

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "runtime/base/dtype.h"

namespace dtranspile::lower {

// What expressions compute in. Elements narrower than these are widened on load (bool to I1; int8,
// uint8, int16 to I32; float16, bfloat16 to F32). Weak is the type of numbers and attributes: it
// gives way to whatever it meets.
enum class Scalar : uint8_t { Weak, I1, I32, I64, F32, F64 };

Scalar scalarOf(DType type);
const char* mlirName(Scalar type);
bool isFloat(Scalar type);

enum class Op : uint8_t {
  Const,   // `value`
  Extent,  // `value`, a product of extents known only at run time (extents.h), I64
  Load,    // element of operand `index` at the current position
  Result,  // `index`: result of a reduction of an earlier stage
  Index,   // position in dimension `index`, I64
  Add,
  Sub,
  Mul,
  Div,
  Rem,
  Min,
  Max,
  Pow,
  Atan2,
  FloorDiv,
  Neg,
  Abs,
  Exp,
  Log,
  Log2,
  Log10,
  Log1p,
  Expm1,
  Sqrt,
  Tanh,
  Erf,
  Sin,
  Cos,
  Tan,
  Asin,
  Acos,
  Atan,
  Sinh,
  Cosh,
  Asinh,
  Acosh,
  Atanh,
  Floor,
  Ceil,
  Round,
  Trunc,
  Eq,
  Ne,
  Lt,
  Le,
  Gt,
  Ge,
  And,
  Or,
  Not,
  Select,  // a ? b : c
  Cast,    // to `type`
};

using ExprId = int32_t;

struct Expr {
  Op op;
  Scalar type;
  ExprId a = -1, b = -1, c = -1;
  int32_t index = 0;
  double value = 0;
};

class ExprPool {
 public:
  const Expr& operator[](ExprId id) const { return nodes_[id]; }
  size_t size() const { return nodes_.size(); }

  ExprId constant(double value, Scalar type = Scalar::Weak);
  // A count of elements: a constant unless a token is in it.
  ExprId count(int64_t number, Scalar type = Scalar::Weak);
  ExprId load(int operand, Scalar type);
  ExprId result(int reduction, Scalar type);
  ExprId position(int dim);
  ExprId unary(Op op, ExprId a);
  ExprId binary(Op op, ExprId a, ExprId b);
  ExprId select(ExprId condition, ExprId yes, ExprId no);
  ExprId cast(ExprId a, Scalar type);

  // The same expression in `target`, its leaves mapped by `leaf` (which returns an id of `target`).
  template <typename Leaf>
  ExprId copyTo(ExprPool& target, ExprId id, std::map<ExprId, ExprId>& done, Leaf leaf) const;

  // Calls visit(node) for every node below `id`, each once.
  template <typename Visit>
  void walk(ExprId id, Visit visit) const;

 private:
  ExprId add(Expr node);
  ExprId fold(Op op, ExprId a, ExprId b);
  using Key = std::tuple<Op, Scalar, ExprId, ExprId, ExprId, int32_t, uint64_t>;
  std::vector<Expr> nodes_;
  std::map<Key, ExprId> index_;
};

template <typename Leaf>
ExprId ExprPool::copyTo(ExprPool& target, ExprId id, std::map<ExprId, ExprId>& done,
                        Leaf leaf) const {
  if (id < 0) return id;
  if (auto it = done.find(id); it != done.end()) return it->second;
  const Expr node = nodes_[id];
  ExprId copy;
  if (node.op == Op::Load || node.op == Op::Result || node.op == Op::Index) {
    copy = leaf(node);
  } else {
    Expr next = node;
    next.a = copyTo(target, node.a, done, leaf);
    next.b = copyTo(target, node.b, done, leaf);
    next.c = copyTo(target, node.c, done, leaf);
    copy = target.add(next);
  }
  return done[id] = copy;
}

template <typename Visit>
void ExprPool::walk(ExprId id, Visit visit) const {
  std::vector<bool> seen(nodes_.size());
  std::vector<ExprId> stack = {id};
  while (!stack.empty()) {
    ExprId next = stack.back();
    stack.pop_back();
    if (next < 0 || seen[next]) continue;
    seen[next] = true;
    visit(nodes_[next]);
    for (ExprId child : {nodes_[next].a, nodes_[next].b, nodes_[next].c}) stack.push_back(child);
  }
}

}  // namespace dtranspile::lower
