// Ops that passes put in: identities up to scale and precision, sums, and the two differences by
// which replicas are averaged.
#include "compiler/analysis/position.h"
#include "compiler/analysis/relations/transfer.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"
#include "llvm/ADT/APFloat.h"

namespace dtranspile::verify {
namespace {

// Ops that a pass may insert: each is the identity up to scale and precision.
enum class Inserted { No, Scale, Copy, Cast, Sum, Difference, Zero, Extremum };

// The closed list of what a pass may put beside the ops of the reference. Each kind has a rule for
// what it does to scale and state; an op that is not here and stands for nothing makes its results
// unknown.
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
      {"elementwise_max", Inserted::Extremum},
      {"elementwise_min", Inserted::Extremum},
      {"logical_or", Inserted::Extremum},
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

// All that an inserted op takes and gives has one shape: what it adds is not spread over a larger
// one. Extents that are known when the step runs only agree where zeros are made like the value
// that they are added to.
bool keepsShape(mlir::Operation* op) {
  auto dims = [](mlir::Value value) {
    mlir::RankedTensorType tensor = pd::tensorOf(dist::unlocated(value.getType()));
    return tensor ? pd::dimsOf(tensor) : llvm::SmallVector<int64_t>();
  };
  llvm::SmallVector<mlir::Value> values(op->getResults());
  values.append(op->operand_begin(), op->operand_end());
  return llvm::all_of(values,
                      [&](mlir::Value value) { return dims(value) == dims(values.front()); });
}

// Zeros of the shape of `like`: of static extents that the op that makes them is given, or made
// like it.
bool fitsZeros(mlir::Value zeros, mlir::Value like) {
  mlir::RankedTensorType type = pd::tensorOf(dist::unlocated(like.getType()));
  if (isAccumulator(zeros))
    return type && type.hasStaticShape() &&
           dist::unlocated(zeros.getType()) == dist::unlocated(like.getType());
  mlir::Operation* op = zeros.getDefiningOp();
  if (!op || !pd::OpView::isFrameworkOp(op)) return false;
  pd::OpView view(op);
  if (view.type() == "fill_zeros_like") return view.input("X") == like;
  if (view.type() != "fill_constant" || !type || !type.hasStaticShape() ||
      op->getNumOperands() != 0)
    return false;
  llvm::SmallVector<int64_t> dims = pd::dimsOf(type);
  return llvm::ArrayRef<int64_t>(view.getInts("shape")) == llvm::ArrayRef<int64_t>(dims);
}

// The contract fp16_wire is about values on their way between ranks, and no others.
void checkWire(const Scene& scene, mlir::Operation* op, mlir::Value operand) {
  const bool onWire = llvm::all_of(op->getResult(0).getUsers(), [](mlir::Operation* user) {
    return static_cast<bool>(dist::commOf(user));
  });
  if (onWire) return;
  scene.report(
      op, Message::Level::Refuted, "contract",
      "rounds " + nameText(operand) +
          ", and not on its way between ranks, which is all that the contract \"fp16_wire\" "
          "is about",
      "remove the cast, or put it right before the communication");
}

// Whether a loop over blocks hands on the result of the op, and nobody else reads it.
bool isHandedOn(mlir::Operation* op) {
  mlir::Value result = op->getResult(0);
  auto yield = result.hasOneUse() ? llvm::dyn_cast<dist::YieldOp>(*result.user_begin()) : nullptr;
  return yield && llvm::isa<dist::ForeachBlockOp>(yield->getParentOp());
}

// The largest or smallest so far, or whether any is true, of what a loop over blocks has come to:
// its term, which the loop puts together (loops.cc). Between any other values the choice is none of
// the reference's.
void visitExtremum(const Scene& scene, mlir::Operation* op) {
  llvm::SmallVector<mlir::Value> terms;
  for (mlir::Value operand : op->getOperands())
    if (!isAccumulator(operand)) terms.push_back(operand);
  if (op->getNumOperands() != 2 || terms.size() != 1 || !isHandedOn(op))
    return scene.giveUnknown(op, "was inserted and chooses between values");
  Relation relation = scene.of(terms[0]);
  if (!relation.known() || relation.isZero)
    return scene.giveUnknown(op, "chooses a value of unknown relation", nullptr, terms[0]);
  scene.store.set(op->getResult(0), std::move(relation));
}

// Accumulation: all terms stand for the same value, and their scales add up; zeros are skipped.
void visitSum(const Scene& scene, mlir::Operation* op) {
  Relation sum;
  sum.isZero = true;
  auto first =
      llvm::find_if(op->getOperands(), [&](mlir::Value value) { return !scene.of(value).isZero; });
  for (mlir::Value operand : op->getOperands()) {
    const Relation& term = scene.of(operand);
    if (term.isZero && term.known()) {
      if (first == op->operand_end() || fitsZeros(operand, *first)) continue;
      return scene.giveUnknown(op, "was inserted and adds zeros that may be of another shape");
    }
    if (!term.known()) return scene.giveUnknown(op, "adds a value of unknown relation");
    if (sum.isZero) {
      sum = term;
      continue;
    }
    if (!sum.sameValue(term))
      return scene.giveUnknown(op, "was inserted and adds values that stand for different ones");
    for (auto [mine, other] :
         {std::pair(&sum.whole, &term.whole), std::pair(&sum.parts, &term.parts)}) {
      mine->known = mine->known && other->known && mine->states == other->states;
      if (mine->known) mine->scale = mine->scale + other->scale;
    }
    sum.perShare |= term.perShare;
    sum.addTags(term.tags);
  }
  if (sum.isZero) sum.whole = sum.parts = Reading::replicated(scene.axes());
  scene.store.set(op->getResult(0), std::move(sum));
}

// The template of local SGD: s − k·Σ(s − w) over n ranks is the mean of the ranks' w where k·n = 1,
// whatever s is, as long as it is one value and equal on all of them. The inner difference is kept
// as such (Relation::minuend) until the outer one takes it from the same s.
void visitDifference(const Scene& scene, mlir::Operation* op) {
  pd::OpView view(op);
  mlir::Value minuend = view.input("X"), subtrahend = view.input("Y");
  const Relation& from = scene.of(minuend);
  Relation result = scene.of(subtrahend);
  auto uniform = [](const State& state) { return state.isReplicated() || state.isDifferent(); };
  bool element = minuend.getType() == subtrahend.getType() && result.known() &&
                 result.reference >= 0 && llvm::all_of(result.reading().states, uniform);
  if (!element || from.minuend || !from.reading().isReplicated())
    return scene.giveUnknown(
        op,
        "was inserted and subtracts, and is none of the two differences by which "
        "replicas are averaged");
  if (result.whole.known && !(result.parts == result.whole)) result.parts = {};
  if (!result.minuend) {
    if (!result.reading().scale.isOne())
      return scene.giveUnknown(op, "was inserted and subtracts a multiple", nullptr, subtrahend);
    result.minuend = minuend;
    return scene.store.set(op->getResult(0), std::move(result));
  }
  if (result.minuend != minuend) {
    if (from.reference < 0 || from.reference == scene.of(result.minuend).reference)
      return scene.giveUnknown(
          op,
          "was inserted and takes a difference from a value that may be another "
          "than it was made with");
    scene.report(op, Message::Level::Refuted, "lineage",
                 "takes " + scene.describe(result) + " from " +
                     scene.reference().describe(from.reference) +
                     ": that is no mean of the ranks' values",
                 "take it from " + nameText(result.minuend) + ", of which it is the difference");
  } else if (Rational scale = result.reading().scale; !scale.isOne()) {
    scene.report(op, Message::Level::Refuted, "scale",
                 "takes " + scale.text() + " times the mean difference of " + nameText(minuend) +
                     " and the ranks' values from it; it must be 1",
                 "sum the differences once, and multiply them by 1/n (n: number of ranks)");
  }
  result.minuend = {};  // reported once
  for (Reading* reading : {&result.whole, &result.parts})
    if (reading->known) reading->scale = Rational();
  scene.store.set(op->getResult(0), std::move(result));
}

}  // namespace

// Counts and comparisons of the job's own, of numbers that are equal on all ranks and stand for
// nothing of the reference.
static bool isCount(const Scene& scene, mlir::Operation* op) {
  const pd::OpSpec* spec = pd::OpView(op).spec();
  if (!spec || spec->effects != pd::kPure || op->getNumRegions() || op->getNumOperands() == 0)
    return false;
  return llvm::all_of(op->getResultTypes(),
                      [](mlir::Type type) {
                        mlir::RankedTensorType tensor = pd::tensorOf(dist::unlocated(type));
                        return tensor && tensor.getElementType().isInteger();
                      }) &&
         llvm::all_of(op->getOperands(), [&](mlir::Value operand) {
           const Relation& relation = scene.of(operand);
           return relation.known() && relation.reference < 0 && relation.whole.isReplicated();
         });
}

// An inserted op keeps what its operand stands for.
void visitInserted(const Scene& scene, mlir::Operation* op) {
  if (isCount(scene, op)) {
    Relation relation;
    relation.whole = relation.parts = Reading::replicated(scene.axes());
    for (mlir::Value result : op->getResults()) scene.store.set(result, relation);
    return;
  }
  pd::OpView view(op);
  const ParsedRule* rule = findRule(view.type());
  Inserted kind = insertedKind(view.type());
  if (!rule || kind == Inserted::No) {
    // What it gives is unknown where it is used; what else it does would go unnoticed.
    const pd::OpSpec* spec = view.spec();
    if (!spec || spec->effects != pd::kPure || op->getNumRegions())
      scene.report(op, Message::Level::Unknown, "inserted",
                   "was inserted, and does more than to keep a value up to scale and precision",
                   "remove it, or say with dist.src which op of the reference it stands for");
    return scene.giveUnknown(
        op, "was inserted, and is none of the ops that keep a value up to scale and precision");
  }
  if (!keepsShape(op))
    return scene.giveUnknown(op, "was inserted and gives another shape than it is given");
  if (kind == Inserted::Sum) return visitSum(scene, op);
  if (kind == Inserted::Difference) return visitDifference(scene, op);
  if (kind == Inserted::Extremum) return visitExtremum(scene, op);
  RuleContext context(op, *rule, scene.axes(),
                      [&](mlir::Value value) -> const Relation& { return scene.of(value); });
  context.apply();
  std::vector<Relation> results = context.takeResults();
  if (results.empty()) return;
  Relation relation = std::move(results[0]);
  Rational factor;
  if (kind == Inserted::Scale) {
    factor = view.getFloat("bias") != 0 || view.hasInput("ScaleTensor")
                 ? Rational::lost()
                 : Rational::ofFloat(view.getFloat("scale"));
    if (factor.isLost())
      return scene.giveUnknown(
          op, "was inserted with a bias or a factor that is not known while compiling");
  }
  if (kind == Inserted::Zero && view.hasAttr("shape") && op->getNumOperands() == 0) {
    const mlir::RankedTensorType type = pd::tensorOf(view.output("Out").getType());
    const std::vector<int64_t> made = view.getInts("shape");
    if (type && llvm::ArrayRef<int64_t>(made) != llvm::ArrayRef<int64_t>(pd::dimsOf(type)))
      return scene.giveUnknown(op, "was inserted and makes other extents than its result has");
  }
  Conversion conversion = kind == Inserted::Cast ? conversionOf(view.input("X"), view.output("Out"))
                                                 : Conversion::Exact;
  if (conversion == Conversion::Changes)
    return scene.giveUnknown(op, "was inserted and changes values by more than their precision",
                             nullptr, view.input("X"));
  if (conversion == Conversion::Rounds && relation.known()) checkWire(scene, op, view.input("X"));
  if (op->getNumOperands() && kind != Inserted::Zero) {
    relation.follow(scene.of(op->getOperand(0)));
  }
  // A power times its rate is the next one, which an update op of the reference hands on.
  const Reference::Multiple next = scene.reference().powerBehind(relation.reference);
  const bool power =
      kind == Inserted::Scale && next.number >= 0 && next.factor == view.getFloat("scale");
  if (power) relation.reference = next.number;
  for (Reading* reading : {&relation.whole, &relation.parts})
    reading->scale = power ? reading->scale : reading->scale * factor;
  if (!relation.known()) scene.store.noteReason(op->getResult(0), context.reasons()[0]);
  // Rounding is a deviation, and does not commute with the sum of a partial value either.
  bool partial =
      relation.known() && llvm::any_of(relation.reading().states, [](const State& state) {
        return state.isPartial() || state.isParts();
      });
  if (kind == Inserted::Cast && (partial || conversion == Conversion::Rounds)) {
    relation.addTags(mlir::StringAttr::get(op->getContext(), "fp16_wire"));
    llvm::StringRef name = dist::nameOf(view.input("X"));
    scene.store.addRounded((name.empty() ? pd::nameOf(op->getResult(0)) : name).str());
  }
  scene.store.set(op->getResult(0), std::move(relation));
}

}  // namespace dtranspile::verify
