#include "compiler/verify/refinement/proof.h"

#include <algorithm>

#include "compiler/analysis/position.h"
#include "compiler/verify/refinement/algebra.h"
#include "compiler/verify/refinement/counting.h"
#include "compiler/verify/refinement/explain.h"
#include "compiler/verify/refinement/truth.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

constexpr char kAgain[] = "make the job again from the program that it shall preserve";
constexpr char kBySolver[] =
    "equal to what the source makes of it by the laws of arithmetic, which a solver has decided";

// Parameters and gradients that an op of the backward part says it has completed.
std::vector<std::pair<std::string, std::string>> completedBy(pd::OpView op) {
  std::vector<std::pair<std::string, std::string>> pairs;
  if (!(op.role() & pd::kBackward) || !op.hasAttr("op_role_var")) return pairs;
  const std::vector<std::string> names = op.getStrings("op_role_var");
  for (size_t i = 0; i + 1 < names.size(); i += 2) pairs.emplace_back(names[i], names[i + 1]);
  return pairs;
}

// The last value of the source that is a parameter's gradient.
llvm::DenseMap<mlir::Value, std::string> gradientsOf(pd::ProgramOp program) {
  std::map<std::string, mlir::Value> last;
  for (mlir::Operation& op : *program.getBodyBlock()) {
    if (!pd::OpView::isFrameworkOp(&op)) continue;
    for (const auto& [parameter, gradient] : completedBy(pd::OpView(&op)))
      for (mlir::Value result : op.getResults())
        if (pd::nameOf(result) == gradient) last[parameter] = result;
  }
  llvm::DenseMap<mlir::Value, std::string> parameters;
  for (const auto& [parameter, value] : last) parameters[value] = parameter;
  return parameters;
}

// Variables that checks for overflow divide by.
std::vector<std::string> lossScales(pd::ProgramOp program) {
  std::vector<std::string> names;
  program.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op) || pd::OpView(op).type() != "check_finite_and_unscale")
      return;
    mlir::Value scale = pd::OpView(op).input("Scale");
    auto get = scale ? scale.getDefiningOp<pd::GetOp>() : pd::GetOp();
    if (get && !llvm::is_contained(names, get.getVar())) names.push_back(get.getVar().str());
  });
  return names;
}

}  // namespace

// Parameters that the source updates, and, where pruning is declared, the weights it prunes with
// the masks that the reference has for them.
Proof::Proof(const Changes& changes, std::vector<std::string> variables,
             std::vector<std::string> added, pd::ProgramOp main, Rung& rung)
    : changes_(changes), variables_(std::move(variables)), added_(std::move(added)), rung_(rung) {
  std::set<std::string> updated;
  main.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    const pd::OpView update(op);
    if (!update.input("Grad") || !update.output("ParamOut")) return;
    for (mlir::Value parameter : update.inputs("Param"))
      if (parameter) updated.insert(pd::nameOf(parameter).str());
  });
  updated_.assign(updated.begin(), updated.end());
  if (changes_.pruned) pruned_ = prunedWeights(main, *changes_.pruned);
  for (const auto& [weight, type] : pruned_) own_.push_back(maskOf(weight));
}

void Proof::unknown(mlir::Operation* at, std::string text, std::string remedy) {
  rung_.add(messageAt(at, Message::Level::Unknown, "refines", std::move(text), std::move(remedy)));
}

bool Proof::ofSource(const std::string& variable) const {
  return std::binary_search(variables_.begin(), variables_.end(), variable);
}

std::vector<std::string> Proof::watched() const {
  std::vector<std::string> names = variables_;
  names.insert(names.end(), own_.begin(), own_.end());
  return names;
}

