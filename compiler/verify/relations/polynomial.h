// What a program computes by additions, differences and products of named values: a sum of products
// of them. For what passes put in and what is no value of the reference by itself: exchanges with
// servers (exchange.h), corrections of gradients.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "llvm/ADT/DenseMap.h"
#include "mlir/IR/Value.h"

namespace dtranspile::verify {

class Polynomial {
 public:
  static Polynomial of(const std::string& symbol);

  Polynomial plus(const Polynomial& other, double factor = 1) const;
  Polynomial times(const Polynomial& other) const;
  // Coefficients are those of float attributes: equal to about their precision.
  bool operator==(const Polynomial& other) const;
  size_t terms() const { return terms_.size(); }
  // "0.5*`w` - 0.5*`w@SNAPSHOT`"
  std::string text() const;

 private:
  std::map<std::vector<std::string>, double> terms_;  // by factors, which are sorted
};

// Evaluates values of a block. Every value once.
class Evaluator {
 public:
  using Leaf = std::function<std::optional<Polynomial>(mlir::Value)>;
  // `leaf`: of values that have a name; none of others, which framework ops have to give.
  explicit Evaluator(Leaf leaf) : leaf_(std::move(leaf)) {}

  // None where an op on the way is no sum, difference or product of tensors of one shape; `at` is
  // that value then.
  std::optional<Polynomial> of(mlir::Value value);
  mlir::Value at() const { return at_; }

 private:
  std::optional<Polynomial> make(mlir::Value value);

  Leaf leaf_;
  llvm::DenseMap<mlir::Value, std::optional<Polynomial>> known_;
  mlir::Value at_;
};

}  // namespace dtranspile::verify
