// Transfer functions: what ops of one kind do to relations. Called by the walk (walk.cc), one file
// per kind.
#pragma once

#include <optional>

#include "compiler/analysis/relations/analysis.h"
#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

// What every transfer function works on.
struct Scene {
  const Question& question;
  Store& store;
  Rung& findings;

  const Reference& reference() const { return question.reference; }
  const Axes& axes() const { return store.axes(); }
  const Relation& of(mlir::Value value) const { return store.of(value); }
  void report(mlir::Operation* op, Message::Level level, std::string rule, std::string text,
              std::string remedy) const;
  std::string describe(const Relation& relation) const {
    return verify::describe(question.reference, relation);
  }
  // All results lose their readings; they still stand for those of `reference`, where there is one.
  void giveUnknown(mlir::Operation* op, const std::string& why,
                   mlir::Operation* reference = nullptr, mlir::Value operand = {}) const;
};

// framework.cc: ops that stand for one of the reference.
void visitReferenceOp(const Scene& scene, mlir::Operation* op, mlir::Operation* reference,
                      const ParsedRule& rule);
// Does any of the values carry the gradient of the loss?
bool readsGradient(const Scene& scene, mlir::ValueRange values);
// The choice of draws that a value follows from which is made from these; null where it follows
// from none. Of several choices it is one of its own.
mlir::Value drawBehind(const Scene& scene, mlir::ValueRange operands, mlir::Value result);
// Refutes operands of forward ops that are a multiple of the reference's.
void checkForward(const Scene& scene, mlir::Operation* op, mlir::Operation* reference);
// Operand i of the op stands for operand i of the reference's op. A wrong one is refuted; one that
// stands for nothing known makes the results unknown, and the answer is false.
bool operandsStandFor(const Scene& scene, mlir::Operation* op, mlir::Operation* reference);

// inserted.cc: ops that passes put in.
void visitInserted(const Scene& scene, mlir::Operation* op);

// blocks.cc: while, conditional_block, recurrent and their gradients.
void visitControlFlow(const Scene& scene, mlir::Operation* op, mlir::Operation* reference);

// collectives.cc: communication, and the local ops of dialect dist.
void visitCollective(const Scene& scene, mlir::Operation* op);
void visitWait(const Scene& scene, dist::WaitOp wait);
void visitSlice(const Scene& scene, dist::SliceOp slice);

// guards.cc: what both bodies of a dist.on gave, once they have been walked. `before`: the
// variables as they were, `held`: as the body left them; the store has them as the else-body left
// them.
void joinBodies(const Scene& scene, dist::OnOp on, const Variables& before, Variables held);

// composite.cc. Operands of a composite that is understood enter its body; false where it is not.
mlir::Operation* enterComposite(const Scene& scene, dist::CompositeOp composite);
// An op of its body: the rule of its type, without lineage.
void visitLocal(const Scene& scene, mlir::Operation* op);
void leaveComposite(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference);

}  // namespace dtranspile::verify