// What both programs are read under: which conditions hold, whether roundings between floats count,
// which numbers are above zero, which draws are one.
Assumptions Proof::assumptions(const std::map<AtomId, bool>& assumed) {
  Assumptions all;
  all.anyFloat = changes_.anyFloat;
  all.positive = positive_;
  all.assumed = assumed;
  if (changes_.sharedDraws) all.sharedDraws = &sourceNames_;
  for (const auto& [weight, type] : pruned_) all.masks.insert(maskOf(weight));
  if (!copies_.empty()) all.copies = &copies_;
  for (const auto& [copy, parameter] : copies_) all.before[copy] = variableTerm(terms_, parameter);
  return all;
}

// The source's effects as the declared changes read it (lamb for adam, say). With `gradients` every
// complete gradient is noted, and replaced by an unknown that stands for the merged one, so that
// what follows is the update as a function of its gradients.
Effects Proof::source(pd::ProgramOp program, Gradients* gradients) {
  Assumptions all = assumptions();
  all.sharedDraws = nullptr;
  if (!changes_.readAs.empty())
    all.readAs = [&](Description& op) {
      for (const auto& rewrite : changes_.readAs) rewrite(op);
    };
  llvm::DenseMap<mlir::Value, std::string> parameters;
  if (gradients) parameters = gradientsOf(program);
  if (gradients || !pruned_.empty())
    all.replace = [&, gradients](mlir::OpResult result, TermId term) {
      if (const std::string weight = prunedBy(result); !weight.empty())
        return maskedTerm(terms_, term, maskOf(weight));
      auto found = parameters.find(result);
      if (found == parameters.end()) return term;
      gradients->complete[found->second] = term;
      const TermId merged = terms_.of(
          terms_.atom("merged gradient", "merged gradient of " + found->second, {}, nullptr));
      return gradients->merged[found->second] = merged;
    };
  return follow(terms_, program, all);
}

// Master copies: an update with slot MasterParam computes on a float32 variable that the source
// does not have; it is compared with the parameter, and the parameter in half precision is that
// copy rounded.
void Proof::findCopies(pd::ProgramOp reference) {
  if (!changes_.anyFloat) return;
  const auto variableOf = [](mlir::Value value) {
    auto get = value ? value.getDefiningOp<pd::GetOp>() : pd::GetOp();
    return get ? get.getVar().str() : std::string();
  };
  reference.walk([&](mlir::Operation* op) {
    if (!pd::OpView::isFrameworkOp(op)) return;
    const std::string copy = variableOf(pd::OpView(op).input("MasterParam"));
    const std::string parameter = variableOf(pd::OpView(op).input("Param"));
    if (copy.empty() || ofSource(copy) || !ofSource(parameter)) return;
    if (copies_.emplace(copy, parameter).second) own_.push_back(copy);
  });
}

TermId Proof::beforeStep(const std::string& name) {
  auto found = copies_.find(name);
  return variableTerm(terms_, found == copies_.end() ? name : found->second);
}

// The weight that an update of the source gives and that is pruned; empty for other values.
std::string Proof::prunedBy(mlir::OpResult result) const {
  const pd::OpView op(result.getOwner());
  if (pruned_.empty() || !op.input("Grad")) return "";
  for (unsigned i = 0; i < op.outputCount("ParamOut"); ++i)
    if (op.output("ParamOut", i) == result && op.input("Param", i)) {
      const std::string weight = pd::nameOf(op.input("Param", i)).str();
      return pruned_.count(weight) ? weight : "";
    }
  return "";
}

// The mask must be one of the declared kind of the weight that the source initialises, and the
// weight that the reference begins with must be masked by it. From there on the source is read as
// if it had begun with the masked weight.
void Proof::pruneAtStart(Effects& source, const Effects& reference, pd::ProgramOp at) {
  const MaskRow* masks = findMask(changes_.masks);
  for (const auto& [weight, type] : pruned_) {
    TermId& made = source.variables[weight];
    auto mask = reference.variables.find(maskOf(weight)), now = reference.variables.find(weight);
    if (mask == reference.variables.end() || now == reference.variables.end() || !masks ||
        !masks->isMask(terms_, mask->second, made, type, changes_.anyFloat) ||
        !isPruned(terms_, now->second, made, mask->second))
      return unknown(at,
                     "it is not shown that start-up keeps " +
                         std::string(masks ? masks->kept : "by a mask that is known here") +
                         " of `" + weight + "`",
                     kAgain);
    made = now->second;
  }
}

