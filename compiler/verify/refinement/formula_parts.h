// What rows of formulas are written with.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "compiler/verify/refinement/formulas.h"

namespace dtranspile::verify::formulas {

using Result = std::optional<Formula>;
using Context = FormulaContext;
using Axes = std::vector<int>;  // a variable per axis, or -1

inline constexpr char kOutGrad[] = "Out@GRAD";

// Makes variables of extents; an extent of 1 has none.
struct Variables {
  std::vector<Dim> all;
  int add(const Dim& dim) {
    if (dim.extent == 1) return -1;
    all.push_back(dim);
    return static_cast<int>(all.size()) - 1;
  }
  Axes add(llvm::ArrayRef<Dim> dims) {
    Axes axes;
    for (const Dim& dim : dims) axes.push_back(add(dim));
    return axes;
  }
};

inline Factor element(const Operand& operand, const Axes& axes, std::string function = "") {
  Factor factor{{operand}, {}, std::move(function)};
  for (int variable : axes) factor.index.push_back({variable, 0});
  return factor;
}

inline Monomial monomial(const Rational& number, std::vector<Factor> factors) {
  Monomial one;
  one.number = number;
  one.factors = std::move(factors);
  return one;
}

inline Result formula(const Variables& variables, Axes result, std::vector<Monomial> monomials) {
  return Formula{variables.all, std::move(result), std::move(monomials)};
}

// Whether the axes of an operand are as long as its variables say, or the op fails.
inline bool demandAxes(const Context& c, const Variables& variables, const Operand& operand,
                       const Axes& axes) {
  const std::vector<Dim> dims = c.dims(operand);
  if (dims.size() != axes.size()) return false;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (axes[i] < 0 ? dims[i].extent != 1 : !c.demand(dims[i], variables.all[axes[i]]))
      return false;
  }
  return true;
}

// One element, of whatever rank.
inline bool isOne(const Operand& operand) {
  return operand.type.hasStaticShape() && operand.type.getNumElements() == 1;
}
inline Axes ones(const Operand& operand) { return Axes(operand.type.getRank(), -1); }

struct FormulaRow {
  const char* type;
  Result (*make)(const Context&);
};

// Ops that put elements elsewhere, and compute nothing.
llvm::ArrayRef<FormulaRow> rowsOfMoves();

}  // namespace dtranspile::verify::formulas
