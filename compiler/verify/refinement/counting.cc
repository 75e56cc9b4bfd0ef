#include "compiler/verify/refinement/counting.h"

#include <algorithm>
#include <limits>
#include <set>

#include "dialects/pd/integer.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/CheckedArithmetic.h"
#include "mlir/IR/BuiltinTypes.h"

namespace dtranspile::verify {
namespace {

using Value = std::optional<int64_t>;
using Operands = llvm::SmallVector<int64_t, 2>;

// A remainder has the sign of the divisor, as the framework's elementwise_mod.
Value modulo(int64_t a, int64_t b) {
  if (b == 0 || b == -1) return b == 0 ? Value() : Value(0);
  const int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

struct CountingOp {
  const char* type;
  size_t operands;
  Value (*value)(pd::OpView, const Operands&);
};

// Ops that counters of steps and their conditions are made of, over 64-bit integers: type, number
// of operands, and the value, which is nothing on overflow or where the op does more than this row
// says.
constexpr CountingOp kCounting[] = {
    {"fill_constant", 0,
     [](pd::OpView op, const Operands&) -> Value {
       return op.getString("str_value").empty() ? pd::wholeNumber(op.getFloat("value")) : Value();
     }},
    {"assign", 1, [](pd::OpView, const Operands& x) -> Value { return x[0]; }},
    {"cast", 1,
     [](pd::OpView op, const Operands& x) -> Value {
       auto type = llvm::cast<mlir::RankedTensorType>(op.operation()->getResult(0).getType());
       return type.getElementType().isInteger(1) ? x[0] != 0 : x[0];
     }},
    {"increment", 1,
     [](pd::OpView op, const Operands& x) -> Value {
       const Value step = pd::wholeNumber(op.getFloat("step"));
       return step ? llvm::checkedAdd<int64_t>(x[0], *step) : std::nullopt;
     }},
    {"elementwise_add", 2,
     [](pd::OpView, const Operands& x) { return llvm::checkedAdd<int64_t>(x[0], x[1]); }},
    {"elementwise_mod", 2, [](pd::OpView, const Operands& x) { return modulo(x[0], x[1]); }},
    {"equal", 2, [](pd::OpView, const Operands& x) -> Value { return x[0] == x[1]; }},
    {"not_equal", 2, [](pd::OpView, const Operands& x) -> Value { return x[0] != x[1]; }},
    {"logical_not", 1, [](pd::OpView, const Operands& x) -> Value { return x[0] == 0; }},
};

// What is cut off in 32 bits, or is no integer, is not counted with.
bool counts(mlir::Operation* op) {
  for (mlir::Value value : op->getResults()) {
    auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
    if (!type || !type.hasStaticShape() || type.getNumElements() != 1 ||
        !type.getElementType().isInteger())
      return false;
  }
  return op->getNumResults() == 1;
}

}  // namespace

// Evaluates a term with numbers in the place of variables; nothing as soon as it contains another
// op or an unknown variable.
std::optional<int64_t> valueOf(const Terms& terms, TermId term,
                               const std::map<std::string, int64_t>& variables) {
  const Atom* atom = terms.single(term);
  if (!atom) return std::nullopt;
  if (atom->type == "variable") {
    auto found = variables.find(atom->key.substr(sizeof("variable ") - 1));
    return found == variables.end() ? Value() : Value(found->second);
  }
  if (!atom->op || !pd::OpView::isFrameworkOp(atom->op) || !counts(atom->op)) return std::nullopt;
  for (const CountingOp& row : kCounting) {
    if (atom->type != row.type || atom->operands.size() != row.operands) continue;
    Operands operands;
    for (TermId operand : atom->operands) {
      const Value value = valueOf(terms, operand, variables);
      if (!value) return std::nullopt;
      operands.push_back(*value);
    }
    const Value value = row.value(pd::OpView(atom->op), operands);
    // A counter of fewer bits wraps round.
    return value && std::abs(*value) <= std::numeric_limits<int32_t>::max() ? value : Value();
  }
  return std::nullopt;
}

// Variables that a term depends on, each once, by a traversal of the term graph (which shares much,
// hence `seen`).
std::vector<std::string> variablesOf(const Terms& terms, TermId term) {
  std::vector<std::string> found;
  std::set<TermId> seen = {term};
  llvm::SmallVector<TermId> open = {term};
  while (!open.empty())
    for (const Summand& summand : terms.summands(open.pop_back_val())) {
      const Atom& atom = terms.atomOf(summand.atom);
      if (atom.type == "variable") found.push_back(atom.key.substr(sizeof("variable ") - 1));
      for (TermId operand : atom.operands)
        if (seen.insert(operand).second) open.push_back(operand);
    }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace dtranspile::verify