// Terms are interned, so two values are shown equal where their ids are; what is left is looked at
// element by element.
void Proof::same(const Effects& reference, const Effects& source, pd::ProgramOp at, bool names) {
  ++cases_;
  const std::vector<OpenValue> open = openValues(reference, source, names);
  if (!open.empty() && !decide(open, at)) return;
  if (!names) return;
  for (const auto& [name, theirs] : source.names)
    if (!reference.names.count(name))
      return unknown(at, "`" + name + "`, which the source computes, is not computed", kAgain);
}

// Pairs of terms that the normal form does not make equal; the solver is asked about these alone. A
// variable that a side does not set holds what it held before the step.
std::vector<Proof::OpenValue> Proof::openValues(const Effects& reference, const Effects& source,
                                                bool names) {
  std::vector<OpenValue> open;
  const auto compare = [&](std::string what, TermId mine, TermId theirs) {
    if (mine == theirs) return;
    mlir::Type type = terms_.typeOf(theirs);
    if (!type) type = terms_.typeOf(mine);
    open.push_back({std::move(what), {mine, theirs, type}});
  };
  for (const std::string& name : watched()) {
    const TermId before = beforeStep(name);
    auto copied = copies_.find(name);
    auto mine = reference.variables.find(name),
         theirs = source.variables.find(copied == copies_.end() ? name : copied->second);
    compare("variable `" + name + "`", mine == reference.variables.end() ? before : mine->second,
            theirs == source.variables.end() ? before : theirs->second);
  }
  if (!names) return open;
  for (const auto& [name, theirs] : source.names)
    if (auto mine = reference.names.find(name); mine != reference.names.end())
      compare("`" + name + "`", mine->second, theirs);
  return open;
}

// The first difference is explained; others nearly always follow from it.
bool Proof::decide(llvm::ArrayRef<OpenValue> open, pd::ProgramOp at) {
  Equality equality(terms_);
  std::vector<OpenPair> pairs;
  for (const OpenValue& one : open) pairs.push_back(one.pair);
  // The verdict is known once something was left open: a large job is not looked at again.
  if (!leftOpen_) equality.prepare(pairs);
  bool all = true;
  for (const OpenValue& one : open) {
    Answer answer;
    answer.why = "another case of the step was left open before";
    if (!leftOpen_) answer = equality.decide(one.pair);
    if (answer.kind == Answer::Equal) {
      if (solved_.insert(one.what).second)
        rung_.conditions.push_back({"solver", one.what, kBySolver});
      continue;
    }
    all = false;
    const TermDifference found = explain(terms_, one.pair.mine, one.pair.theirs);
    if (answer.kind == Answer::Differ) {
      refuted(one, answer, found, at);
      break;
    }
    Message message = messageAt(
        found.op ? found.op : at.getOperation(), Message::Level::Unknown, "refines",
        "it is not shown that " + one.what + " is what the source makes of it: this " + found.text,
        kAgain);
    message.notes.push_back("left open by the solver: " + answer.why);
    rung_.add(std::move(message));
    break;
  }
  asked_ += equality.asked();
  leftOpen_ |= !all;
  return all;
}

// Numbers that the two programs make something else of.
void Proof::refuted(const OpenValue& open, const Answer& answer, const TermDifference& found,
                    pd::ProgramOp at) {
  // What stands in variables that the source does not have is not free.
  const bool free = llvm::all_of(answer.values, [&](const auto& value) {
    llvm::StringRef name = value.first;
    return !name.consume_front("variable ") || ofSource(name.substr(0, name.rfind('[')).str());
  });
  Message message = messageAt(found.op ? found.op : at.getOperation(),
                              free ? Message::Level::Refuted : Message::Level::Unknown, "refines",
                              (free ? "" : "it is not shown that ") + open.what +
                                  (free ? " is not what the source makes of it: this "
                                        : " is what the source makes of it: this ") +
                                  found.text,
                              kAgain);
  std::string values;
  for (const auto& [element, value] : answer.values)
    values += (values.empty() ? "" : ", ") + element + " = " + value;
  message.notes.push_back("they differ at " + values);
  rung_.add(std::move(message));
}

