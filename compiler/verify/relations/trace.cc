// One mistake makes many values unknown. Messages go back from a value of which nothing is known to
// the op that lost it: each unknown value has a reason, which may name an operand that was unknown
// before; the chain ends at an op whose operands are known, and that one is reported, once, whoever
// asks. Where its reason names a rule that is broken the verdict is refuted, else the cause is a
// rule that is missing, and the verdict stays open.
#include "compiler/verify/relations/trace.h"

#include "compiler/analysis/position.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {

void report(Rung& findings, mlir::Operation* op, Message::Level level, std::string rule,
            std::string text, std::string remedy, std::vector<std::string> notes) {
  Message message = messageAt(op, level, std::move(rule), std::move(text), std::move(remedy));
  message.notes = std::move(notes);
  findings.add(std::move(message));
}

// The op that was started, of what is waited for.
mlir::Operation* producerOf(mlir::Value value) {
  mlir::Operation* op = value.getDefiningOp();
  if (auto wait = llvm::dyn_cast_or_null<dist::WaitOp>(op))
    return wait.getPending().getDefiningOp();
  return op;
}

// One step back along a chain in which a value is the same quantity: through communication and
// through inserted ops of one operand (scales, casts). Null where the chain begins.
mlir::Value madeFrom(mlir::Value value) {
  mlir::Operation* op = producerOf(value);
  if (!op || op->getNumRegions() || op->hasAttr(dist::kSrcAttr) || op->getNumOperands() == 0)
    return {};
  bool dist = llvm::isa_and_nonnull<dist::DistDialect>(op->getDialect());
  if (!dist && (!pd::OpView::isFrameworkOp(op) || op->getNumOperands() != 1)) return {};
  unsigned index = llvm::cast<mlir::OpResult>(value).getResultNumber();
  return index < op->getNumOperands() ? op->getOperand(index) : mlir::Value();
}

bool reduces(mlir::Operation* op) {
  return llvm::isa<dist::AllReduceOp, dist::ReduceOp, dist::ReduceScatterOp>(op);
}

// For remedies: a communicator of the job that would do, or what one to declare.
std::string commFor(const Question& question, const Axes& axes, unsigned axis) {
  mlir::Operation* job = dist::jobOf(question.role);
  for (auto comm : job->getRegion(0).getOps<dist::CommOp>())
    if (comm.getAxes().size() == 1 && comm.overAxis(axes.names[axis]))
      return "@" + comm.getSymName().str();
  return "a comm over [" + axes.names[axis] + "]";
}

std::string referenceName(const Question& question, const Relation& relation, mlir::Value value) {
  std::string name =
      relation.reference >= 0 ? question.reference.nameOf(relation.reference).str() : "";
  return name.empty() ? nameText(value) : "`" + name + "`";
}

// Every reduction on the way to the value, the last one first.
std::vector<std::string> reductionsOf(mlir::Value value) {
  std::vector<std::string> notes;
  for (mlir::Value at = value; at; at = madeFrom(at)) {
    mlir::Operation* op = producerOf(at);
    if (op && reduces(op))
      notes.push_back("it was reduced on @" + dist::commOf(op).getValue().str() + " by " +
                      positionOf(op));
  }
  return notes;
}

// Reductions along axes on which the value was equal already: each makes it too large by the number
// of ranks.
std::vector<mlir::Operation*> causesOfScale(const Store& store, mlir::Value value) {
  std::vector<mlir::Operation*> causes;
  for (mlir::Value at = value; at; at = madeFrom(at)) {
    mlir::Operation* op = producerOf(at);
    if (!op || !reduces(op)) continue;
    mlir::Value before = madeFrom(at);
    dist::CommOp comm = dist::lookupComm(op, dist::commOf(op));
    const Reading& reading = store.of(before).reading();
    if (!comm || !reading.known) continue;
    for (unsigned axis : axesOfComm(store.axes(), comm))
      if (reading.states[axis].isReplicated() && (causes.empty() || causes.back() != op))
        causes.push_back(op);
  }
  return causes;
}

