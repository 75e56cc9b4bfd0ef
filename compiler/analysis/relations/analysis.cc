#include "compiler/analysis/relations/analysis.h"

#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/kinds.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/APFloat.h"

namespace dtranspile::verify {
namespace {

// Ops that a pass may insert: each is the identity up to scale and precision.
enum class Inserted { No, Scale, Copy, Cast, Sum, Difference, Zero };

Inserted insertedKind(llvm::StringRef type) {
  static const std::pair<llvm::StringRef, Inserted> kinds[] = {
      {"scale", Inserted::Scale},
      {"assign", Inserted::Copy},
      {"cast", Inserted::Cast},
      {"elementwise_add", Inserted::Sum},
      {"sum", Inserted::Sum},
      {"fill_constant", Inserted::Zero},
      {"fill_zeros_like", Inserted::Zero},
      {"elementwise_sub", Inserted::Difference},
  };
  for (const auto& [name, kind] : kinds)
    if (name == type) return kind;
  return Inserted::No;
}

// What a cast does to the numbers it is given.
enum class Conversion { Exact, Rounds, Changes };

// Integers are exact in a float whose significand is as long as they are; a float has a value among
// the integers by chance only.
Conversion conversionOf(mlir::Value from, mlir::Value to) {
  auto elementOf = [](mlir::Value value) -> mlir::Type {
    mlir::RankedTensorType tensor = pd::tensorOf(dist::unlocated(value.getType()));
    return tensor ? tensor.getElementType() : mlir::Type();
  };
  mlir::Type a = elementOf(from), b = elementOf(to);
  if (!a || !b) return Conversion::Changes;
  if (a == b) return Conversion::Exact;
  if (!a.isIntOrFloat() || !b.isIntOrFloat()) return Conversion::Changes;
  auto floatA = llvm::dyn_cast<mlir::FloatType>(a), floatB = llvm::dyn_cast<mlir::FloatType>(b);
  if (floatA && floatB)
    return llvm::APFloat::isRepresentableBy(floatA.getFloatSemantics(), floatB.getFloatSemantics())
               ? Conversion::Exact
               : Conversion::Rounds;
  if (floatB)
    return a.getIntOrFloatBitWidth() <= floatB.getFPMantissaWidth() ? Conversion::Exact
                                                                    : Conversion::Rounds;
  return !floatA && !b.isUnsignedInteger() && b.getIntOrFloatBitWidth() > a.getIntOrFloatBitWidth()
             ? Conversion::Exact
             : Conversion::Changes;
}

int64_t sourceNumber(mlir::Operation* op) {
  auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
  return number ? number.getInt() : -1;
}

}  // namespace

Contracts Contracts::of(mlir::ModuleOp job) {
  Contracts contracts;
  auto list = job->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr);
  if (!list) return contracts;
  for (mlir::Attribute entry : list) {
    if (auto tag = llvm::dyn_cast<mlir::StringAttr>(entry)) contracts.sites[tag.getValue().str()];
    auto fields = llvm::dyn_cast<mlir::DictionaryAttr>(entry);
    auto tag = fields ? fields.getAs<mlir::StringAttr>("tag") : mlir::StringAttr();
    if (!tag) continue;
    std::set<std::string>& sites = contracts.sites[tag.getValue().str()];
    if (auto names = fields.getAs<mlir::ArrayAttr>("sites"))
      for (mlir::Attribute name : names)
        if (auto text = llvm::dyn_cast<mlir::StringAttr>(name)) sites.insert(text.getValue().str());
  }
  return contracts;
}

Axes axesOf(dist::RoleOp role) {
  Axes axes;
  dist::MeshOp mesh = dist::meshOf(role);
  if (!mesh) return axes;
  auto add = [&](mlir::ArrayAttr names, llvm::ArrayRef<int64_t> sizes) {
    for (auto [name, size] : llvm::zip(names.getAsValueRange<mlir::StringAttr>(), sizes)) {
      axes.names.push_back(name.str());
      axes.sizes.push_back(size);
      axes.isData.push_back(false);
    }
  };
  add(mesh.getAxes(), mesh.getSizes());
  add(mesh.getTimeAxes(), mesh.getTimeSizes());
  role->walk([&](pd::InputOp input) {
    if (auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr))
      for (mlir::StringAttr name : batch.getAxes())
        if (int axis = axes.indexOf(name.getValue()); axis >= 0) axes.isData[axis] = true;
  });
  return axes;
}

