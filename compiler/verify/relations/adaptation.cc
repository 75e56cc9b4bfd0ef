// What decides is followed by its text: a value is written as the expression that gives it, with
// operands of sums and products in order, and compared with the expression that the definition has.
#include "compiler/verify/relations/adaptation.h"

#include <cstring>

#include "compiler/analysis/position.h"
#include "compiler/analysis/program_info.h"
#include "compiler/analysis/relations/averages.h"
#include "compiler/verify/relations/compressed_update.h"
#include "compiler/verify/relations/trace.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/declarations.h"
#include "dialects/pd/op_view.h"
#include "dialects/pd/types.h"

namespace dtranspile::verify {
namespace {

constexpr llvm::StringLiteral kRule = "adaptation";

pd::OpView opOf(mlir::Value value, llvm::StringRef type) {
  mlir::Operation* op = value ? value.getDefiningOp() : nullptr;
  const bool is = op && pd::OpView::isFrameworkOp(op) && pd::OpView(op).type() == type;
  return pd::OpView(is ? op : nullptr);
}

std::string variableIn(mlir::Value value) {
  auto get = value ? value.getDefiningOp<pd::GetOp>() : pd::GetOp();
  return get ? get.getVar().str() : "";
}

std::vector<mlir::Operation*> branchesOf(pd::ProgramOp main) {
  std::vector<mlir::Operation*> branches;
  for (mlir::Operation& op : *main.getBodyBlock())
    if (pd::OpView::isFrameworkOp(&op) && !op.hasAttr(dist::kSrcAttr) &&
        pd::OpView(&op).type() == "conditional_block" && op.getNumRegions() == 1 &&
        !op.getRegion(0).empty())
      branches.push_back(&op);
  return branches;
}

// step <= begin or step - last == next, by its parts.
struct Predicate {
  mlir::Value step, early, due;
  int64_t begin = 0;
  std::string last, next;
};

// Matches `step <= begin || step - last == next`, where `step` counts the steps, `begin` is a
// constant, and `last` and `next` are variables: the step of the last average and the number of
// steps until the next one. Nothing where the predicate is another.
std::optional<Predicate> predicateOf(mlir::Operation* branch) {
  const pd::OpView either = opOf(pd::OpView(branch).input("Cond"), "logical_or");
  if (!either.operation()) return std::nullopt;
  Predicate found;
  found.early = either.input("X");
  found.due = either.input("Y");
  const pd::OpView early = opOf(found.early, "less_equal"), due = opOf(found.due, "equal");
  if (!early.operation() || !due.operation()) return std::nullopt;
  const pd::OpView since = opOf(due.input("X"), "elementwise_sub");
  if (!since.operation()) return std::nullopt;
  found.step = early.input("X");
  found.last = variableIn(since.input("Y"));
  found.next = variableIn(due.input("Y"));
  const std::optional<int64_t> begin = numberIn(early.input("Y"));
  if (since.input("X") != found.step || found.last.empty() || found.next.empty() || !begin ||
      !countsSteps(found.step))
    return std::nullopt;
  found.begin = *begin;
  return found;
}

std::string numberText(double value) {
  const auto single = static_cast<float>(value);
  uint32_t word;
  std::memcpy(&word, &single, sizeof word);
  return "#" + std::to_string(word);
}
std::string call(llvm::StringRef name, std::string x) { return name.str() + "(" + x + ")"; }
std::string call(llvm::StringRef name, std::string x, std::string y, bool ordered = false) {
  if (!ordered && y < x) std::swap(x, y);
  return name.str() + "(" + x + "," + y + ")";
}
std::string scaledText(std::string x, double factor) {
  return static_cast<float>(factor) == 1 ? x : call("scale" + numberText(factor), std::move(x));
}

// Writes values as expressions in a normal form, so that two values are equal if their texts are.
// Leaves are the loss, the learning rate and variables; reshapes are looked through, since all of
// these are one number; an op without a row here is "?", which no definition contains, so that what
// is not understood never passes for what is.
class Expressions {
 public:
  Expressions(mlir::Value loss, mlir::Value rate) : loss_(loss), rate_(rate) {}