namespace {

// What a value that no reading fits ends as, and what to do about it; by the rule that is broken.
struct Wrong {
  llvm::StringLiteral rule, end, remedy;
};
// Reasons that are mistakes and not merely gaps: key (Reason::wrong), what the value is then, and
// what to do about it.
constexpr Wrong kWrong[] = {
    {"scale", "no multiple of the reference's value, whatever is done with it later",
     "reduce and scale all terms of this sum alike, or none of them and the sum once"},
    {"reduction", "no multiple of the reference's value, whatever is done with it later",
     "remove this operation: values of different samples have no sum or mean in the reference; "
     "only gradients of parameters are reduced"},
    {"part", "computed from a part of what the reference computes it from",
     "reduce it before: dist.reduce to the ranks of the guard, or all_reduce"},
    {"accumulation", "more than the sum of what is added to it",
     "begin with zeros (fill_constant)"},
    {"partial", "no value of the reference: f(Σ x) is not Σ f(x)",
     "all_reduce the partial value before this op"},
    {"pad", "more than what all elements together give: the pad of the parts counts",
     "keep this value whole, or what is added up zero in the pad"},
};

}  // namespace

// With what is known of the operands, at most kListedTerms of them, since it is mostly the
// difference between two of them that is wrong.
void Explainer::refute(mlir::Operation* cause, mlir::Value value, const Reason& reason,
                       const std::string& text, const std::string& use) {
  std::vector<std::string> notes;
  for (mlir::Value operand : cause->getOperands())
    if (store_.of(operand).known())
      notes.push_back(nameText(operand) + " is " +
                      textOf(store_.of(operand).reading(), store_.axes()) +
                      (reductionsOf(operand).empty() ? "" : ": reduced"));
  if (notes.size() > kListedTerms) notes.resize(kListedTerms);
  notes.push_back(use);
  const Wrong* wrong =
      llvm::find_if(kWrong, [&](const Wrong& one) { return one.rule == reason.wrong; });
  if (wrong == std::end(kWrong)) wrong = kWrong;
  report(findings_, cause, Message::Level::Refuted, reason.wrong,
         text + ": " + nameText(value) + " is " + wrong->end.str(), wrong->remedy.str(),
         std::move(notes));
}

namespace {

// The op that gives a value; of what enters a region of the job, the op of the region.
mlir::Operation* makerOf(mlir::Value value) {
  if (mlir::Operation* op = producerOf(value)) return op;
  mlir::Operation* around = llvm::cast<mlir::BlockArgument>(value).getOwner()->getParentOp();
  return llvm::isa_and_nonnull<dist::OnOp, dist::MicroOp, dist::ForeachBlockOp>(around) ? around
                                                                                        : nullptr;
}

}  // namespace

// Follows reasons from `value` to the op that lost it first. `seen` ends walks around loops. Each
// cause is said once, whoever asks.
void Explainer::explain(mlir::Operation* op, mlir::Value value, const std::string& what) {
  llvm::SmallPtrSet<mlir::Operation*, 16> seen;
  mlir::Value at = value;
  mlir::Operation* cause = makerOf(at);
  Reason reason;
  while (cause) {
    const Reason* found = store_.reasonOf(at);
    reason = found ? *found : Reason{"takes a value of unknown relation", -1, {}};
    mlir::Value next =
        reason.operand && !store_.of(reason.operand).known() ? reason.operand : mlir::Value();
    for (mlir::Value operand : cause->getOperands())
      if (!next && !store_.of(operand).known() && !found) next = operand;
    if (!next || !makerOf(next) || !seen.insert(cause).second) break;
    at = next;
    cause = makerOf(at);
  }
  if (!cause) {
    cause = op;
    reason.why = "takes a value without a definition in this program";
  }
  std::string text =
      typeOf(cause) + " " + (reason.why.empty() ? "gives a value of unknown relation" : reason.why);
  if (reason.operand) text += " (" + nameText(reason.operand) + ")";
  if (reason.axis >= 0) text += " along axis " + store_.axes().names[reason.axis];
  if (!said_.insert(positionOf(cause) + text).second) return;
  if (reason.wrong) return refute(cause, at, reason, text, what + ": " + positionOf(op));
  report(findings_, cause, Message::Level::Unknown, "unknown-relation",
         text + "; nothing is known of " + nameText(at) + " after it",
         "what depends on it is not verified: add a relation rule for the op, or rewrite this part "
         "of the job",
         {what + ": " + positionOf(op)});
}

}  // namespace dtranspile::verify