Analysis::Analysis(dist::RoleOp role, pd::ProgramOp program, const Reference& reference,
                   const Contracts& contracts, bool startup, Rung& report)
    : role_(role),
      program_(program),
      reference_(reference),
      contracts_(contracts),
      startup_(startup),
      report_(report),
      axes_(axesOf(role)) {}

void Analysis::run() {
  declareVariables();
  visit(*program_.getBodyBlock());
  checkVariables();
  reportScales();
  reachSites();
}

const Relation& Analysis::of(mlir::Value value) const {
  auto found = relations_.find(value);
  return found == relations_.end() ? none_ : found->second;
}

const Relation* Analysis::ofVariable(llvm::StringRef name) const {
  auto found = variables_.find(name.str());
  return found == variables_.end() ? nullptr : &found->second.now;
}

void Analysis::set(mlir::Value value, Relation relation) {
  if (relation.reference >= 0 && !relation.minuend) lastFor_[relation.reference] = value;
  relations_[value] = std::move(relation);
}

void Analysis::lose(mlir::Value value, Loss loss) {
  relations_[value] = {};
  losses_[value] = std::move(loss);
}

void Analysis::declareVariables() {
  for (auto var : role_.getBody().front().getOps<pd::VarOp>()) {
    Variable variable;
    variable.op = var;
    variable.reference = var.getSymName().str();
    variable.declared = Reading::replicated(axes_);
    if (auto relation = var->getAttrOfType<dist::RelAttr>(dist::kRelAttr)) {
      variable.reference = relation.getVariable().getValue().str();
      variable.declared = readingOf(relation, axes_);
      variable.tags.assign(relation.getTags().begin(), relation.getTags().end());
    }
    if (!startup_) {
      variable.now.reference = reference_.initialNumber(variable.reference);
      variable.now.whole = variable.now.parts = variable.declared;
      variable.now.addTags(variable.tags);
    }
    variables_.emplace(var.getSymName().str(), std::move(variable));
  }
}

void Analysis::visit(mlir::Block& block) {
  for (mlir::Operation& op : block) {
    visit(op);
    checkClaims(&op);
  }
}

void Analysis::visit(mlir::Operation& op) {
  if (auto input = llvm::dyn_cast<pd::InputOp>(op)) return visitInput(input);
  if (auto get = llvm::dyn_cast<pd::GetOp>(op)) {
    auto found = variables_.find(get.getVar().str());
    if (found == variables_.end()) return;
    if (!found->second.now.known())
      losses_[get.getValue()] = {"`" + found->first + "` holds nothing yet", -1, {}};
    return set(get.getValue(), found->second.now);
  }
  if (auto assign = llvm::dyn_cast<pd::SetOp>(op)) {
    auto found = variables_.find(assign.getVar().str());
    if (found == variables_.end()) return;
    found->second.now = of(assign.getValue());
    found->second.setter = &op;
    return;
  }
  if (auto undef = llvm::dyn_cast<pd::UndefOp>(op)) {
    Relation relation;
    relation.whole = relation.parts = Reading::replicated(axes_);
    relation.isZero = true;  // nothing is in it yet: it fits whatever it is joined with
    return set(undef.getValue(), relation);
  }
  if (llvm::isa_and_nonnull<dist::DistDialect>(op.getDialect())) return visitDist(&op);
  if (pd::OpView::isFrameworkOp(&op)) return visitFramework(&op);
}

