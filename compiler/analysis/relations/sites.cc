#include "compiler/analysis/relations/sites.h"

#include <algorithm>

#include "compiler/analysis/program_info.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SmallPtrSet.h"

namespace dtranspile::verify {
namespace {

// The value that stands for the loss; null where none does.
mlir::Value lossOf(const Question& question, const Store& store, llvm::StringRef name) {
  const int loss = question.reference.namedNumber(name);
  return loss < 0 ? mlir::Value() : store.lastFor(loss);
}

// What the step keeps: values of persistables, what updates take, and what is handed to servers;
// and the loss, by which people judge a step.
llvm::SmallVector<mlir::Value> keptValues(const Question& question, const Store& store) {
  llvm::SmallVector<mlir::Value> kept;
  if (mlir::Value loss = lossOf(question, store, findLoss(question.program))) kept.push_back(loss);
  pd::ProgramOp(question.program)->walk([&](mlir::Operation* op) {
    // What a variable is set to counts, whatever it is set to later: it is read in between.
    if (llvm::isa<dist::PushOp, pd::SetOp>(op)) kept.append(op->operand_begin(), op->operand_end());
    auto number = op->getAttrOfType<mlir::IntegerAttr>(dist::kSrcAttr);
    mlir::Operation* reference =
        number && pd::OpView::isFrameworkOp(op) ? question.reference.op(number.getInt()) : nullptr;
    if (reference && isUpdate(question, op, reference))
      kept.append(op->operand_begin(), op->operand_end());
  });
  return kept;
}

// Walks back from what is kept to the ops that it is made by.
class Sources {
 public:
  Sources(const Question& question, const Store& store) : question_(question), store_(store) {}

  void follow(mlir::Value kept) {
    work_.push_back(kept);
    while (!work_.empty()) visit(work_.pop_back_val());
  }
  bool reached(mlir::Operation* op) const { return ops_.contains(op); }

 private:
  // Backward reachability with a work list: which ops a value of a share comes from. The walk stops
  // at framework ops whose result is not per share, and goes through guards, loops and
  // communication, which only hand values on.
  void visit(mlir::Value value) {
    mlir::Operation* op = value.getDefiningOp();
    // Of what guards, loops and communication hand on the operands say whether they are of a share.
    if (op && pd::OpView::isFrameworkOp(op) && !store_.of(value).perShare) return;
    if (!values_.insert(value).second) return;
    if (!op) return enter(llvm::cast<mlir::BlockArgument>(value));
    ops_.insert(op);
    if (op->getNumOperands() == 0) followSeed(op);
    // Control flow of the framework is one op of all that it reads, or its blocks were walked
    // (branches.h): then what they give says more, else nothing.
    if (pd::OpView::isFrameworkOp(op)) {
      for (mlir::Region& region : op->getRegions())
        for (mlir::Block& block : region)
          if (!block.empty())
            work_.append(block.back().operand_begin(), block.back().operand_end());
    } else if (op->getNumRegions() != 0 && leave(llvm::cast<mlir::OpResult>(value))) return;
    work_.append(op->operand_begin(), op->operand_end());
  }

  // The gradient of a loss begins with that loss, though no operand says so: where every share has
  // a loss of its own, the seed is per share for that reason.
  void followSeed(mlir::Operation* op) {
    const int role = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).role() : 0;
    if (!(role & pd::kBackward) || !(role & pd::kLoss)) return;
    llvm::StringRef name = pd::nameOf(op->getResult(0));
    const size_t at = name.find("@GRAD");
    const std::string loss =
        at == llvm::StringRef::npos ? findLoss(question_.program) : name.take_front(at).str();
    if (mlir::Value value = lossOf(question_, store_, loss)) work_.push_back(value);
  }

  // An argument of a region: what enters there, and what comes round again. The first ones of a
  // loop over blocks are its own.
  void enter(mlir::BlockArgument argument) {
    mlir::Operation* parent = argument.getOwner()->getParentOp();
    if (!parent || llvm::isa<pd::ProgramOp>(parent)) return;
    if (pd::OpView::isFrameworkOp(parent)) {
      work_.append(parent->operand_begin(), parent->operand_end());
      return;
    }
    const auto own =
        static_cast<int>(argument.getOwner()->getNumArguments() - parent->getNumOperands());
    const int at = static_cast<int>(argument.getArgNumber()) - std::max(own, 0);
    if (at < 0) return;
    if (at < static_cast<int>(parent->getNumOperands())) work_.push_back(parent->getOperand(at));
    mlir::Operation& last = argument.getOwner()->back();
    if (parent->getNumResults() == last.getNumOperands() &&
        at < static_cast<int>(last.getNumOperands()))
      work_.push_back(last.getOperand(at));
  }

  // A result of an op with regions: what leaves them in its place. False where that is not said.
  bool leave(mlir::OpResult result) {
    mlir::Operation* op = result.getOwner();
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) {
        if (block.empty() || block.back().getNumOperands() != op->getNumResults()) return false;
        work_.push_back(block.back().getOperand(result.getResultNumber()));
      }
    return true;
  }

  const Question& question_;
  const Store& store_;
  llvm::SmallPtrSet<mlir::Operation*, 32> ops_;
  llvm::DenseSet<mlir::Value> values_;
  llvm::SmallVector<mlir::Value> work_;
};

}  // namespace

// The sites that something which outlives the step depends on; others change nothing that anybody
// sees.
std::vector<Site> reachedSites(const Question& question, const Store& store) {
  Sources sources(question, store);
  for (mlir::Value value : keptValues(question, store)) sources.follow(value);
  std::vector<Site> reached;
  for (const Site& site : store.sites())
    if (sources.reached(site.op)) reached.push_back(site);
  return reached;
}

}  // namespace dtranspile::verify