  // Follows a value to what makes it: through the captures of a branch to the value outside,
  // through a wait to the start of its communication.
  std::string of(mlir::Value value) {
    if (!value) return "?";
    if (auto argument = llvm::dyn_cast<mlir::BlockArgument>(value)) {
      mlir::Operation* around = argument.getOwner()->getParentOp();
      if (!pd::OpView::isFrameworkOp(around)) return "?";
      return of(pd::OpView(around).input("$capture", argument.getArgNumber()));
    }
    if (value == loss_) return "loss";
    if (value == rate_ || (!variableIn(rate_).empty() && variableIn(value) == variableIn(rate_)))
      return "rate";
    if (const std::string variable = variableIn(value); !variable.empty()) return "@" + variable;
    mlir::Operation* op = value.getDefiningOp();
    if (auto wait = llvm::dyn_cast<dist::WaitOp>(op)) {
      mlir::Operation* start = wait.getPending().getDefiningOp();
      return start ? reduced(start,
                             start->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber()))
                   : "?";
    }
    if (dist::commOf(op))
      return reduced(op, op->getOperand(llvm::cast<mlir::OpResult>(value).getResultNumber()));
    return pd::OpView::isFrameworkOp(op) ? ofOp(pd::OpView(op)) : "?";
  }

 private:
  std::string reduced(mlir::Operation* op, mlir::Value operand) {
    auto reduce = llvm::dyn_cast<dist::AllReduceOp>(op);
    return reduce && reduce.getReduce() == dist::Reduce::Sum &&
                   joinsAllRanks(op, reduce.getCommAttr())
               ? call("sum", of(operand))
               : "?";
  }

  // A cast to 64-bit integers rounds, and so is an operation ("count"); other casts are not
  // understood.
  std::string ofOp(pd::OpView op) {
    const llvm::StringRef type = op.type();
    if (type == "fill_constant")
      return op.operation()->getNumOperands() == 0 && op.getString("str_value").empty()
                 ? numberText(op.getFloat("value"))
                 : "?";
    if (type == "scale")
      return op.getFloat("bias") == 0 && !op.hasInput("ScaleTensor")
                 ? scaledText(of(op.input("X")), op.getFloat("scale"))
                 : "?";
    if (type == "reshape" || type == "reshape2") return of(op.input("X"));
    if (type == "sqrt" || type == "ceil") return call(type, of(op.input("X")));
    if (type == "cast") {
      mlir::RankedTensorType to = pd::tensorOf(op.output("Out").getType());
      return to && to.getElementType().isInteger(64) ? call("count", of(op.input("X"))) : "?";
    }
    for (llvm::StringRef known :
         {"elementwise_mul", "elementwise_div", "elementwise_max", "elementwise_min"})
      if (type == known)
        return call(type, of(op.input("X")), of(op.input("Y")), type == "elementwise_div");
    return "?";
  }

  mlir::Value loss_, rate_;
};

// Checks one averaging step whose period adapts to the loss (AdaComm: Wang and Joshi 2019) against
// the definition: the branch sets `last` to the step and `next` to ceil(sqrt(first · rate_1 · loss
// / (rate · loss_1))) between its bounds, step 1 notes loss_1 and rate_1, nobody else sets any of
// these, and the contract says the same in words.
class Adaptation {
 public:
  Adaptation(mlir::ModuleOp job, dist::RoleOp role, pd::ProgramOp main, mlir::Operation* average,
             Predicate predicate, Rung& findings)
      : job_(job),
        role_(role),
        main_(main),
        average_(average),
        predicate_(std::move(predicate)),
        findings_(findings),
        ranks_(static_cast<double>(dist::meshOf(main).ranks())),
        values_(lossOf(main), rateOf(main)) {}

  void check() {
    find();
    const std::optional<int64_t> first = firstNumber(predicate_.next);
    if (!first || *first < 1) refute(average_, "`" + predicate_.next + "` begins with no number");
    if (firstNumber(predicate_.last) != 0)
      refute(average_, "`" + predicate_.last + "`, the step of the last average, begins not at 0");
    checkSets(first.value_or(1));
    checkStatement({first.value_or(1), predicate_.begin});
  }