// A cut feed is split as a whole, and in the parts reading each rank's share is its share.
void Analysis::visitInput(pd::InputOp input) {
  Relation relation;
  relation.reference = reference_.inputNumber(input.getName());
  relation.whole = relation.parts = Reading::replicated(axes_);
  if (auto batch = input->getAttrOfType<dist::BatchAttr>(dist::kBatchAttr))
    for (mlir::StringAttr name : batch.getAxes()) {
      int axis = axes_.indexOf(name.getValue());
      if (axis < 0 || axes_.sizes[axis] == 1) continue;
      relation.whole.states[axis] = State::split(batch.getDim());
      relation.parts.states[axis] = State::parts();
    }
  set(input.getValue(), std::move(relation));
}

void Analysis::giveUnknown(mlir::Operation* op, const std::string& why, mlir::Operation* reference,
                           mlir::Value operand) {
  for (mlir::OpResult result : op->getResults()) {
    lose(result, {why, -1, operand});
    if (reference && result.getResultNumber() < reference->getNumResults())
      relations_[result].reference =
          reference_.numberOf(reference->getResult(result.getResultNumber()));
  }
}

bool Analysis::lineageHolds(mlir::Operation* op, mlir::Operation* reference) {
  if (op->getName() == reference->getName() &&
      op->getNumOperands() == reference->getNumOperands() &&
      op->getNumResults() == reference->getNumResults())
    return operandsStandFor(op, reference);
  giveUnknown(op, "does not have the form of the op of the reference that it stands for",
              reference);
  return false;
}

// Operand i of the op stands for operand i of the reference's op. A wrong one is refuted; one that
// stands for nothing known makes the results unknown.
bool Analysis::operandsStandFor(mlir::Operation* op, mlir::Operation* reference) {
  bool known = true;
  for (auto [own, theirs] : llvm::zip(op->getOperands(), reference->getOperands())) {
    const Relation& relation = of(own);
    int wanted = reference_.numberOf(theirs);
    bool nothing = theirs.getDefiningOp<pd::UndefOp>() && own.getDefiningOp<pd::UndefOp>();
    if (nothing || relation.standsFor(wanted)) continue;
    if (relation.reference < 0) {
      giveUnknown(op, "takes a value of which it is not known what it stands for", reference, own);
      known = false;
      continue;
    }
    report(
        op, Message::Level::Refuted, "lineage",
        "takes " + describe(relation) + " where the reference takes " + reference_.describe(wanted),
        "give it the value that stands for " + reference_.describe(wanted) +
            ", or correct dist.src");
    Relation assumed = relation;  // report it once
    assumed.reference = wanted;
    assumed.minuend = {};
    relations_[own] = assumed;
  }
  return known;
}

void Analysis::visitFramework(mlir::Operation* op) {
  if (inComposite_) return visitLocal(op);
  pd::OpView view(op);
  int64_t number = sourceNumber(op);
  mlir::Operation* reference = reference_.op(number);
  const ParsedRule* rule = findRule(view.type());
  if (number >= 0 && !reference)
    return giveUnknown(
        op, "stands for op " + std::to_string(number) + ", which the reference does not have");
  if (!reference) {
    if (!rule || insertedKind(view.type()) == Inserted::No)
      return giveUnknown(
          op, "was inserted, and is none of the ops that keep a value up to scale and precision");
    return visitInserted(op, *rule);
  }
  if (!lineageHolds(op, reference)) return;
  if (isUpdate(op, reference)) demandReduced(op);
  if (op->getNumRegions()) return visitControlFlow(op, reference);
  if (!rule) return giveUnknown(op, "has no relation rule", reference);
  RuleContext context(op, *rule, axes_,
                      [&](mlir::Value value) -> const Relation& { return of(value); });
  rule->rule(context);
  for (const Violation& violation : context.violations())
    report(op, Message::Level::Refuted, violation.rule, violation.text, violation.remedy);
  giveResults(op, reference, context);
}