// In such a step every variable of the source must keep what it held.
void Proof::unchanged(const Effects& reference, pd::ProgramOp at, const std::string& when) {
  ++cases_;
  for (const std::string& name : watched()) {
    auto found = reference.variables.find(name);
    if (found == reference.variables.end() || found->second == beforeStep(name)) continue;
    const TermDifference difference = explain(terms_, found->second, beforeStep(name));
    return unknown(difference.op ? difference.op : at.getOperation(),
                   "it is not shown that variable `" + name + "` stays as it is " + when + ": it " +
                       difference.text,
                   "change it in the branch that runs otherwise");
  }
}

// Both start-ups give every variable of the source the same value. What the reference adds
// (counters, sums, loss scales) is noted as what the step begins with.
void Proof::startup(Programs programs) {
  Effects source = follow(terms_, programs.source, assumptions());
  const Effects reference = follow(terms_, programs.reference, assumptions());
  pruneAtStart(source, reference, programs.reference);
  for (const auto& [copy, parameter] : copies_) {
    auto made = reference.variables.find(copy), rounded = reference.variables.find(parameter);
    if (made == reference.variables.end() || rounded == reference.variables.end() ||
        made->second != rounded->second)
      unknown(
          programs.reference,
          "it is not shown that start-up makes `" + copy + "` what it makes `" + parameter + "`",
          kAgain);
  }
  // What start-up leaves in variables that are new is looked at where it counts.
  std::vector<std::string> own;
  std::swap(own, own_);
  same(reference, source, programs.reference, /*names=*/false);
  std::swap(own, own_);
  for (const auto& [name, term] : reference.variables)
    if (!ofSource(name)) initial_[name] = term;
}

// A step of the reference is followed once with all conditions open, to find those that decide
// something; then once for each case of them.
void Proof::main(Programs programs) {
  if (changes_.anyFloat)
    for (std::string& name : lossScales(programs.reference))
      if (!ofSource(name)) positive_.push_back(std::move(name));
  programs.source.walk([&](mlir::Operation* op) {
    for (mlir::Value result : op->getResults()) sourceNames_.insert(pd::nameOf(result).str());
  });
  const Effects first = follow(terms_, programs.reference, assumptions());
  for (const std::string& name : positive_) staysPositive(name, first, programs.reference);
  if (std::optional<Conditions> conditions = conditionsOf(first, programs.reference))
    step(programs, *conditions);
}

namespace {

// Whether a scale is above zero after a step that it was above zero before: as it is, or as the
// framework's rule moves it, by factors above zero.
bool isMoved(const Terms& terms, TermId term, TermId before) {
  if (term == before) return true;
  const Atom* atom = terms.single(term);
  if (!atom || !atom->op) return false;
  if (atom->type == "if")
    return isMoved(terms, atom->operands[1], before) && isMoved(terms, atom->operands[2], before);
  if (atom->type != "update_loss_scaling") return false;
  pd::OpView update(atom->op);
  return atom->key.find("->LossScaling#0") != std::string::npos &&
         update.getFloat("incr_ratio") > 0 && update.getFloat("decr_ratio") > 0 &&
         llvm::is_contained(atom->operands, before);
}

}  // namespace

