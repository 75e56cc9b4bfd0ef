// Asks Z3 whether two expressions are equal for all real numbers: they are lowered to MLIR's
// dialect smt, written as SMT-LIB and decided in this process, within limits of time, work and
// memory.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/verify/refinement/expressions.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

namespace dtranspile::verify {

struct Answer {
  enum Kind { Equal, Differ, Unknown };
  Kind kind = Unknown;
  std::string why;  // of Unknown
  // Of Differ: elements and a value of each; none where functions without laws are in play.
  std::vector<std::pair<std::string, std::string>> values;
};

class Solver {
 public:
  Solver();

  Answer decide(const Expressions& expressions, ExpressionId a, ExpressionId b);

  int64_t asked() const { return asked_; }
  // What all questions together took, in Z3's units of work: the same on every machine.
  int64_t work() const { return work_; }

 private:
  // Of questions alone: the job's may not get another dialect while passes run.
  mlir::MLIRContext context_;
  int64_t asked_ = 0, work_ = 0;
};

// The question "do a and b differ anywhere" as a module of dialect smt. Real numbers stand as
// `!smt.int`, the only numbers that the dialect has; `questionText` says Real.
struct Question {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<std::pair<std::string, std::string>> leaves;  // symbol, element
  bool functions = false;                                   // any without laws
  bool fits = true;                                         // not too large to ask
};
// `context` has dialect smt.
Question questionOf(mlir::MLIRContext& context, const Expressions& expressions, ExpressionId a,
                    ExpressionId b);
// Its SMT-LIB; empty where it cannot be written.
std::string questionText(mlir::ModuleOp question);

}  // namespace dtranspile::verify
