// Real numbers as expressions: what an element of a tensor is, in terms of elements that nothing is
// known of. Equal expressions have one number; each carries its value at one random point of a
// finite field, so that expressions that are not equal are told apart without a solver (Schwartz
// and Zippel). docs/verification.md, Rung 4, The solver.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "compiler/analysis/relations/rational.h"

namespace dtranspile::verify {

using ExpressionId = uint32_t;

struct Expression {
  // Leaf: an element; Apply: a function of which nothing is known but its name.
  enum Kind { Constant, Leaf, Sum, Product, Apply };
  Kind kind = Constant;
  Rational number;   // of a constant
  std::string name;  // of a leaf, of a function
  std::vector<ExpressionId> operands;
  uint64_t value = 0;  // at the random point
};

class Expressions {
 public:
  static constexpr ExpressionId kZero = 0, kOne = 1;

  Expressions();

  ExpressionId constant(const Rational& number);
  ExpressionId leaf(const std::string& name);
  ExpressionId add(std::vector<ExpressionId> terms);
  ExpressionId multiply(std::vector<ExpressionId> factors);
  ExpressionId apply(const std::string& function, std::vector<ExpressionId> operands);
  // 1/x, of which nothing is known unless x is a number.
  ExpressionId inverse(ExpressionId x);

  const Expression& at(ExpressionId id) const { return all_[id]; }
  size_t size() const { return all_.size(); }
  // Whether a number did not fit: nothing that was made since may be believed.
  bool isLost() const { return lost_; }

 private:
  ExpressionId intern(Expression expression);

  using Key = std::tuple<int, int64_t, int64_t, std::string, std::vector<ExpressionId>>;
  std::map<Key, ExpressionId> found_;
  std::vector<Expression> all_;
  bool lost_ = false;
};

}  // namespace dtranspile::verify