// By induction: positive at the start, and moved by update_loss_scaling alone, whose ratios are
// positive.
void Proof::staysPositive(const std::string& name, const Effects& effects, pd::ProgramOp at) {
  auto start = initial_.find(name);
  const Atom* first = start == initial_.end() ? nullptr : terms_.single(start->second);
  const bool begins = first && first->op && first->type == "fill_constant" &&
                      pd::OpView(first->op).getFloat("value") > 0;
  auto found = effects.variables.find(name);
  if (!begins || found == effects.variables.end() ||
      !isMoved(terms_, found->second, variableTerm(terms_, name)))
    unknown(at, "it is not shown that the loss scale `" + name + "` is above zero in every step",
            "start it above zero, and let update_loss_scaling alone change it");
}

// A condition of the source's own branches stays open: both programs have it. Others are decided by
// a check for overflow, or by counting steps.
std::optional<Proof::Conditions> Proof::conditionsOf(const Effects& reference, pd::ProgramOp at) {
  Conditions conditions;
  // Every check counts, whether a branch looks at it or not.
  if (changes_.anyFloat) conditions.overflow = terms_.atomsOfType(kFoundInfinite);
  for (TermId condition : reference.conditions)
    for (AtomId decider : decidersOf(terms_, condition)) {
      const Atom& atom = terms_.atomOf(decider);
      if (llvm::is_contained(conditions.overflow, decider)) continue;
      const std::vector<std::string> read = variablesOf(terms_, terms_.of(decider));
      if (read.empty() || llvm::all_of(read, [&](const auto& name) { return ofSource(name); }))
        continue;
      if (changes_.slow && takeSlowCondition(decider, conditions.slow)) continue;
      if (!changes_.merged || (conditions.due && *conditions.due != decider)) {
        unknown(atom.op ? atom.op : at.getOperation(),
                "decides a branch that the source does not have, and no declared change says when "
                "it is taken",
                kAgain);
        return std::nullopt;
      }
      conditions.due = decider;
    }
  if (!changes_.slow) return conditions;
  if (!countsSteps(conditions.slow, at)) return std::nullopt;
  rememberSlow(conditions.slow);
  return conditions;
}

// The cases of a step: nothing overflows (it does what the source does, or with merged steps what
// mergedSteps shows), or a gradient is not finite (nothing of the source changes).
void Proof::step(Programs programs, const Conditions& conditions) {
  std::map<AtomId, bool> finite;
  for (AtomId one : conditions.overflow) finite[one] = false;
  if (changes_.merged) {
    mergedSteps(programs, conditions, finite);
    if (!conditions.due) return;
    finite[*conditions.due] = true;  // gradients are looked at where they are taken out
  } else {
    const Effects plain = source(programs.source, nullptr);
    for (const SlowCase& slow : slowCases(conditions)) {
      std::map<AtomId, bool> all = finite;
      all.insert(slow.assumed.begin(), slow.assumed.end());
      same(follow(terms_, programs.reference, assumptions(all)),
           withSlow(plain, conditions, slow.kind), programs.reference, /*names=*/true);
    }
  }
  std::vector<Case> cases = {{follow(terms_, programs.reference, assumptions(finite)), finite}};
  // Any one of them that overflows is enough. A case in which all that is asked is answered as in
  // an earlier one leaves what that leaves (a check per parameter, of which any decides for all).
  const auto isKnown = [&](const std::map<AtomId, bool>& assumed) {
    return llvm::any_of(llvm::drop_begin(cases), [&](const Case& earlier) {
      return llvm::all_of(earlier.effects.answers, [&](const auto& asked) {
        return truthOf(terms_, asked.first, assumed) == asked.second;
      });
    });
  };
  for (AtomId one : conditions.overflow) {
    std::map<AtomId, bool> overflow = finite;
    overflow[one] = true;
    if (isKnown(overflow)) continue;
    cases.push_back({follow(terms_, programs.reference, assumptions(overflow)), overflow});
    unchanged(cases.back().effects, programs.reference, "where a gradient is not finite");
    mergesAlike(cases.back().effects, programs.reference);
  }
  lossScale(cases, programs.reference);
  allAreAccountedFor(programs.reference);
}

}  // namespace dtranspile::verify
