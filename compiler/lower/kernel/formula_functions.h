// The functions of the formula language that are written in it: what several formulas share. A
// function has one value, and knows its parameters alone; it may use those above it. The parser
// puts its body in the place of the call (formula_parser.cc), and equal expressions are one
// (expr.h), so that nothing is computed twice.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace dtranspile::lower {

struct FormulaFunction {
  std::string_view name;
  std::vector<std::string_view> parameters;
  std::string_view body;
};

// All of them, in order.
const std::vector<FormulaFunction>& formulaFunctions();

// The definitions of a text, one to a line: `NAME(PARAMETER, …) = EXPRESSION`; indented lines go on
// with the one above, those that begin with `#` say nothing. On failure empty, with what is wrong
// in `error`.
std::vector<FormulaFunction> parseFunctions(std::string_view text, std::string& error);

}  // namespace dtranspile::lower
