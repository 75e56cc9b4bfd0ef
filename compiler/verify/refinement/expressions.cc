#include "compiler/verify/refinement/expressions.h"

#include <algorithm>

#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/xxhash.h"

namespace dtranspile::verify {
namespace {

// The field of integers modulo a prime (Mersenne's 61st).
constexpr uint64_t kPrime = (uint64_t{1} << 61) - 1;

uint64_t product(uint64_t a, uint64_t b) {
  const unsigned __int128 wide = static_cast<unsigned __int128>(a) * b;
  const uint64_t sum = static_cast<uint64_t>(wide & kPrime) + static_cast<uint64_t>(wide >> 61);
  return sum >= kPrime ? sum - kPrime : sum;
}

uint64_t sum(uint64_t a, uint64_t b) { return a + b >= kPrime ? a + b - kPrime : a + b; }

// a^(p-2), by Fermat.
uint64_t inverseOf(uint64_t a) {
  uint64_t result = 1;
  for (uint64_t exponent = kPrime - 2; exponent > 0; exponent >>= 1, a = product(a, a))
    if (exponent & 1) result = product(result, a);
  return result;
}

uint64_t fieldValue(const Rational& number) {
  const int64_t numerator = number.numerator();
  const uint64_t size = static_cast<uint64_t>(numerator < 0 ? -numerator : numerator) % kPrime;
  const uint64_t value = product(size, inverseOf(static_cast<uint64_t>(number.denominator())));
  return numerator < 0 && value != 0 ? kPrime - value : value;
}

// The same in every run: a verdict depends on the job alone.
uint64_t randomValue(const std::string& name, const std::vector<uint64_t>& operands) {
  std::string text = name + "(";
  for (uint64_t operand : operands) text += std::to_string(operand) + ",";
  return llvm::xxh3_64bits(llvm::StringRef(text)) % kPrime;
}

}  // namespace

Expressions::Expressions() {
  constant(Rational(0));
  constant(Rational(1));
}

// Hash-consing: equal expressions have one number. Each also gets a value in a prime field, leaves
// and functions being random by their names: by the lemma of Schwartz and Zippel two polynomials
// that differ have different values but for a negligible probability, so that most differences are
// found without the solver. Equality is never concluded from a value.
ExpressionId Expressions::intern(Expression expression) {
  Key key{expression.kind, expression.number.numerator(), expression.number.denominator(),
          expression.name, expression.operands};
  auto [at, made] = found_.try_emplace(std::move(key), static_cast<ExpressionId>(all_.size()));
  if (!made) return at->second;
  uint64_t value = 0;
  switch (expression.kind) {
    case Expression::Constant: value = fieldValue(expression.number); break;
    case Expression::Leaf: value = randomValue(expression.name, {}); break;
    case Expression::Sum:
      for (ExpressionId one : expression.operands) value = sum(value, all_[one].value);
      break;
    case Expression::Product:
      value = 1;
      for (ExpressionId one : expression.operands) value = product(value, all_[one].value);
      break;
    case Expression::Apply: {
      std::vector<uint64_t> operands;
      for (ExpressionId one : expression.operands) operands.push_back(all_[one].value);
      value = randomValue(expression.name, operands);
      break;
    }
  }
  expression.value = value;
  all_.push_back(std::move(expression));
  return at->second;
}

ExpressionId Expressions::constant(const Rational& number) {
  Expression one;
  one.number = number;
  if (number.isLost()) {
    lost_ = true;
    one.number = Rational(0);
  }
  return intern(std::move(one));
}

ExpressionId Expressions::leaf(const std::string& name) {
  Expression one;
  one.kind = Expression::Leaf;
  one.name = name;
  return intern(std::move(one));
}

// Numbers are added up, and what is left is sorted: no more than that, equality is the solver's.
ExpressionId Expressions::add(std::vector<ExpressionId> terms) {
  Rational number(0);
  Expression rest;
  rest.kind = Expression::Sum;
  for (ExpressionId term : terms) {
    if (all_[term].kind == Expression::Constant) number = number + all_[term].number;
    else rest.operands.push_back(term);
  }
  if (number.isLost()) lost_ = true;
  if (number.isLost() || number.numerator() != 0) rest.operands.push_back(constant(number));
  if (rest.operands.empty()) return kZero;
  if (rest.operands.size() == 1) return rest.operands[0];
  std::sort(rest.operands.begin(), rest.operands.end());
  return intern(std::move(rest));
}

// Constants are multiplied into one, zero absorbs, and the remaining factors are sorted: the normal
// form of a product.
ExpressionId Expressions::multiply(std::vector<ExpressionId> factors) {
  Rational number(1);
  Expression rest;
  rest.kind = Expression::Product;
  for (ExpressionId factor : factors) {
    if (all_[factor].kind == Expression::Constant) number = number * all_[factor].number;
    else rest.operands.push_back(factor);
  }
  if (number.isLost()) lost_ = true;
  else if (number.numerator() == 0) return kZero;
  if (!number.isOne()) rest.operands.push_back(constant(number));
  if (rest.operands.empty()) return kOne;
  if (rest.operands.size() == 1) return rest.operands[0];
  std::sort(rest.operands.begin(), rest.operands.end());
  return intern(std::move(rest));
}

ExpressionId Expressions::apply(const std::string& function, std::vector<ExpressionId> operands) {
  Expression one;
  one.kind = Expression::Apply;
  one.name = function;
  one.operands = std::move(operands);
  return intern(std::move(one));
}

ExpressionId Expressions::inverse(ExpressionId x) {
  const Expression& of = all_[x];
  if (of.kind == Expression::Constant && of.number.numerator() != 0)
    return constant(Rational(of.number.denominator(), of.number.numerator()));
  return apply("1/", {x});
}

}  // namespace dtranspile::verify
