// Ops that stand for one of the reference: lineage, and the rule of their type.
#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/composite_body.h"
#include "compiler/analysis/relations/padded.h"
#include "compiler/analysis/relations/part_bodies.h"
#include "compiler/analysis/relations/rpc.h"
#include "compiler/analysis/relations/term_sum.h"
#include "compiler/analysis/relations/transfer.h"
#include "compiler/analysis/relations/updates.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {

void Scene::report(mlir::Operation* op, Message::Level level, std::string rule, std::string text,
                   std::string remedy) const {
  findings.add(messageAt(op, level, std::move(rule), std::move(text), std::move(remedy)));
}

// For messages: which value of the reference, or what difference, a value stands for.
std::string describe(const Reference& reference, const Relation& relation) {
  if (relation.reference < 0) return "a value that stands for none of the reference";
  std::string text = reference.describe(relation.reference);
  return relation.minuend ? "the difference of " + nameText(relation.minuend) + " and " + text
                          : text;
}

// The results have no relation, but keep the number of what they should stand for: ops that take
// them are then not reported for their lineage as well.
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
    if (llvm::isa<pd::RowsType>(theirs.getType()) && !llvm::isa<pd::RowsType>(own.getType()) &&
        !takesRowsAsDense(pd::OpView(reference))) {
      scene.report(
          op, Message::Level::Refuted, "rows",
          "takes " + nameText(own) +
              " as a dense tensor where the reference takes SelectedRows: it does something "
              "else with rows that are not there",
          "keep SelectedRows, or choose an op that updates all rows");
      known = false;
    }
    bool nothing = theirs.getDefiningOp<pd::UndefOp>() && own.getDefiningOp<pd::UndefOp>();
    if (nothing || relation.standsFor(wanted)) continue;
    if (relation.reference < 0) {
      if (known)
        scene.report(op, Message::Level::Unknown, "lineage",
                     "takes " + nameText(own) +
                         ", of which it is not known what it stands for, "
                         "where the reference takes " +
                         scene.reference().describe(wanted),
                     "give it the value that stands for " + scene.reference().describe(wanted));
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

bool readsGradient(const Scene& scene, mlir::ValueRange values) {
  return llvm::any_of(values, [&](mlir::Value value) { return scene.of(value).gradient; });
}

// The draw that all operands come from; of two different ones a value is a draw of its own.
mlir::Value drawBehind(const Scene& scene, mlir::ValueRange operands, mlir::Value result) {
  mlir::Value found;
  for (mlir::Value operand : operands)
    if (mlir::Value draw = scene.of(operand).draw) {
      if (found && found != draw) return result;
      found = draw;
    }
  return found;
}

namespace {

// Whoever fetches a value depends on what passes put before it, also where no update does.
void checkUnknown(const Scene& scene, mlir::Operation* op, mlir::Value operand) {
  mlir::Operation* maker = operand.getDefiningOp();
  const Reason* reason = scene.store.reasonOf(operand);
  if (!maker || maker->hasAttr(dist::kSrcAttr) || !reason || reason->why.empty() ||
      llvm::isa<pd::GetOp, pd::InputOp, pd::UndefOp>(maker))
    return;
  scene.report(op, reason->wrong ? Message::Level::Refuted : Message::Level::Unknown,
               reason->wrong ? reason->wrong : "unknown-relation",
               "takes " + nameText(operand) + ", of which nothing is known: " + typeOf(maker) +
                   " " + reason->why,
               "remove what was inserted there: what this op gives can be fetched");
}

}  // namespace

// What forward ops take is what the reference's take, to the factor: a fetch of what they give
// would report the factor. (Gradients carry one until they are reduced; updates demand theirs.)
void checkForward(const Scene& scene, mlir::Operation* op, mlir::Operation* reference) {
  if (pd::OpView(reference).role() & (pd::kBackward | pd::kOptimize)) return;
  for (mlir::Value operand : op->getOperands()) {
    Relation relation = scene.of(operand);
    if (!relation.known()) checkUnknown(scene, op, operand);
    if (!relation.known() || relation.gradient || relation.isZero || !relation.parts.known ||
        relation.parts.scale.isOne() || relation.parts.scale.isLost())
      continue;
    scene.report(op, Message::Level::Refuted, "scale",
                 "takes " + relation.parts.scale.text() + " times " + scene.describe(relation) +
                     ": what it gives, and what is fetched of it, is not the reference's",
                 "remove the factor on the way to this value");
    const Rational inverse(relation.parts.scale.denominator(), relation.parts.scale.numerator());
    relation.whole.scale = relation.whole.scale * inverse;
    relation.parts.scale = Rational();
    scene.store.correct(operand, std::move(relation));  // reported once
  }
}

namespace {

bool isSeed(mlir::Operation* reference) {
  int role = pd::OpView(reference).role();
  return (role & pd::kBackward) && (role & pd::kLoss);
}

// The framework names the seed after the loss.
int numberOfLoss(const Scene& scene, mlir::Operation* reference) {
  llvm::StringRef seed = pd::nameOf(reference->getResult(0));
  if (size_t at = seed.find("@GRAD"); at != llvm::StringRef::npos)
    return scene.reference().namedNumber(seed.take_front(at));
  return scene.reference().namedNumber(findLoss(reference->getParentOfType<pd::ProgramOp>()));
}

// Where there is one loss per share, the reference's loss is by definition their mean, and so the
// gradient of each is 1/n of what the seed says.
void seedPerShare(const Scene& scene, int loss, Relation& relation) {
  const Relation& of = scene.of(loss < 0 ? mlir::Value() : scene.store.lastFor(loss));
  if (!of.whole.known || !relation.whole.known) return;
  for (unsigned axis = 0; axis < scene.axes().count(); ++axis) {
    if (!of.whole.states[axis].isParts() || !relation.whole.states[axis].isReplicated()) continue;
    relation.whole.states[axis] = State::parts();
    relation.whole.scale = relation.whole.scale * Rational(scene.axes().sizes[axis]);
    relation.perShare = true;
  }
}

// Takes the record of a site, or the gradient of one value per share: what the op gives follows
// from that site.
bool readsShares(const Scene& scene, mlir::Operation* op) {
  return llvm::any_of(op->getOperands(), [&](mlir::Value value) {
    return scene.of(value).ofShare != 0 ||
           llvm::any_of(scene.of(value).whole.states,
                        [](const State& state) { return state.isParts(); });
  });
}

// What the rule has found, completed by what does not depend on rules: the number in the reference,
// whether it is a gradient, and the draw. The first op of a chain of sites is recorded; those that
// only hand on its shares are not.
void giveResults(const Scene& scene, mlir::Operation* op, mlir::Operation* reference,
                 RuleContext& context) {
  std::vector<Relation> results = context.takeResults();
  const bool seed = isSeed(reference);
  const bool gradient = seed || readsGradient(scene, op->getOperands());
  const bool summed = llvm::any_of(op->getOperands(),
                                   [&](mlir::Value operand) { return scene.of(operand).summed; });
  for (auto [i, relation] : llvm::enumerate(results)) {
    relation.reference = scene.reference().numberOf(reference->getResult(i));
    relation.gradient = gradient;
    relation.draw = drawBehind(scene, op->getOperands(), op->getResult(i));
    relation.summed = summed;
    // Of a gradient there is no such reading: no rank takes a step of its own with it.
    if (summed) relation.parts = gradient ? Reading() : overRanks(relation.whole, scene.axes());
    if (seed) seedPerShare(scene, numberOfLoss(scene, reference), relation);
    Reason reason = context.reasons()[i];
    losePads(scene, op, reference, relation, reason);
    if (!relation.known()) scene.store.noteReason(op->getResult(i), std::move(reason));
    scene.store.set(op->getResult(i), std::move(relation));
  }
  const Reason* site = context.site();
  if (site && (site->misfit || !readsShares(scene, op))) scene.store.addSite({op, *site});
}

// D30: a result is as large as the reference's, or as the part of it that its relation says. What
// is known when the step runs only is looked at then.
void checkExtents(const Scene& scene, mlir::Operation* op, mlir::Operation* reference) {
  for (auto [result, theirs] : llvm::zip(op->getResults(), reference->getResults())) {
    mlir::RankedTensorType own = pd::tensorOf(result.getType()),
                           all = pd::tensorOf(theirs.getType());
    if (!own || !all || own.getShape() == all.getShape()) continue;
    llvm::SmallVector<int64_t> part(all.getShape());
    const Reading& whole = scene.of(result).whole;
    const auto cut = [](int64_t& extent, int64_t size) {
      if (!mlir::ShapedType::isDynamic(extent)) extent = extent / size + (extent % size != 0);
    };
    for (unsigned a = 0; whole.known && a < scene.axes().count(); ++a)
      if (const State& state = whole.states[a]; state.isSplit() && state.dim != dist::kFlat)
        cut(part[state.dim], scene.axes().sizes[a]);
    for (unsigned a = 0; whole.known && a < scene.axes().count(); ++a) {
      if (const State& state = whole.states[a]; !state.isSplit() || state.dim != dist::kFlat)
        continue;
      part = {mlir::ShapedType::isDynamicShape(part) ? mlir::ShapedType::kDynamic
                                                     : mlir::ShapedType::getNumElements(part)};
      cut(part[0], scene.axes().sizes[a]);
    }
    bool fits = own.getRank() == static_cast<int64_t>(part.size());
    for (int64_t dim = 0; fits && dim < own.getRank(); ++dim)
      fits = own.isDynamicDim(dim) || own.getDimSize(dim) == part[dim] ||
             (own.getRank() == all.getRank() && own.getDimSize(dim) == all.getDimSize(dim));
    if (fits) continue;
    std::string text;
    llvm::raw_string_ostream(text)
        << "gives " << own << ", and the reference's op " << all << ", of which a rank has "
        << (whole.known ? textOf(whole, scene.axes()) : "what is not known");
    scene.report(op, whole.known ? Message::Level::Refuted : Message::Level::Unknown, "D30", text,
                 "keep the types of the reference where nothing is cut");
  }
}

// An operand or a result has extent 1 where the reference's has more.
bool hasUnitParts(mlir::Operation* op, mlir::Operation* reference) {
  const auto differ = [](mlir::Value mine, mlir::Value theirs) {
    if (mine.getType() == theirs.getType()) return false;
    const llvm::SmallVector<int64_t> own = dimsOf(mine), all = dimsOf(theirs);
    for (size_t i = 0; own.size() == all.size() && i < own.size(); ++i)
      if (own[i] == 1 && all[i] > 1) return true;
    return false;
  };
  for (auto [mine, theirs] : llvm::zip(op->getOperands(), reference->getOperands()))
    if (differ(mine, theirs)) return true;
  for (auto [mine, theirs] : llvm::zip(op->getResults(), reference->getResults()))
    if (differ(mine, theirs)) return true;
  return false;
}

bool haveEqualAttributes(mlir::Operation* op, mlir::Operation* reference) {
  return llvm::all_of(reference->getAttrs(), [&](mlir::NamedAttribute one) {
    return op->getAttr(one.getName()) == one.getValue();
  });
}

}  // namespace

// An op whose lineage is right: the rule of its type says what its results are.
void visitReferenceOp(const Scene& scene, mlir::Operation* op, mlir::Operation* reference,
                      const ParsedRule& rule) {
  // An extent of 1 is repeated beside a larger one, but not where it is that of a part: which it is
  // the reference's op shows. Rules ask for relations by operand. (Reshapes say extents of their
  // own, and tell parts of extent 1 by their relation.)
  const bool whole = !op->hasAttr(dist::kStreamsAttr) && hasUnitParts(op, reference) &&
                     !llvm::StringRef(rule.type).starts_with("reshape") &&
                     haveEqualAttributes(op, reference);
  RuleContext context(whole ? reference : op, rule, scene.axes(),
                      [&](mlir::Value value) -> const Relation& {
                        if (!whole) return scene.of(value);
                        const auto at = llvm::find(reference->getOperands(), value);
                        return at == reference->operand_end()
                                   ? scene.of({})
                                   : scene.of(op->getOperand(at - reference->operand_begin()));
                      });
  context.apply();
  for (const Violation& violation : context.violations())
    scene.report(op, Message::Level::Refuted, violation.rule, violation.text, violation.remedy);
  giveResults(scene, op, reference, context);
  checkExtents(scene, op, reference);
}

// The rule of the reference's op, asked about relations of the operands of a composite.
static void askReference(const Scene& scene, dist::CompositeOp composite,
                         mlir::Operation* reference,
                         llvm::function_ref<const Relation&(unsigned)> relationOf,
                         llvm::function_ref<void(RuleContext&)> finish) {
  const ParsedRule* rule = findRule(pd::OpView(reference).type());
  if (!rule)
    return scene.giveUnknown(composite, noRuleText(pd::OpView(reference).type()), reference);
  RuleContext context(reference, *rule, scene.axes(), [&](mlir::Value value) -> const Relation& {
    const auto at = llvm::find(reference->getOperands(), value);
    assert(at != reference->operand_end() && "a rule looks at operands");
    return relationOf(static_cast<unsigned>(at - reference->operand_begin()));
  });
  context.apply();
  finish(context);
  for (const Violation& violation : context.violations())
    scene.report(composite, Message::Level::Refuted, violation.rule, violation.text,
                 violation.remedy);
  giveResults(scene, composite, reference, context);
  checkExtents(scene, composite, reference);
}

// A lookup that servers answer stands for the reference's op on the whole table: its operands are
// the composite's, so the rule is asked in terms of the reference's op with relations of the
// composite's operands.
void visitLookup(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference) {
  std::string why;
  dist::LookupOp request = requestOf(composite, why);
  if (!request) {
    scene.report(composite, Message::Level::Refuted, "body", "is a lookup whose body " + why,
                 "let dist.lookup take the Ids, the variable in slot W and the padding of the op");
    return scene.giveUnknown(composite, "has another body than its op", reference);
  }
  if (scene.rpc && !scene.rpc->lookup(scene, composite, request))
    return scene.giveUnknown(composite, "asks servers for what they are not known to hold",
                             reference);
  // The rule is that of the op on the whole table.
  askReference(
      scene, composite, reference,
      [&](unsigned at) -> const Relation& { return scene.of(composite->getOperand(at)); },
      [](RuleContext&) {});
}

// Some operands lie in parts along one axis, and nothing else does: along this axis results lie as
// the form says, along all others as the rule of the op on the whole says.
void visitParts(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference) {
  const pd::OpView op(reference);
  std::string why;
  const PartForm* form = partForm(op, &why);
  if (!form)
    return scene.giveUnknown(composite, "is a composite of parts that its op has not: " + why,
                             reference);
  const int dim = form->dimOf(op);
  mlir::Value cut = op.input(form->cut);
  const auto first = llvm::find(reference->getOperands(), cut) - reference->operand_begin();
  llvm::SmallVector<Relation, 8> along;
  for (mlir::Value operand : composite.getInputs()) along.push_back(scene.of(operand));
  int axis = -1;
  for (unsigned a = 0; along[first].whole.known && a < scene.axes().count(); ++a)
    if (!scene.axes().isData[a] && along[first].whole.states[a] == State::split(dim))
      axis = static_cast<int>(a);
  bool fits = axis >= 0;
  for (auto [relation, operand] : llvm::zip(along, reference->getOperands()))
    fits = fits && relation.whole.known &&
           relation.whole.states[axis] == (operand == cut ? State::split(dim) : State());
  if (!fits)
    return scene.giveUnknown(composite,
                             "does not take parts of " + form->cut.str() +
                                 " along one axis, and what has no parts whole along it",
                             reference);
  if (std::string text =
          partBodyDiffers(composite, scene.axes().names[axis], scene.axes().sizes[axis]);
      !text.empty()) {
    scene.report(composite, Message::Level::Refuted, "body",
                 "is a composite whose body is not the definition of " + composite.getOp().str() +
                     ": it " + text,
                 "let the pass that makes composites write it");
    return scene.giveUnknown(composite, "has another body than its op", reference);
  }
  for (Relation& relation : along)
    for (Reading* reading : {&relation.whole, &relation.parts})
      if (reading->known) reading->states[axis] = {};
  askReference(
      scene, composite, reference, [&](unsigned at) -> const Relation& { return along[at]; },
      [&](RuleContext& context) {
        for (mlir::OpResult result : reference->getResults()) {
          const std::string slot = op.slotOf(result).first;
          context.adjust(slot, [&](Relation& relation) {
            for (Reading* reading : {&relation.whole, &relation.parts})
              if (reading->known) reading->states[axis] = form->resultOf(slot, dim);
          });
        }
      });
}

// A sum is linear: of terms that are summed and cut along a dim it is what it is of parts along
// that dim. So the rule of the op is asked about parts.
void visitTermSum(const Scene& scene, dist::CompositeOp composite, mlir::Operation* reference) {
  std::string why;
  const std::optional<TermSum> how = readTermSum(composite, why);
  dist::CommOp comm = how ? dist::lookupComm(composite, how->comm) : dist::CommOp();
  const int axis =
      comm && !comm.getSubset() && comm.getAxes().size() == 1
          ? scene.axes().indexOf(llvm::cast<mlir::StringAttr>(comm.getAxes()[0]).getValue())
          : -1;
  if (how && axis < 0) why = "sums over other ranks than those of one axis";
  if (!why.empty()) {
    scene.report(composite, Message::Level::Refuted, "body",
                 "is a composite whose body is not the definition of " + composite.getOp().str() +
                     ": it " + why,
                 "let the pass that makes composites write it");
    return scene.giveUnknown(composite, "has another body than its op", reference);
  }
  const State part = State::split(how->dim);
  llvm::SmallVector<Relation, 8> along;
  for (auto [operand, isTerm] : llvm::zip(composite.getInputs(), how->isTerm)) {
    Relation relation = scene.of(operand);
    for (Reading* reading : {&relation.whole, &relation.parts}) {
      if (!reading->known || !isTerm) continue;
      // Parts of one dim along two axes are ordered as the axes of the mesh are: not asked here.
      const bool apart = llvm::none_of(reading->states, [&](const State& state) {
        return state.isSplit() && (state.dim == how->dim || state.dim == dist::kFlat);
      });
      if (apart && reading->states[axis] == State::partial(dist::Reduce::Sum))
        reading->states[axis] = part;
      else *reading = {};
    }
    if (!relation.whole.known)
      return scene.giveUnknown(composite,
                               "sums and cuts a value that is no term of a sum, or is of "
                               "unknown relation",
                               reference, operand);
    along.push_back(std::move(relation));
  }
  askReference(
      scene, composite, reference, [&](unsigned at) -> const Relation& { return along[at]; },
      [](RuleContext&) {});
}

}  // namespace dtranspile::verify
