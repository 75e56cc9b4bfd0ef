// Transfer functions: what ops of one kind do to relations. Called by the walk (walk.cc), one file
// per kind.
#pragma once

#include <optional>

#include "compiler/analysis/relations/analysis.h"
#include "compiler/analysis/relations/rule.h"

namespace dtranspile::verify {

class Rpc;

// What every transfer function works on.
struct Scene {
  const Question& question;
  Store& store;
  Rung& findings;
  Rpc* rpc = nullptr;  // null where the role is looked at by itself

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

// walk.cc: the ops of a block, with all that they contain.
void walkBlock(const Scene& scene, UpdateWatch* watch, mlir::Block& block);

// framework.cc: ops that stand for one of the reference.
void visitReferenceOp(const Scene& scene, mlir::Operation* op, mlir::Operation* reference,
                      const ParsedRule& rule);
// A composite that asks servers for the rows that the reference's op reads.
void visitLookup(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference);
// A composite that works on parts (part_forms.h).
void visitParts(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference);
// A sum of terms and of parts (term_sum.h).
void visitTermSum(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference);
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

// By what a reduction over one axis multiplies the scale; nothing where a state does not fit it. A
// replicated value summed over n ranks is n times itself, which is how a second reduction shows.
// Values per share are contributions to a gradient; those of anything else have no sum in the
// reference, and in the parts reading they are summed to n times their mean.
std::optional<Rational> reducedScale(const State& state, dist::Reduce reduce, int64_t size,
                                     const Relation& operand, bool whole);

// guards.cc: what a region yields, while its scope is open; a result that was made so.
std::vector<Awaited> yieldedBy(const Scene& scene, mlir::Region& region);
void giveAwaited(const Scene& scene, mlir::Value result, Awaited value);
// What both bodies of a dist.on gave; `there` is empty without an else-body.
void joinBodies(const Scene& scene, dist::OnOp on, std::vector<Awaited> here,
                std::vector<Awaited> there);

// loops.cc: regions that are run several times. Opens the scope of their ops, and gives the results
// once they have been walked.
bool enterMicro(const Scene& scene, dist::MicroOp micro);
void leaveMicro(const Scene& scene, dist::MicroOp micro);
bool enterBlocks(const Scene& scene, dist::ForeachBlockOp loop);
void leaveBlocks(const Scene& scene, dist::ForeachBlockOp loop);
// What a variable holds for an op in a loop over blocks, where it has blocks, and the other way
// round; as it is elsewhere.
Awaited readBlock(const Scene& scene, const Variable& variable);
void setBlock(const Scene& scene, Variable& variable, pd::SetOp set);
// The reading of a whole value as servers have it that are to have a variable's parts of it.
void cutLikeVariable(const Scene& scene, const Variable& variable, Reading& whole);
// Zeros that a loop starts to accumulate from.
bool isAccumulator(mlir::Value value);

// composite.cc. Operands of a composite that is understood enter its body; false where it is not.
mlir::Operation* enterComposite(const Scene& scene, dist::CompositeOp composite);
// An op of its body: the rule of its type, without lineage.
void visitLocal(const Scene& scene, mlir::Operation* op);
void leaveComposite(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference);
// One that compresses gradients (compression.h).
void visitCompression(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference);

}  // namespace dtranspile::verify
