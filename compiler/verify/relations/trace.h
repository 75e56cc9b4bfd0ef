// Where a value comes from, for messages: the reductions and scales on its way, the op where
// nothing was known of it any more.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "compiler/analysis/relations/analysis.h"

namespace dtranspile::verify {

// Terms of a sum that a message describes, and notes that it has.
inline constexpr size_t kListedTerms = 8;

void report(Rung& findings, mlir::Operation* op, Message::Level level, std::string rule,
            std::string text, std::string remedy, std::vector<std::string> notes = {});

// The op that an op's operand comes from, through waits.
mlir::Operation* producerOf(mlir::Value value);
// The operand that a result of a communication or inserted op was made from; null at the end of
// such a chain.
mlir::Value madeFrom(mlir::Value value);
// all_reduce, reduce, reduce_scatter.
bool reduces(mlir::Operation* op);
// Descriptions of the reductions that a value has been through.
std::vector<std::string> reductionsOf(mlir::Value value);
// The reductions of equal values on the way of this value.
std::vector<mlir::Operation*> causesOfScale(const Store& store, mlir::Value value);
// "`w@GRAD`": the value of the reference that a value stands for; else the value's own name.
std::string referenceName(const Question& question, const Relation& relation, mlir::Value value);
// A communicator over exactly this axis, for remedies.
std::string commFor(const Question& question, const Axes& axes, unsigned axis);

// Says why nothing is known of values, once per cause.
class Explainer {
 public:
  Explainer(const Store& store, Rung& findings) : store_(store), findings_(findings) {}
  void explain(mlir::Operation* op, mlir::Value value, const std::string& what);

 private:
  void refute(mlir::Operation* cause, mlir::Value value, const Reason& reason,
              const std::string& text, const std::string& use);

  const Store& store_;
  Rung& findings_;
  std::set<std::string> said_;
};

}  // namespace dtranspile::verify