// Why neither reading is known: that of the parts reading, unless the whole one ended by itself
// here. Only the parts reading can be wrong for good: where the whole one does not fit along a data
// axis, a job may still be right in parts.
Loss Analysis::lossOf(const Loss& whole, const Loss& parts) const {
  bool wentOn = whole.operand && of(whole.operand).parts.known;
  bool alongData = whole.axis >= 0 && axes_.isData[whole.axis];
  if (parts.wrong || wentOn || alongData) return parts;
  Loss loss = whole;
  loss.wrong = false;
  return loss;
}

void Analysis::giveResults(mlir::Operation* op, mlir::Operation* reference, RuleContext& context) {
  std::vector<Relation> results = context.takeResults();
  bool operandsWhole =
      llvm::all_of(op->getOperands(), [&](mlir::Value value) { return of(value).whole.known; });
  const Loss* lost = nullptr;
  for (auto [i, relation] : llvm::enumerate(results)) {
    relation.reference = reference_.numberOf(reference->getResult(i));
    if (!relation.known()) {
      losses_[op->getResult(i)] = lossOf(context.wholeLosses()[i], context.partsLosses()[i]);
    } else if (!relation.whole.known && !lost) {
      lost = &context.wholeLosses()[i];
    }
    set(op->getResult(i), std::move(relation));
  }
  if (lost && operandsWhole) sites_.push_back({op, *lost});
}

// An inserted op keeps what its operand stands for.
void Analysis::visitInserted(mlir::Operation* op, const ParsedRule& rule) {
  pd::OpView view(op);
  Inserted kind = insertedKind(view.type());
  if (kind == Inserted::Sum) return visitSum(op);
  if (kind == Inserted::Difference) return visitDifference(op);
  RuleContext context(op, rule, axes_,
                      [&](mlir::Value value) -> const Relation& { return of(value); });
  rule.rule(context);
  std::vector<Relation> results = context.takeResults();
  if (results.empty()) return;
  Relation relation = std::move(results[0]);
  Rational factor;
  if (kind == Inserted::Scale) {
    factor = view.getFloat("bias") != 0 || view.hasInput("ScaleTensor")
                 ? Rational::lost()
                 : Rational::ofFloat(view.getFloat("scale"));
    if (factor.isLost())
      return giveUnknown(op,
                         "was inserted with a bias or a factor that is not known while compiling");
  }
  Conversion conversion = kind == Inserted::Cast ? conversionOf(view.input("X"), view.output("Out"))
                                                 : Conversion::Exact;
  if (conversion == Conversion::Changes)
    return giveUnknown(op, "was inserted and changes values by more than their precision", nullptr,
                       view.input("X"));
  for (Reading* reading : {&relation.whole, &relation.parts})
    reading->scale = reading->scale * factor;
  if (op->getNumOperands() && kind != Inserted::Zero) {
    relation.reference = of(op->getOperand(0)).reference;
    relation.minuend = of(op->getOperand(0)).minuend;
  }
  if (!relation.known()) losses_[op->getResult(0)] = context.wholeLosses()[0];
  // Rounding is a deviation, and does not commute with the sum of a partial value either.
  bool partial =
      relation.known() && llvm::any_of(relation.reading().states, [](const State& state) {
        return state.isPartial() || state.isParts();
      });
  if (kind == Inserted::Cast && (partial || conversion == Conversion::Rounds))
    relation.addTags(mlir::StringAttr::get(op->getContext(), "fp16_wire"));
  set(op->getResult(0), std::move(relation));
}

// Accumulation: all terms stand for the same value, and their scales add up; zeros are skipped.
void Analysis::visitSum(mlir::Operation* op) {
  Relation sum;
  sum.isZero = true;
  for (mlir::Value operand : op->getOperands()) {
    const Relation& term = of(operand);
    if (term.isZero && term.known()) continue;
    if (!term.known()) return giveUnknown(op, "adds a value of unknown relation");
    if (sum.isZero) {
      sum = term;
      continue;
    }
    if (!sum.sameValue(term))
      return giveUnknown(op, "was inserted and adds values that stand for different ones");
    for (auto [mine, other] :
         {std::pair(&sum.whole, &term.whole), std::pair(&sum.parts, &term.parts)}) {
      mine->known = mine->known && other->known && mine->states == other->states;
      if (mine->known) mine->scale = mine->scale + other->scale;
    }
    sum.addTags(term.tags);
  }
  if (sum.isZero) sum.whole = sum.parts = Reading::replicated(axes_);
  set(op->getResult(0), std::move(sum));
}

