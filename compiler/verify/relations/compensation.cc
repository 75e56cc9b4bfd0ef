#include "compiler/verify/relations/compensation.h"

#include "compiler/analysis/position.h"
#include "compiler/verify/relations/polynomial.h"
#include "dialects/dist/changes.h"
#include "dialects/pd/op_view.h"

namespace dtranspile::verify {
namespace {

constexpr llvm::StringLiteral kTag = "delay_compensation";

// A read of what the trainer has pulled last, which a server keeps beside the variable.
bool isPulled(mlir::Operation* op) { return op->hasAttr(dist::kAsPulledAttr); }

// What the handler of one variable does with the gradients of its updates.
// Gradients are compared as polynomials (Evaluator) over what was pushed, the variable and what was
// pulled: g + (w − w')·g·g in any order of operations is the correction, anything else with w' in
// it is refuted. A corrected gradient is put back to g, so that the analysis after this one sees
// the job without compensation.
class Handler {
 public:
  Handler(dist::HandleOp handler, bool declared, Rung& findings)
      : handler_(handler),
        name_(handler.getVar().value_or("").str()),
        declared_(declared),
        findings_(findings),
        values_([this](mlir::Value value) { return symbolOf(value); }) {}

  // Whether the gradients of its updates are corrected.
  bool check() {
    bool corrected = false;
    std::vector<mlir::Operation*> updates;
    handler_.walk([&](mlir::Operation* op) {
      if (op->hasAttr(dist::kSrcAttr) && pd::OpView::isFrameworkOp(op) &&
          pd::OpView(op).hasInput("Grad") && pd::OpView(op).hasInput("Param"))
        updates.push_back(op);
    });
    for (mlir::Operation* op : updates) corrected |= checkUpdate(op);
    eraseUnused();
    handler_.walk([&](pd::GetOp get) {
      if (isPulled(get))
        refute(get,
               "reads what a trainer has pulled, and it is not for the correction of a gradient",
               "read the variable itself");
    });
    return corrected;
  }

 private:
  void refute(mlir::Operation* op, std::string text, std::string remedy) {
    findings_.add(messageAt(op, Message::Level::Refuted, "delay-compensation", std::move(text),
                            std::move(remedy)));
  }

  // Of variables, and of what was pushed or is the reference's.
  std::optional<Polynomial> symbolOf(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    if (!op) return std::nullopt;
    if (auto get = llvm::dyn_cast<pd::GetOp>(op))
      return Polynomial::of((isPulled(get) ? "pulled `" : "`") + get.getVar().str() + "`");
    if (!llvm::isa<dist::MergedOp>(op) && !op->hasAttr(dist::kSrcAttr)) return std::nullopt;
    const std::string name = "gradient " + std::to_string(gradients_.size());
    for (const auto& [known, symbol] : gradients_)
      if (known == value) return Polynomial::of(symbol);
    gradients_.emplace_back(value, name);
    return Polynomial::of(name);
  }

  // g + (w - pulled)*g*g
  Polynomial correctionOf(const Polynomial& g) const {
    const Polynomial delay =
        Polynomial::of("`" + name_ + "`").plus(Polynomial::of("pulled `" + name_ + "`"), -1);
    return g.plus(delay.times(g).times(g));
  }

  // Delay compensation (DC-ASGD: Zheng et al. 2017) replaces a gradient g by g + (w − pulled)·g·g,
  // where `pulled` is the parameter that the trainer computed g from. The correction is recognised
  // as a polynomial and then taken out of the job, so that what is left can be compared with the
  // reference. Returns whether the op was changed.
  bool checkUpdate(mlir::Operation* op) {
    pd::OpView view(op);
    const std::optional<Polynomial> found = values_.of(view.input("Grad"));
    if (found)
      for (const auto& [gradient, symbol] : gradients_) {
        const Polynomial g = Polynomial::of(symbol);
        if (*found == g) {
          if (declared_)
            refute(op, "takes a gradient that is not corrected for its delay",
                   "add (w - pulled)*g*g to it, or do not declare the contract");
          return false;
        }
        if (*found == correctionOf(g)) {
          view.setInput("Grad", 0, gradient);
          return true;
        }
      }
    // An inserted op that is no correction at all is the relations' business.
    if (!usesPulled(view.input("Grad"))) return false;
    refute(op,
           "takes " + (found ? found->text() : std::string("a gradient that is not understood")) +
               "; a gradient g of `" + name_ + "` that is corrected for its delay is " +
               correctionOf(Polynomial::of("g")).text(),
           "add (w - pulled)*g*g to the gradient");
    return true;
  }

  // Through inserted ops alone: what stands for the reference's has no pulled value in it.
  static bool usesPulled(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    if (!op || op->hasAttr(dist::kSrcAttr)) return false;
    return isPulled(op) || llvm::any_of(op->getOperands(), usesPulled);
  }

  // From the last to the first, so that what only dead ops use goes, too. What does more than to
  // compute a value stays, and the walk says so; what is claimed of values that go is looked at by
  // nobody.
  void eraseUnused() {
    std::vector<mlir::Operation*> ops;
    handler_.walk([&](mlir::Operation* op) {
      const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
      const bool inserted = spec && spec->effects == pd::kPure && !op->hasAttr(dist::kSrcAttr) &&
                            op->getNumRegions() == 0;
      if (inserted || isPulled(op)) ops.push_back(op);
    });
    for (mlir::Operation* op : llvm::reverse(ops)) {
      if (!op->use_empty()) continue;
      if (op->hasAttr(dist::kRelAttr))
        findings_.add(messageAt(op, Message::Level::Unknown, "claim",
                                "claims a relation, and is part of a correction for delay: nobody "
                                "looks at it",
                                "remove its dist.rel"));
      op->erase();
    }
  }

  dist::HandleOp handler_;
  const std::string name_;
  const bool declared_;
  Rung& findings_;
  Evaluator values_;
  std::vector<std::pair<mlir::Value, std::string>> gradients_;
};

}  // namespace

bool compensatesDelay(mlir::ModuleOp job) {
  bool found = Contracts::of(job).declares(kTag);
  job.walk([&](pd::GetOp get) { found |= isPulled(get); });
  return found;
}

// A copy of the job in which the corrections are taken out, each having been checked.
mlir::OwningOpRef<mlir::ModuleOp> withoutCompensation(mlir::ModuleOp job,
                                                      const Contracts& contracts, Rung& findings,
                                                      Deviations& deviations) {
  mlir::OwningOpRef<mlir::ModuleOp> plain(llvm::cast<mlir::ModuleOp>(job->clone()));
  const bool declared = contracts.declares(kTag);
  std::vector<dist::HandleOp> handlers;
  plain->walk([&](dist::HandleOp handler) {
    if (handler.getKind() == dist::Handler::Push) handlers.push_back(handler);
  });
  for (dist::HandleOp handler : handlers)
    if (Handler(handler, declared, findings).check())
      deviations[kTag.str()].insert(handler.getVar()->str());
  if (!declared)
    findings.add(
        messageAt(job, Message::Level::Refuted, "contract",
                  "servers correct gradients for their delay, and the job does not declare "
                  "it",
                  "declare the contract \"delay_compensation\""));
  return plain;
}

}  // namespace dtranspile::verify
