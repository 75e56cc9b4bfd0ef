#include "compiler/analysis/relations/averages.h"

#include "compiler/analysis/program_info.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/integer.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

// The op of this type that gives the value; null where another one does.
mlir::Operation* made(mlir::Value value, llvm::StringRef type) {
  mlir::Operation* op = value ? value.getDefiningOp() : nullptr;
  return op && pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == type ? op : nullptr;
}

mlir::Value left(mlir::Operation* op) { return pd::OpView(op).input("X"); }
mlir::Value right(mlir::Operation* op) { return pd::OpView(op).input("Y"); }

// Counters count in one number of 64 bits: several are no count, and of fewer bits, or of floats,
// one ends.
bool isOneInteger(mlir::Value value) {
  auto type = llvm::dyn_cast<mlir::RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1 &&
         type.getElementType().isInteger(64);
}

// The last set of a variable in a program, if it is the only one.
pd::SetOp onlySet(pd::ProgramOp program, llvm::StringRef variable) {
  pd::SetOp found;
  bool several = false;
  if (program)
    program.walk([&](pd::SetOp set) {
      if (set.getVar() != variable) return;
      several |= static_cast<bool>(found);
      found = set;
    });
  return several ? pd::SetOp() : found;
}

}  // namespace

// The whole number in a constant of one int64; nothing for anything else.
std::optional<int64_t> numberIn(mlir::Value value) {
  mlir::Operation* op = made(value, "fill_constant");
  // A text, where there is one, is what the op fills in.
  if (!op || op->getNumOperands() > 0 || !isOneInteger(value) ||
      !pd::OpView(op).getString("str_value").empty())
    return std::nullopt;
  return pd::wholeNumber(pd::OpView(op).getFloat("value"));
}

// Whether a value is the number of the step, from 1 on: one `increment` by 1 of a variable at the
// top of the program, which is set to it, to nothing else, and to 0 by start-up.
bool countsSteps(mlir::Value value) {
  mlir::Operation* next = made(value, "increment");
  if (!next || pd::OpView(next).getFloat("step") != 1 || !isOneInteger(value)) return false;
  auto get = left(next).getDefiningOp<pd::GetOp>();
  auto program = next->getParentOfType<pd::ProgramOp>();
  if (!get || !program || next->getParentOp() != program) return false;
  pd::SetOp set = onlySet(program, get.getVar());
  pd::SetOp first = onlySet(findProgram(program->getParentOp(), "startup"), get.getVar());
  return set && set->getParentOp() == program && set.getValue() == value && first &&
         numberIn(first.getValue()) == 0;
}

std::string statementOf(const Period& period) {
  return "every rank updates on its own share; parameters are averaged in every step up to "
         "number " +
         std::to_string(period.begin) + ", and in every " + std::to_string(period.every) +
         "-th one from there on; gradients are not reduced, optimizer state stays with its rank";
}

std::string statementOf(const AdaptivePeriod& period) {
  return "every rank updates on its own share; parameters are averaged in every step up to "
         "number " +
         std::to_string(period.begin) +
         ", and from there on k steps after the last average; k is " +
         std::to_string(period.first) + " at first, and after an average ceil(sqrt(" +
         std::to_string(period.first) + " * rate_1 * loss / (rate * loss_1))), between 1 and " +
         std::to_string(kMostLocalSteps) +
         ", of the mean loss and the rate of its step and of step 1; gradients are not reduced, "
         "optimizer state stays with its rank";
}

