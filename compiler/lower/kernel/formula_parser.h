// Splits the text of a formula into expressions; formula.cc gives names their meaning. Recursive
// descent with one token of look-ahead; functions that are written in the language themselves are
// in formula_functions.h.
#pragma once

#include <set>
#include <string>
#include <string_view>

#include "compiler/lower/kernel/expr.h"

namespace dtranspile::lower {

// Where an operand runs: over the domain, the kept dims ([r]) or the inner dims ([i]).
enum class Span : char { Domain = 0, Rows = 'r', Inner = 'i' };

class FormulaActions {
 public:
  virtual ~FormulaActions() = default;
  virtual ExprId name(std::string_view name, Span span) = 0;           // -1 after an error
  virtual bool present(std::string_view name) = 0;                     // the slot is there
  virtual ExprId reduce(std::string_view function, ExprId value) = 0;  // -1: no such reduction
  virtual void assign(std::string_view name, Span span, ExprId value) = 0;
  virtual void fail(const std::string& message) = 0;
};

// Runs over all statements; false after an error was given to `actions.fail`.
bool parseFormula(std::string_view text, ExprPool& pool, FormulaActions& actions);

// The identifiers of a formula, parts of its text.
struct Identifiers {
  std::set<std::string_view> names;      // slots, attributes, intermediates
  std::set<std::string_view> assigned;   // those of them that a statement assigns to
  std::set<std::string_view> functions;  // what is called
};
Identifiers identifiersOf(std::string_view text);

}  // namespace dtranspile::lower
