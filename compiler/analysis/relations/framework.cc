// Ops that stand for one of the reference: lineage, and the rule of their type.
#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {

void Scene::report(mlir::Operation* op, Message::Level level, std::string rule, std::string text,
                   std::string remedy) const {
  findings.add(messageAt(op, level, std::move(rule), std::move(text), std::move(remedy)));
}

std::string describe(const Reference& reference, const Relation& relation) {
  std::string text = reference.describe(relation.reference);
  return relation.minuend ? "the difference of " + nameText(relation.minuend) + " and " + text
                          : text;
}

void Scene::giveUnknown(mlir::Operation* op, const std::string& why, mlir::Operation* reference,
                        mlir::Value operand) const {
  for (mlir::OpResult result : op->getResults()) {
    store.lose(result, {why, -1, operand});
    if (!reference || result.getResultNumber() >= reference->getNumResults()) continue;
    Relation nothing;
    nothing.reference = question.reference.numberOf(reference->getResult(result.getResultNumber()));
    store.correct(result, nothing);
  }
}

// Operand i of the op stands for operand i of the reference's op. A wrong one is refuted; one that
// stands for nothing known makes the results unknown.
bool operandsStandFor(const Scene& scene, mlir::Operation* op, mlir::Operation* reference) {
  bool known = true;
  for (auto [own, theirs] : llvm::zip(op->getOperands(), reference->getOperands())) {
    const Relation& relation = scene.of(own);
    int wanted = scene.reference().numberOf(theirs);
    bool nothing = theirs.getDefiningOp<pd::UndefOp>() && own.getDefiningOp<pd::UndefOp>();
    if (nothing || relation.standsFor(wanted)) continue;
    if (relation.reference < 0) {
      scene.giveUnknown(op, "takes a value of which it is not known what it stands for", reference,
                        own);
      known = false;
      continue;
    }
    scene.report(op, Message::Level::Refuted, "lineage",
                 "takes " + scene.describe(relation) + " where the reference takes " +
                     scene.reference().describe(wanted),
                 "give it the value that stands for " + scene.reference().describe(wanted) +
                     ", or correct dist.src");
    Relation assumed = relation;  // report it once
    assumed.reference = wanted;
    assumed.minuend = {};
    scene.store.correct(own, assumed);
  }
  return known;
}

// Why neither reading is known: that of the parts reading, unless the whole one ended by itself
// here. Only the parts reading can be wrong for good: where the whole one does not fit along a data
// axis, a job may still be right in parts.
Loss lossOf(const Scene& scene, const Loss& whole, const Loss& parts) {
  bool wentOn = whole.operand && scene.of(whole.operand).parts.known;
  bool alongData = whole.axis >= 0 && scene.axes().isData[whole.axis];
  if (parts.wrong || wentOn || alongData) return parts;
  Loss loss = whole;
  loss.wrong = false;
  return loss;
}

namespace {

void giveResults(const Scene& scene, mlir::Operation* op, mlir::Operation* reference,
                 RuleContext& context) {
  std::vector<Relation> results = context.takeResults();
  bool operandsWhole = llvm::all_of(op->getOperands(),
                                    [&](mlir::Value value) { return scene.of(value).whole.known; });
  const Loss* lost = nullptr;
  for (auto [i, relation] : llvm::enumerate(results)) {
    relation.reference = scene.reference().numberOf(reference->getResult(i));
    if (!relation.known()) {
      scene.store.noteLoss(op->getResult(i),
                           lossOf(scene, context.wholeLosses()[i], context.partsLosses()[i]));
    } else if (!relation.whole.known && !lost) {
      lost = &context.wholeLosses()[i];
    }
    scene.store.set(op->getResult(i), std::move(relation));
  }
  if (lost && operandsWhole) scene.store.addSite({op, *lost});
}

}  // namespace

void visitReferenceOp(const Scene& scene, mlir::Operation* op, mlir::Operation* reference,
                      const ParsedRule& rule) {
  RuleContext context(op, rule, scene.axes(),
                      [&](mlir::Value value) -> const Relation& { return scene.of(value); });
  rule.rule(context);
  for (const Violation& violation : context.violations())
    scene.report(op, Message::Level::Refuted, violation.rule, violation.text, violation.remedy);
  giveResults(scene, op, reference, context);
}

}  // namespace dtranspile::verify