// Matches the predicate that pass local-sgd writes, `step <= begin || (step - begin) % every == 0`,
// with `step` a counter that the program increments once a step and the start-up sets to 0. Any
// other predicate has no period that can be read off.
std::optional<Period> periodOf(mlir::Operation* branch) {
  mlir::Operation* either = made(pd::OpView(branch).input("Cond"), "logical_or");
  mlir::Operation* early = either ? made(left(either), "less_equal") : nullptr;
  mlir::Operation* due = either ? made(right(either), "equal") : nullptr;
  mlir::Operation* rest = due ? made(left(due), "elementwise_mod") : nullptr;
  mlir::Operation* since = rest ? made(left(rest), "elementwise_sub") : nullptr;
  if (!early || !since || left(early) != left(since) || !countsSteps(left(early)) ||
      !pd::OpView(branch).getBool("is_scalar_condition") || numberIn(right(due)) != 0)
    return std::nullopt;
  const std::optional<int64_t> begin = numberIn(right(early)), every = numberIn(right(rest));
  if (!begin || !every || *every < 1 || numberIn(right(since)) != begin) return std::nullopt;
  return Period{*every, *begin};
}

// A branch at the top that communicates with the program by variables alone, in a job that declares
// local SGD.
bool isAverage(const Scene& scene, mlir::Operation* op) {
  const pd::OpView view(op);
  if (view.type() != "conditional_block" || !scene.question.contracts.declares(kLocalSgdTag))
    return false;
  return op->getNumRegions() == 1 && !op->getRegion(0).empty() &&
         op->getRegion(0).getNumArguments() == 0 && view.outputCount("Out") == 0 &&
         op->getRegion(0).front().getTerminator()->getNumOperands() == 0 &&
         llvm::isa<pd::ProgramOp>(op->getParentOp());
}

// Holds the averaging block against the contract, and the values it leaves against the invariant of
// local SGD: after an average all replicas hold the same, of scale one. Since the block runs in
// some steps only, variables go on with the relation that they had before it (replicas that differ,
// under the tag of the contract), which is the weaker of the two.
void leaveAverage(const Scene& scene, mlir::Operation* op,
                  const std::map<std::string, Relation>& before) {
  const std::optional<Period> period = periodOf(op);
  mlir::StringAttr statement;
  if (auto list = dist::jobOf(op)->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr))
    for (auto entry : list.getAsRange<mlir::DictionaryAttr>())
      if (auto tag = entry.getAs<mlir::StringAttr>("tag"); tag && tag.getValue() == kLocalSgdTag)
        statement = entry.getAs<mlir::StringAttr>("statement");
  if (!period)
    scene.report(op, Message::Level::Unknown, "contract",
                 "runs in steps that cannot be read off its predicate: when replicas agree again "
                 "is not known",
                 "compare a counter of steps with numbers, as pass local-sgd does");
  else if (!statement || statement.getValue() != statementOf(*period))
    scene.report(op, Message::Level::Refuted, "contract",
                 "runs in every step up to number " + std::to_string(period->begin) +
                     ", and in every " + std::to_string(period->every) +
                     "-th one from there on, which is not what the contract \"local_sgd\" says",
                 "let the contract say: " + statementOf(*period));
  for (const auto& [name, held] : before) {
    Variable& variable = *scene.store.variable(name);
    const Relation after = scene.store.held(variable).relation;
    const bool agreed = after.whole.known && after.whole.isReplicated() && after.sameValue(held) &&
                        after.whole.scale.isOne();
    if (!agreed) {
      const bool wrong = after.whole.known && held.whole.known;
      scene.report(op, wrong ? Message::Level::Refuted : Message::Level::Unknown, "invariant",
                   "leaves `" + name + "` as " + scene.describe(after) + ", " +
                       textOf(after.whole, scene.axes()) +
                       ", in its block: the ranks' copies of it do not agree after that",
                   "set it there to the mean of what the ranks hold");
    }
    scene.store.hold(variable, held, op);
  }
}

// What differs between ranks by local SGD is each rank's own parameter at the beginning of a step:
// what ops make of it is per share, and no longer a mere difference, until the step averages.
void beginWithOwn(const Scene& scene, const Variable& variable, Relation& relation) {
  if (variable.held.size() != 1 || variable.held.front().setter ||
      !scene.reference().trains(variable.reference))
    return;
  for (Reading* reading : {&relation.whole, &relation.parts})
    for (State& state : reading->states)
      if (state.isDifferent() && state.tagAttr().getValue() == kLocalSgdTag) state = State::parts();
}

}  // namespace dtranspile::verify
