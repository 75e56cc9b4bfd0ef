// Composites: one framework op whose body communicates. The body is read by the same
// rules, without lineage inside: composite_body.h compares it with the formula of its op, and its
// relations say that with n ranks it gives the same. A scale directly after an
// all_reduce divides by the number of ranks; other scales belong to the formula.
#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/composite_body.h"
#include "compiler/analysis/relations/compression.h"
#include "compiler/analysis/relations/norm_body.h"
#include "compiler/analysis/relations/padded.h"
#include "compiler/analysis/relations/part_forms.h"
#include "compiler/analysis/relations/term_sum.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// The ops whose composites are understood: what they exchange are sums over the batch, or over
// parts of a tensor, and with one rank they are the op itself; or they ask servers for what the op
// would read. The body of any other may compute anything from operands that the reference's op
// takes too.
struct CompositeRow {
  llvm::StringLiteral name, type;
};
constexpr CompositeRow kComposites[] = {
    {"sync_batch_norm", "batch_norm"}, {"sync_batch_norm_grad", "batch_norm_grad"},
    {"lookup_table", "lookup_table"},  {"lookup_table_v2", "lookup_table_v2"},
    {kCompressedUpdate, "momentum"},   {kTermSum, "sum"},
    {kLocalClip, "clip_by_norm"},      {kShardedClip, "clip_by_norm"},
    {kShardedLars, "lars_momentum"},   {kShardedLamb, "lamb"}};

bool isUnderstood(llvm::StringRef composite) {
  return partForm(composite) ||
         llvm::any_of(kComposites, [&](const CompositeRow& one) { return one.name == composite; });
}

bool divides(const pd::OpView& view) {
  mlir::Value x = view.type() == "scale" ? view.input("X") : mlir::Value();
  return x && llvm::isa_and_nonnull<dist::AllReduceOp, dist::WaitOp>(x.getDefiningOp()) &&
         view.getFloat("bias") == 0;
}

}  // namespace

bool compositeStandsFor(llvm::StringRef composite, llvm::StringRef type) {
  if (const PartForm* form = partForm(composite)) return form->type == type;
  return llvm::any_of(kComposites, [&](const CompositeRow& one) {
    return one.name == composite && one.type == type;
  });
}

// An op inside of a composite has no partner in the reference: its operands' relations go through
// the rule of its type, and the results are relations without a reference number. A scale that
// divides by the number of ranks changes the scale of the relation, as the comment at the top says.
void visitLocal(const Scene& scene, mlir::Operation* op) {
  pd::OpView view(op);
  const ParsedRule* rule = findRule(view.type());
  if (!rule) return scene.giveUnknown(op, noRuleText(view.type()));
  RuleContext context(op, *rule, scene.axes(),
                      [&](mlir::Value value) -> const Relation& { return scene.of(value); });
  context.apply();
  Rational factor = divides(view) ? Rational::ofFloat(view.getFloat("scale")) : Rational();
  std::vector<Relation> results = context.takeResults();
  for (auto [i, relation] : llvm::enumerate(results)) {
    for (Reading* reading : {&relation.whole, &relation.parts})
      reading->scale = reading->scale * factor;
    relation.gradient = readsGradient(scene, op->getOperands());
    Reason reason = context.reasons()[i];
    losePads(scene, op, nullptr, relation, reason);
    if (!relation.known()) scene.store.noteReason(op->getResult(i), std::move(reason));
    scene.store.set(op->getResult(i), std::move(relation));
  }
  if (const Reason* site = context.site()) scene.store.addSite({op->getParentOp(), *site});
}

// Checks that the composite stands for one op of the reference and has its form. Composites with a
// body of a known definition are compared as wholes by their own visitors; the others are compared
// with their formula here and then walked, with the relations of the operands at the arguments of
// the body. Returns the op that is stood for, or null where the composite has been reported.
mlir::Operation* enterComposite(const Scene& scene, dist::CompositeOp composite) {
  auto number = composite->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  mlir::Operation* reference = number ? scene.reference().op(number.getInt()) : nullptr;
  if (!isUnderstood(composite.getOp()))
    return scene.giveUnknown(composite, "is a composite that has no relation rule", reference),
           nullptr;
  if (!reference || !compositeStandsFor(composite.getOp(), pd::OpView(reference).type()) ||
      reference->getNumOperands() != composite.getInputs().size() ||
      reference->getNumResults() != composite->getNumResults())
    return scene.giveUnknown(composite, "is a composite that stands for no op of the reference",
                             reference),
           nullptr;
  if (!operandsStandFor(scene, composite, reference)) return nullptr;
  if (isLookup(composite) || isCompression(composite) || partForm(composite.getOp()) ||
      composite.getOp() == kTermSum)
    return reference;
  const bool norms = takesNormsOfParts(composite);
  if (std::string why = norms ? normBodyDiffers(composite) : bodyDiffers(composite, scene.axes());
      !why.empty())
    scene.report(composite, Message::Level::Unknown, "body",
                 std::string("is a composite whose body is not known to be its op ") +
                     (norms ? "on parts" : "over the whole batch") + ": it " + why,
                 "let the pass that makes composites write it");
  mlir::Block& body = composite.getBody().front();
  for (auto [argument, input] : llvm::zip(body.getArguments(), composite.getInputs())) {
    Relation inside = scene.of(input);
    inside.reference = -1;
    inside.minuend = {};
    scene.store.correct(argument, std::move(inside));
  }
  return reference;
}

// Passes ask what the job is without its compression, where ranks hold one sum; verify takes the
// compression out of the job instead.
void visitCompression(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference) {
  for (mlir::OpResult result : reference->getResults()) {
    Relation relation;
    relation.reference = scene.reference().numberOf(result);
    relation.whole = relation.parts = Reading::replicated(scene.axes());
    relation.gradient = readsGradient(scene, composite.getInputs());
    scene.store.set(composite->getResult(result.getResultNumber()), std::move(relation));
  }
}

// What the body yields becomes the results, which now stand for the results of the op of the
// reference.
void leaveComposite(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference) {
  auto yield = llvm::cast<dist::YieldOp>(composite.getBody().front().getTerminator());
  for (auto [i, value] : llvm::enumerate(yield.getValues())) {
    Relation relation = scene.of(value);
    relation.reference = scene.reference().numberOf(reference->getResult(i));
    relation.gradient = readsGradient(scene, composite.getInputs());
    const Reason* why = scene.store.reasonOf(value);
    if (!relation.known())
      scene.store.noteReason(composite->getResult(i),
                             why ? *why : Reason{"loses this result in its body", -1, {}});
    scene.store.set(composite->getResult(i), std::move(relation));
  }
}

}  // namespace dtranspile::verify
