// Composites: one framework op whose body communicates. The body is read by the same
// rules, without lineage inside: with one rank it is the op that it stands for (rung 4 proves
// that), and its relations say that with n ranks it gives the same. A scale directly behind an
// all_reduce divides by the number of ranks; other scales belong to the formula.
#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// The ops whose composites are understood: what they exchange are sums over the batch, and with one
// rank they are the op itself. The body of any other may compute anything from operands that the
// reference's op takes too.
struct CompositeRow {
  llvm::StringLiteral name, type;
};
constexpr CompositeRow kComposites[] = {{"sync_batch_norm", "batch_norm"},
                                        {"sync_batch_norm_grad", "batch_norm_grad"}};

bool divides(const pd::OpView& view) {
  mlir::Value x = view.type() == "scale" ? view.input("X") : mlir::Value();
  return x && llvm::isa_and_nonnull<dist::AllReduceOp, dist::WaitOp>(x.getDefiningOp()) &&
         view.getFloat("bias") == 0;
}

}  // namespace

void visitLocal(const Scene& scene, mlir::Operation* op) {
  pd::OpView view(op);
  const ParsedRule* rule = findRule(view.type());
  if (!rule) return scene.giveUnknown(op, "has no relation rule");
  RuleContext context(op, *rule, scene.axes(),
                      [&](mlir::Value value) -> const Relation& { return scene.of(value); });
  rule->rule(context);
  Rational factor = divides(view) ? Rational::ofFloat(view.getFloat("scale")) : Rational();
  std::vector<Relation> results = context.takeResults();
  for (auto [i, relation] : llvm::enumerate(results)) {
    for (Reading* reading : {&relation.whole, &relation.parts})
      reading->scale = reading->scale * factor;
    if (!relation.whole.known) scene.store.noteLoss(op->getResult(i), context.wholeLosses()[i]);
    scene.store.set(op->getResult(i), std::move(relation));
  }
}

mlir::Operation* enterComposite(const Scene& scene, dist::CompositeOp composite) {
  const CompositeRow* row = llvm::find_if(
      kComposites, [&](const CompositeRow& one) { return one.name == composite.getOp(); });
  auto number = composite->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  mlir::Operation* reference = number ? scene.reference().op(number.getInt()) : nullptr;
  if (row == std::end(kComposites))
    return scene.giveUnknown(composite, "is a composite that has no relation rule", reference),
           nullptr;
  if (!reference || reference->getName().stripDialect() != row->type ||
      reference->getNumOperands() != composite.getInputs().size() ||
      reference->getNumResults() != composite->getNumResults())
    return scene.giveUnknown(composite, "is a composite that stands for no op of the reference",
                             reference),
           nullptr;
  if (!operandsStandFor(scene, composite, reference)) return nullptr;
  mlir::Block& body = composite.getBody().front();
  for (auto [argument, input] : llvm::zip(body.getArguments(), composite.getInputs())) {
    Relation inside = scene.of(input);
    inside.reference = -1;
    inside.minuend = {};
    scene.store.correct(argument, std::move(inside));
  }
  return reference;
}

void leaveComposite(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference) {
  const Loss* lost = nullptr;
  mlir::Block& body = composite.getBody().front();
  auto yield = llvm::cast<dist::YieldOp>(body.getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    Relation relation = scene.of(value);
    relation.reference = scene.reference().numberOf(reference->getResult(i));
    const Loss* why = scene.store.lossOf(value);
    if (!relation.known())
      scene.store.noteLoss(composite->getResult(i),
                           why ? *why : Loss{"loses this result in its body", -1, {}});
    else if (!relation.whole.known && !lost) lost = why;
    scene.store.set(composite->getResult(i), std::move(relation));
  }
  bool operandsWhole = llvm::all_of(composite.getInputs(),
                                    [&](mlir::Value value) { return scene.of(value).whole.known; });
  if (lost && operandsWhole) scene.store.addSite({composite, *lost});
}

}  // namespace dtranspile::verify
