#include "compiler/verify/relations/polynomial.h"

#include <algorithm>
#include <cmath>

#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

namespace dtranspile::verify {
namespace {

constexpr double kPrecision = 1e-6;
// A product of sums has as many terms as both together; nothing that a pass makes has as many.
constexpr size_t kMostTerms = 64;

bool isFloatTensor(mlir::Type type) {
  mlir::RankedTensorType tensor = pd::tensorOf(type);
  return tensor && tensor == type && llvm::isa<mlir::FloatType>(tensor.getElementType());
}

}  // namespace

Polynomial Polynomial::of(const std::string& symbol) {
  Polynomial one;
  one.terms_[{symbol}] = 1;
  return one;
}

Polynomial Polynomial::plus(const Polynomial& other, double factor) const {
  Polynomial sum = *this;
  for (const auto& [factors, coefficient] : other.terms_) {
    const double term = factor * coefficient;
    auto [mine, fresh] = sum.terms_.try_emplace(factors, 0);
    mine->second += term;
    // What cancels out, and not what is small: the share of one of many trainers is.
    if (std::abs(mine->second) <= kPrecision * std::abs(term)) sum.terms_.erase(mine);
  }
  return sum;
}

// A monomial is the sorted list of its factors, with repetitions, and so has one form.
Polynomial Polynomial::times(const Polynomial& other) const {
  Polynomial product;
  for (const auto& [mine, a] : terms_)
    for (const auto& [theirs, b] : other.terms_) {
      std::vector<std::string> factors(mine);
      factors.insert(factors.end(), theirs.begin(), theirs.end());
      std::sort(factors.begin(), factors.end());
      Polynomial term;
      term.terms_[std::move(factors)] = a * b;
      product = product.plus(term);
    }
  return product;
}

bool Polynomial::operator==(const Polynomial& other) const {
  return std::equal(terms_.begin(), terms_.end(), other.terms_.begin(), other.terms_.end(),
                    [](const auto& a, const auto& b) {
                      return a.first == b.first &&
                             std::abs(a.second - b.second) <= kPrecision * std::abs(b.second);
                    });
}

std::string Polynomial::text() const {
  if (terms_.empty()) return "0";
  std::string text;
  llvm::raw_string_ostream out(text);
  for (const auto& [factors, coefficient] : terms_) {
    const double size = std::abs(coefficient);
    out << (text.empty() ? (coefficient < 0 ? "-" : "") : (coefficient < 0 ? " - " : " + "));
    if (size != 1) out << llvm::format("%.6g", size) << "*";
    for (size_t i = 0; i < factors.size(); ++i) out << (i ? "*" : "") << factors[i];
  }
  return text;
}

std::optional<Polynomial> Evaluator::of(mlir::Value value) {
  if (auto found = known_.find(value); found != known_.end()) return found->second;
  std::optional<Polynomial> made = make(value);
  if (made && made->terms() > kMostTerms) made.reset();
  if (!made && !at_) at_ = value;
  return known_[value] = std::move(made);
}

// Sums, differences, products and scales of tensors of one shape, elementwise: the arithmetic holds
// for each element. Nothing for any other op.
std::optional<Polynomial> Evaluator::make(mlir::Value value) {
  if (std::optional<Polynomial> leaf = leaf_(value)) return leaf;
  mlir::Operation* op = value.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op)) return std::nullopt;
  const pd::OpView view(op);
  // What is added or multiplied has one shape: nothing is spread over a larger one.
  for (mlir::Value operand : op->getOperands())
    if (operand.getType() != value.getType() || !isFloatTensor(operand.getType()))
      return std::nullopt;
  const llvm::StringRef type = view.type();
  const auto input = [&](llvm::StringRef slot) -> std::optional<Polynomial> {
    mlir::Value operand = view.input(slot);
    return operand ? of(operand) : std::nullopt;
  };
  if (type == "assign") return input("X");
  if (type == "scale") {
    std::optional<Polynomial> x = input("X");
    if (!x || view.getFloat("bias") != 0 || op->getNumOperands() != 1) return std::nullopt;
    return Polynomial().plus(*x, view.getFloat("scale"));
  }
  if (type == "sum") {
    Polynomial sum;
    for (mlir::Value operand : op->getOperands()) {
      std::optional<Polynomial> term = of(operand);
      if (!term) return std::nullopt;
      sum = sum.plus(*term);
    }
    return sum;
  }
  if (type != "elementwise_add" && type != "elementwise_sub" && type != "elementwise_mul")
    return std::nullopt;
  const std::optional<Polynomial> x = input("X"), y = input("Y");
  if (!x || !y) return std::nullopt;
  if (type == "elementwise_mul") return x->times(*y);
  return x->plus(*y, type == "elementwise_add" ? 1 : -1);
}

}  // namespace dtranspile::verify
