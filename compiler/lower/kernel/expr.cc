// Types of a formula are found while it is built, bottom up. Loads have the type of their elements;
// numbers and attributes have none of their own (Weak) and take that of what they meet; of two
// types the wider one wins, in the order bool, int32, int64, float32, float64. Two things leave the
// integers: functions that exist for floats only, and fractions. Constants are folded where both
// operands are literals, and x + 0 and x * 1 vanish, since scales of 1 and biases of 0 come with
// most attributes; x * 0 stays, as it keeps a NaN.
#include "compiler/lower/kernel/expr.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "compiler/lower/kernel/extents.h"

namespace dtranspile::lower {
namespace {

bool isComparison(Op op) { return op >= Op::Eq && op <= Op::Ge; }
bool isLogic(Op op) { return op == Op::And || op == Op::Or || op == Op::Not; }

// Functions that exist for floating point only: integers are widened to float before.
bool needsFloat(Op op) {
  return op == Op::Pow || op == Op::Atan2 || (op >= Op::Exp && op <= Op::Trunc);
}

double evaluate(Op op, double a, double b) {
  switch (op) {
    case Op::Add: return a + b;
    case Op::Sub: return a - b;
    case Op::Mul: return a * b;
    case Op::Div: return a / b;
    case Op::Min: return std::min(a, b);
    case Op::Max: return std::max(a, b);
    case Op::Pow: return std::pow(a, b);
    case Op::Neg: return -a;
    case Op::Abs: return std::fabs(a);
    case Op::Sqrt: return std::sqrt(a);
    case Op::Exp: return std::exp(a);
    case Op::Log: return std::log(a);
    case Op::Eq: return a == b;
    case Op::Ne: return a != b;
    case Op::Lt: return a < b;
    case Op::Le: return a <= b;
    case Op::Gt: return a > b;
    case Op::Ge: return a >= b;
    case Op::And: return a != 0 && b != 0;
    case Op::Or: return a != 0 || b != 0;
    case Op::Not: return a == 0;
    default: return std::nan("");
  }
}

bool isFraction(const Expr& e) {
  return e.type == Scalar::Weak && e.op == Op::Const && e.value != std::trunc(e.value);
}

bool foldable(Op op) { return !std::isnan(evaluate(op, 1, 1)); }

}  // namespace

// The type that elements are computed in: halves in float32, small integers in int32, as the
// framework's kernels promote them.
Scalar scalarOf(DType type) {
  switch (type) {
    case DType::kBool: return Scalar::I1;
    case DType::kUInt8:
    case DType::kInt8:
    case DType::kInt16:
    case DType::kInt32: return Scalar::I32;
    case DType::kFloat16:
    case DType::kBFloat16:
    case DType::kFloat32: return Scalar::F32;
    case DType::kFloat64: return Scalar::F64;
    default: return Scalar::I64;
  }
}

const char* mlirName(Scalar type) {
  static const char* const kNames[] = {"f32", "i1", "i32", "i64", "f32", "f64"};
  return kNames[static_cast<int>(type)];
}

bool isFloat(Scalar type) { return type == Scalar::F32 || type == Scalar::F64; }

ExprId ExprPool::add(Expr node) {
  Key key{
      node.op, node.type, node.a, node.b, node.c, node.index, std::bit_cast<uint64_t>(node.value)};
  auto [it, inserted] = index_.try_emplace(key, static_cast<ExprId>(nodes_.size()));
  if (inserted) nodes_.push_back(node);
  return it->second;
}

ExprId ExprPool::constant(double value, Scalar type) {
  return add({.op = Op::Const, .type = type, .value = value});
}

ExprId ExprPool::count(int64_t number, Scalar type) {
  if (!isSymbolic(number)) return constant(static_cast<double>(number), type);
  return add({.op = Op::Extent, .type = Scalar::I64, .value = static_cast<double>(number)});
}

ExprId ExprPool::load(int operand, Scalar type) {
  return add({.op = Op::Load, .type = type, .index = operand});
}

ExprId ExprPool::result(int reduction, Scalar type) {
  return add({.op = Op::Result, .type = type, .index = reduction});
}

ExprId ExprPool::position(int dim) {
  return add({.op = Op::Index, .type = Scalar::I64, .index = dim});
}

// A constant is converted now, as the emitted cast would convert it.
ExprId ExprPool::cast(ExprId a, Scalar type) {
  const Expr node = nodes_[a];
  if (node.type == type) return a;
  if (node.op == Op::Const) {
    const bool integer = type == Scalar::I32 || type == Scalar::I64;
    const double value = type == Scalar::I1    ? node.value != 0
                         : integer             ? std::trunc(node.value)
                         : type == Scalar::F32 ? static_cast<double>(static_cast<float>(node.value))
                                               : node.value;
    return constant(value, type);
  }
  return add({.op = Op::Cast, .type = type, .a = a});
}

// The typing rule at the top, for one operand.
ExprId ExprPool::unary(Op op, ExprId a) {
  if (nodes_[a].op == Op::Const && nodes_[a].type == Scalar::Weak && foldable(op)) {
    return constant(evaluate(op, nodes_[a].value, nodes_[a].value));
  }
  if (op == Op::Not) return add({.op = op, .type = Scalar::I1, .a = cast(a, Scalar::I1)});
  Scalar type = nodes_[a].type;
  if (type == Scalar::Weak) type = Scalar::F32;
  if (type == Scalar::I1 || (needsFloat(op) && !isFloat(type)))
    type = needsFloat(op) ? Scalar::F32 : Scalar::I32;
  return add({.op = op, .type = type, .a = cast(a, type)});
}

// x+0, x*1 and the like, for the constants that attributes bring (scale 1, bias 0). Nothing that
// would hide a NaN.
ExprId ExprPool::fold(Op op, ExprId a, ExprId b) {
  auto is = [&](ExprId id, double value) {
    return nodes_[id].op == Op::Const && nodes_[id].value == value;
  };
  if ((op == Op::Mul || op == Op::Div) && is(b, 1)) return a;
  if (op == Op::Mul && is(a, 1)) return b;
  if ((op == Op::Add || op == Op::Sub) && is(b, 0)) return a;
  if (op == Op::Add && is(a, 0)) return b;
  return -1;
}

// The typing rule at the top, op by op. Two untyped constants are folded in float64 and stay
// untyped.
ExprId ExprPool::binary(Op op, ExprId a, ExprId b) {
  const Expr x = nodes_[a], y = nodes_[b];
  if (x.op == Op::Const && y.op == Op::Const && x.type == Scalar::Weak && y.type == Scalar::Weak &&
      foldable(op)) {
    return constant(evaluate(op, x.value, y.value));
  }
  if (isLogic(op))
    return add({.op = op, .type = Scalar::I1, .a = cast(a, Scalar::I1), .b = cast(b, Scalar::I1)});
  Scalar type = std::max(x.type, y.type);
  if (type == Scalar::Weak) type = Scalar::F32;
  const bool arithmetic = !isComparison(op);
  if (type == Scalar::I1 && arithmetic) type = Scalar::I32;
  if (!isFloat(type)) {
    // A fraction beside an integer makes the expression a float one. Powers of integers beyond 2^24
    // are whole in float64 only.
    const bool fraction = isFraction(x) || isFraction(y);
    if (op == Op::Pow && !fraction) type = Scalar::F64;
    else if (needsFloat(op) || fraction) type = Scalar::F32;
  }
  a = cast(a, type);
  b = cast(b, type);
  if (ExprId same = fold(op, a, b); same >= 0) return same;
  if (op == Op::FloorDiv && isFloat(type)) return unary(Op::Floor, binary(Op::Div, a, b));
  return add({.op = op, .type = arithmetic ? type : Scalar::I1, .a = a, .b = b});
}

ExprId ExprPool::select(ExprId condition, ExprId yes, ExprId no) {
  if (nodes_[condition].op == Op::Const) return nodes_[condition].value != 0 ? yes : no;
  Scalar type = std::max(nodes_[yes].type, nodes_[no].type);
  if (type == Scalar::Weak) type = Scalar::F32;
  return add({.op = Op::Select,
              .type = type,
              .a = cast(condition, Scalar::I1),
              .b = cast(yes, type),
              .c = cast(no, type)});
}

}  // namespace dtranspile::lower