  // Averages in every step: what is known after one does not depend on when it is taken.
  void simplify() {
    for (mlir::Operation* branch : {first_, adapts_})
      if (branch) branch->erase();
    average_->walk([&](pd::SetOp set) {
      if (set.getVar() == predicate_.last) set.erase();
    });
    mlir::OpBuilder builder(average_);
    pd::Declarations declarations;
    const mlir::Location loc = average_->getLoc();
    const auto number = mlir::RankedTensorType::get({1}, builder.getI64Type());
    const auto make = [&](llvm::StringRef type, std::vector<pd::InputSlot> inputs,
                          mlir::Type result, std::vector<mlir::NamedAttribute> attributes = {}) {
      const std::string name = declarations.freshName(main_.getBodyBlock(), "local_sgd_every");
      return declarations
          .create(builder, loc, type, inputs, {{"Out", {{name, result}}}}, attributes,
                  pd::kOptimize)
          .output("Out");
    };
    const auto constant = [&](int64_t value) {
      return make(
          "fill_constant", {}, number,
          {builder.getNamedAttr("dtype", builder.getI32IntegerAttr(static_cast<int32_t>(
                                             *pd::dtypeOf(number.getElementType())))),
           builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr({1})),
           builder.getNamedAttr("value", builder.getF32FloatAttr(static_cast<float>(value)))});
    };
    const mlir::Type flag = predicate_.early.getType();
    mlir::Value one = constant(1);
    mlir::Value early = make("less_equal", {{"X", {predicate_.step}}, {"Y", {one}}}, flag);
    mlir::Value since = make("elementwise_sub", {{"X", {predicate_.step}}, {"Y", {one}}}, number);
    mlir::Value rest = make("elementwise_mod", {{"X", {since}}, {"Y", {one}}}, number);
    mlir::Value due = make("equal", {{"X", {rest}}, {"Y", {constant(0)}}}, flag);
    pd::OpView(average_).setInput("Cond", 0,
                                  make("logical_or", {{"X", {early}}, {"Y", {due}}}, flag));
    setStatement(statementOf(Period{1, 1}));
  }

 private:
  void refute(mlir::Operation* at, std::string text) {
    report(findings_, at, Message::Level::Refuted, kRule.str(), std::move(text),
           "decide by the loss and the rate as docs/passes/fewer-bytes.md says");
  }

  static mlir::Value lossOf(pd::ProgramOp main) {
    const std::string name = findLoss(main);
    return name.empty() ? mlir::Value() : lastNamed(main, name);
  }
  // Of an update of the reference: passes have seen that all have one rate.
  static mlir::Value rateOf(pd::ProgramOp main) {
    mlir::Value rate;
    main.walk([&](mlir::Operation* op) {
      if (!rate && op->hasAttr(dist::kSrcAttr) && pd::OpView::isFrameworkOp(op) &&
          pd::OpView(op).hasInput("LearningRate") && pd::OpView(op).hasInput("Param"))
        rate = pd::OpView(op).input("LearningRate");
    });
    return rate;
  }

  // The branch of step 1, and the one that sets the next number.
  void find() {
    for (mlir::Operation* branch : branchesOf(main_)) {
      if (branch == average_) continue;
      const mlir::Value taken = pd::OpView(branch).input("Cond");
      const pd::OpView once = opOf(taken, "equal"), both = opOf(taken, "logical_and");
      if (once.operation() && once.input("X") == predicate_.step && numberIn(once.input("Y")) == 1)
        first_ = branch;
      if (both.operation() && both.input("Y") == predicate_.due) {
        const pd::OpView late = opOf(both.input("X"), "logical_not");
        if (late.operation() && late.input("X") == predicate_.early) adapts_ = branch;
      }
    }
    if (!first_ || !adapts_ || !first_->isBeforeInBlock(adapts_))
      refute(average_,
             "is taken when the loss says so, and the loss of step 1 and of each such average is "
             "not looked at, in this order");
  }

  // What the counter holds in the branch: it has been set before, and is set nowhere else.
  bool isStep(mlir::Value value) const {
    const std::string counter = variableIn(opOf(predicate_.step, "increment").input("X"));
    return !counter.empty() && variableIn(value) == counter &&
           llvm::any_of(predicate_.step.getUsers(), [&](mlir::Operation* user) {
             return llvm::isa<pd::SetOp>(user) && user->getBlock() == average_->getBlock() &&
                    user->isBeforeInBlock(average_);
           });
  }

  // What start-up sets the variable to, if it is a number and set once.
  std::optional<int64_t> firstNumber(const std::string& variable) {
    std::optional<int64_t> number;
    int sets = 0;
    if (pd::ProgramOp startup = findProgram(role_, "startup"))
      startup.walk([&](pd::SetOp set) {
        if (set.getVar() != variable) return;
        ++sets;
        number = numberIn(set.getValue());
      });
    return sets == 1 ? number : std::nullopt;
  }

  std::string meanLoss() const { return scaledText(call("sum", "loss"), 1 / ranks_); }