std::string Analysis::describe(const Relation& relation) const {
  std::string text = reference_.describe(relation.reference);
  return relation.minuend ? "the difference of " + nameText(relation.minuend) + " and " + text
                          : text;
}

// The template of local SGD: s − k·Σ(s − w) over n ranks is the mean of the ranks' w where k·n = 1,
// whatever s is, as long as it is one value and equal on all of them. The inner difference is kept
// as such (Relation::minuend) until the outer one takes it from the same s.
void Analysis::visitDifference(mlir::Operation* op) {
  pd::OpView view(op);
  mlir::Value minuend = view.input("X"), subtrahend = view.input("Y");
  const Relation& from = of(minuend);
  Relation result = of(subtrahend);
  auto uniform = [](const State& state) { return state.isReplicated() || state.isDifferent(); };
  bool element = minuend.getType() == subtrahend.getType() && result.known() &&
                 result.reference >= 0 && llvm::all_of(result.reading().states, uniform);
  if (!element || from.minuend || !from.reading().isReplicated())
    return giveUnknown(op,
                       "was inserted and subtracts, and is none of the two differences by which "
                       "replicas are averaged");
  if (result.whole.known && !(result.parts == result.whole)) result.parts = {};
  if (!result.minuend) {
    if (!result.reading().scale.isOne())
      return giveUnknown(op, "was inserted and subtracts a multiple", nullptr, subtrahend);
    result.minuend = minuend;
    return set(op->getResult(0), std::move(result));
  }
  if (result.minuend != minuend) {
    if (from.reference < 0 || from.reference == of(result.minuend).reference)
      return giveUnknown(op,
                         "was inserted and takes a difference from a value that may be another "
                         "than it was made with");
    report(op, Message::Level::Refuted, "lineage",
           "takes " + describe(result) + " from " + reference_.describe(from.reference) +
               ": that is no mean of the ranks' values",
           "take it from " + nameText(result.minuend) + ", of which it is the difference");
  } else if (Rational scale = result.reading().scale; !scale.isOne()) {
    report(op, Message::Level::Refuted, "scale",
           "takes " + scale.text() + " times the mean difference of " + nameText(minuend) +
               " and the ranks' values from it; it must be 1",
           "sum the differences once, and multiply them by 1/n (n: number of ranks)");
  }
  result.minuend = {};  // reported once
  for (Reading* reading : {&result.whole, &result.parts})
    if (reading->known) reading->scale = Rational();
  set(op->getResult(0), std::move(result));
}

// What a pass wrote down is a claim: a missing one is no error, a wrong one is.
void Analysis::checkClaims(mlir::Operation* op) {
  mlir::Attribute attribute = op->getAttr(dist::kRelAttr);
  if (!attribute || llvm::isa<pd::VarOp>(op)) return;
  auto list = llvm::dyn_cast<mlir::ArrayAttr>(attribute);
  for (mlir::OpResult result : op->getResults()) {
    unsigned i = result.getResultNumber();
    mlir::Attribute one = list ? (i < list.size() ? list[i] : mlir::Attribute()) : attribute;
    auto claim = llvm::dyn_cast_or_null<dist::RelAttr>(one);
    if (!claim) continue;
    Reading claimed = readingOf(claim, axes_);
    const Relation& found = of(result);
    if (!claimed.known || !found.known() || claimed == found.whole || claimed == found.parts)
      continue;
    report(op, Message::Level::Refuted, "claim",
           "claims that " + nameText(result) + " is " + textOf(claimed, axes_) + "; it is " +
               textOf(found.reading(), axes_),
           "correct the op's dist.rel, or the pass that wrote it");
  }
}

}  // namespace dtranspile::verify