  // Every set of the variables that decide, by what it has to be.
  void checkSets(int64_t first) {
    std::string loss, rate;  // of step 1
    if (first_)
      first_->walk([&](pd::SetOp set) {
        const std::string value = values_.of(set.getValue());
        if (value == meanLoss() && loss.empty()) loss = set.getVar().str();
        else if (value == "rate" && rate.empty()) rate = set.getVar().str();
        else refute(set, "sets in step 1 something else than the mean loss and the rate");
      });
    constexpr auto kMost = static_cast<double>(kMostLocalSteps * kMostLocalSteps);
    const std::string over =
        scaledText(call("elementwise_mul", "@" + rate, meanLoss()), static_cast<double>(first));
    const std::string under = call("elementwise_max", call("elementwise_mul", "rate", "@" + loss),
                                   numberText(kLeastDivisor));
    const std::string ratio = call("elementwise_div", over, under, true);
    const std::string within =
        call("elementwise_min", call("elementwise_max", ratio, numberText(1)), numberText(kMost));
    const std::string wanted = call("count", call("ceil", call("sqrt", within)));
    int notes = 0, numbers = 0;
    main_.walk([&](pd::SetOp set) {
      const std::string name = set.getVar().str();
      if (name == predicate_.last) {
        if (set->getParentOp() != average_ || !isStep(set.getValue()))
          refute(set, "sets `" + name + "` to something else than the step of an average");
        ++notes;
      } else if (name == predicate_.next) {
        if (set->getParentOp() != adapts_ || values_.of(set.getValue()) != wanted)
          refute(set, "sets `" + name +
                          "` to something else than the number of steps that the loss and the rate "
                          "say, " +
                          values_.of(set.getValue()));
        ++numbers;
      } else if (!name.empty() && (name == loss || name == rate) && set->getParentOp() != first_) {
        refute(set, "sets `" + name + "`, which is of step 1, in another one");
      } else if (set->getParentOp() == adapts_) {
        refute(set, "sets `" + name + "` where the next number of steps is set, and nothing else");
      }
    });
    if (notes != 1 || numbers != 1)
      refute(average_, "does not note its step once, or no number of steps follows from it");
  }

  mlir::ArrayAttr contracts() { return job_->getAttrOfType<mlir::ArrayAttr>(dist::kContractsAttr); }

  void checkStatement(const AdaptivePeriod& period) {
    for (auto entry : contracts().getAsRange<mlir::DictionaryAttr>())
      if (entry.getAs<mlir::StringAttr>("tag").getValue() == kLocalSgdTag &&
          entry.getAs<mlir::StringAttr>("statement").getValue() != statementOf(period))
        report(findings_, average_, Message::Level::Refuted, "contract",
               "averages in other steps than the contract \"local_sgd\" says",
               "let the contract say: " + statementOf(period));
  }

  void setStatement(const std::string& text) {
    llvm::SmallVector<mlir::Attribute> entries;
    mlir::Builder builder(job_.getContext());
    for (auto entry : contracts().getAsRange<mlir::DictionaryAttr>()) {
      mlir::NamedAttrList list(entry);
      if (entry.getAs<mlir::StringAttr>("tag").getValue() == kLocalSgdTag)
        list.set("statement", builder.getStringAttr(text));
      entries.push_back(list.getDictionary(job_.getContext()));
    }
    job_->setAttr(dist::kContractsAttr, builder.getArrayAttr(entries));
  }

  mlir::ModuleOp job_;
  dist::RoleOp role_;
  pd::ProgramOp main_;
  mlir::Operation *average_, *first_ = nullptr, *adapts_ = nullptr;
  Predicate predicate_;
  Rung& findings_;
  double ranks_;
  Expressions values_;
};

// Calls `visit` for every branch whose steps follow from two variables.
void forEachAdaptive(
    mlir::ModuleOp job,
    llvm::function_ref<void(dist::RoleOp, pd::ProgramOp, mlir::Operation*, Predicate)> visit) {
  for (auto role : job.getOps<dist::RoleOp>())
    if (pd::ProgramOp main = findProgram(role, "main"))
      for (mlir::Operation* branch : branchesOf(main))
        if (std::optional<Predicate> predicate = predicateOf(branch))
          return visit(role, main, branch, *predicate);
}

}  // namespace

bool adaptsAverages(mlir::ModuleOp job) {
  bool found = false;
  if (Contracts::of(job).declares(kLocalSgdTag))
    forEachAdaptive(job, [&](dist::RoleOp, pd::ProgramOp, mlir::Operation*, const Predicate&) {
      found = true;
    });
  return found;
}

mlir::OwningOpRef<mlir::ModuleOp> withoutAdaptation(mlir::ModuleOp job, Rung& findings) {
  mlir::OwningOpRef<mlir::ModuleOp> plain(llvm::cast<mlir::ModuleOp>(job->clone()));
  forEachAdaptive(*plain, [&](dist::RoleOp role, pd::ProgramOp main, mlir::Operation* branch,
                              const Predicate& predicate) {
    Adaptation adaptation(*plain, role, main, branch, predicate, findings);
    adaptation.check();
    adaptation.simplify();
  });
  return plain;
}

}  // namespace dtranspile::verify
