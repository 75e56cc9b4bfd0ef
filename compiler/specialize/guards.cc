// Guards of a program as a class of ranks sees them, in one walk in the order of the text: what a
// guard takes in has been seen when the walk comes to it.
#include "compiler/specialize/guards.h"

#include "compiler/analysis/tasks.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

namespace dtranspile {
namespace {

using dist::AtType;
using dist::SelAttr;
using mlir::LogicalResult;

// The numbers that a random op draws belong to the op that it stands for (docs/tensor-files.md).
bool draws(mlir::Operation* op) {
  const pd::OpSpec* spec = pd::OpView::isFrameworkOp(op) ? pd::OpView(op).spec() : nullptr;
  return spec && (spec->effects & pd::kRandom) != 0;
}

// Makes the program of all ranks that of one class: guards that hold for the whole class are
// opened, those that hold for none of it go, located values that the class has become plain ones,
// transfers become their sends or receives. What is left are guards that hold for some ranks of the
// class.
class Resolver {
 public:
  Resolver(pd::ProgramOp program, SelAttr ranks, const SpecializeOptions& options)
      : program_(program), options_(options) {
    for (auto decl : program.getBodyBlock()->getOps<pd::DeclOp>()) declared_.insert(decl.getName());
    program.walk([&](dist::TransferOp transfer) {
      auto where = [](mlir::Value value) { return llvm::cast<AtType>(value.getType()).getWhere(); };
      const auto number = static_cast<int64_t>(ends_.size());
      const bool inTasks = llvm::isa<dist::MicroOp>(transfer->getParentOp());
      ends_[transfer] = {where(transfer.getInput()), where(transfer.getOutput()), number,
                         inTasks ? arrivalOf(transfer, ranks) : dist::OnOp()};
    });
  }

  // `ranks`: those of the class that come to this block.
  LogicalResult run(mlir::Block& block, SelAttr ranks) {
    for (auto at = block.begin(); at != block.end();) {
      mlir::Operation* before = at->getPrevNode();
      const Outcome outcome = see(&*at, ranks);
      if (outcome == Outcome::Failed) return mlir::failure();
      // What has taken the place of the op is seen next.
      if (outcome == Outcome::Kept) ++at;
      else at = before ? std::next(before->getIterator()) : block.begin();
    }
    return mlir::success();
  }

  // Values that nobody here holds, and nobody here looks at.
  void dropUnread() {
    llvm::erase_if(nothings_, [](pd::UndefOp undef) {
      const bool unread = undef.getValue().use_empty();
      if (unread) undef.erase();
      return unread;
    });
  }

 private:
  enum class Outcome : uint8_t { Kept, Replaced, Failed };

  // The framework's operators of this name exchange nothing: its graph executor did it for them.
  // What a body of ours says is the whole of it.
  static bool isWholeOperator(dist::CompositeOp composite) {
    return !composite.getOp().starts_with("dgc_") &&  // dgc_momentum, dgc_clip_by_norm
           composite.getOp() != "sum_of_terms";
  }

  // Says whether the op is still there: one that is replaced leaves others in its place, which the
  // walk has not seen.
  Outcome see(mlir::Operation* op, SelAttr ranks) {
    if (auto on = llvm::dyn_cast<dist::OnOp>(op)) return seeGuard(on, ranks);
    if (auto transfer = llvm::dyn_cast<dist::TransferOp>(op)) return seeTransfer(transfer, ranks);
    if (auto assume = llvm::dyn_cast<dist::AssumeOp>(op)) {
      assume.getOutput().replaceAllUsesWith(assume.getInput());
      return assume.erase(), Outcome::Replaced;
    }
    if (auto composite = llvm::dyn_cast<dist::CompositeOp>(op);
        composite && (options_.inlineComposites || !isWholeOperator(composite)))
      return replaceBy(op, composite.getBody()), Outcome::Replaced;
    auto micro = llvm::dyn_cast<dist::MicroOp>(op);
    if (micro && dropForeignSums(micro, ranks)) return Outcome::Replaced;
    if (!draws(op)) op->removeAttr(dist::kSrcAttr);
    for (mlir::Value result : op->getResults()) result.setType(seen(result.getType(), ranks));
    for (mlir::Region& region : op->getRegions())
      for (mlir::Block& block : region) {
        for (mlir::Value argument : block.getArguments())
          argument.setType(seen(argument.getType(), ranks));
        if (mlir::failed(run(block, ranks))) return Outcome::Failed;
      }
    if (!micro) return Outcome::Kept;
    dropUnread();
    dropUnreadResults(micro);
    return mlir::failed(gatherTasks(micro, arrivals_)) ? Outcome::Failed : Outcome::Kept;
  }

  // A located type as it is where all ranks have the value.
  mlir::Type seen(mlir::Type type, SelAttr ranks) {
    if (auto at = llvm::dyn_cast<AtType>(type))
      return at.getWhere().contains(ranks) ? at.getType() : type;
    auto pending = llvm::dyn_cast<dist::PendingType>(type);
    if (!pending) return type;
    llvm::SmallVector<mlir::Type> inner;
    for (mlir::Type each : pending.getTypes()) inner.push_back(seen(each, ranks));
    return dist::PendingType::get(type.getContext(), inner);
  }

  // Declarations go to the top of the program, where a name has one.
  void hoistDeclarations(mlir::Block& body) {
    mlir::Block* top = program_.getBodyBlock();
    for (pd::DeclOp decl : llvm::make_early_inc_range(body.getOps<pd::DeclOp>())) {
      if (declared_.insert(decl.getName()).second) decl->moveBefore(top, top->begin());
      else decl.erase();
    }
  }

  // The body takes the place of the op: arguments become operands, results what the body yields.
  void replaceBy(mlir::Operation* op, mlir::Region& region) {
    mlir::Block& body = region.front();
    hoistDeclarations(body);
    for (auto [argument, operand] : llvm::zip(body.getArguments(), op->getOperands()))
      argument.replaceAllUsesWith(operand);
    mlir::Operation* terminator = body.getTerminator();
    llvm::SmallVector<mlir::Value> yielded(terminator->getOperands());
    op->getBlock()->getOperations().splice(op->getIterator(), body.getOperations(), body.begin(),
                                           terminator->getIterator());
    op->replaceAllUsesWith(yielded);
    op->erase();
  }

  // No rank of this class looks at what none of them holds, but for operations between ranks of
  // which others read it: a broadcast takes it as an operand that only its root reads.
  void replaceByNothing(mlir::Value value, mlir::OpBuilder builder) {
    if (value.use_empty()) return;
    auto nothing = pd::UndefOp::create(builder, value.getLoc(), dist::unlocated(value.getType()),
                                       dist::nameOf(value));
    value.replaceAllUsesWith(nothing.getValue());
    nothings_.push_back(nothing);
  }
  void replaceByNothing(mlir::Operation* op) {
    for (mlir::Value result : op->getResults()) replaceByNothing(result, mlir::OpBuilder(op));
    op->erase();
  }

  // All ranks of the class, none, or some; tasks keep their guard, as the schedule goes by it.
  Outcome seeGuard(dist::OnOp on, SelAttr ranks) {
    const bool all = on.getWhere().contains(ranks);
    SelAttr inside = on.getWhere().intersect(ranks);
    if (all && on.getTask()) return keepTask(on, ranks);
    if (all) return replaceBy(on, on.getBody()), Outcome::Replaced;
    if (!inside && on.getOtherwise().empty()) return replaceByNothing(on), Outcome::Replaced;
    if (!inside) return replaceBy(on, on.getOtherwise()), Outcome::Replaced;
    capturePlainOperands(on);
    hoistDeclarations(on.getBody().front());
    if (mlir::failed(run(on.getBody().front(), inside))) return Outcome::Failed;
    if (on.getOtherwise().empty()) return Outcome::Kept;
    hoistDeclarations(on.getOtherwise().front());
    return mlir::failed(run(on.getOtherwise().front(), ranks)) ? Outcome::Failed : Outcome::Kept;
  }

  // A task that the whole class runs: its values are plain here.
  Outcome keepTask(dist::OnOp on, SelAttr ranks) {
    if (!on.getOtherwise().empty()) {
      on.emitError(
          "is a task with an else-body; a task is run by its own stages only: give the other "
          "stages a guard of their own");
      return Outcome::Failed;
    }
    capturePlainOperands(on);
    for (mlir::Value result : on.getResults()) result.setType(seen(result.getType(), ranks));
    hoistDeclarations(on.getBody().front());
    return mlir::failed(run(on.getBody().front(), ranks)) ? Outcome::Failed : Outcome::Kept;
  }

  // Arguments that have lost their location.
  void capturePlainOperands(dist::OnOp on) {
    mlir::Block& body = on.getBody().front();
    for (auto i = static_cast<unsigned>(on.getInputs().size()); i-- > 0;) {
      mlir::Value operand = on.getInputs()[i];
      if (llvm::isa<AtType>(operand.getType())) continue;
      body.getArgument(i).replaceAllUsesWith(operand);
      body.eraseArgument(i);
      on->eraseOperand(i);
    }
  }

  // Both ends of a transfer cut the classes, so that all ranks of one are at an end, or none.
  Outcome seeTransfer(dist::TransferOp transfer, SelAttr ranks) {
    const auto [source, target, number, arrival] = ends_.at(transfer);
    dist::CommOp comm = dist::lookupComm(transfer, transfer.getCommAttr());
    auto coordinate = [&](SelAttr end) {
      return end.lookup(llvm::cast<mlir::StringAttr>(comm.getAxes()[0])).getBounds()[0];
    };
    mlir::OpBuilder builder(transfer);
    if (source.contains(ranks)) {
      dist::SendOp::create(builder, transfer.getLoc(), transfer.getInput(), transfer.getCommAttr(),
                           builder.getI64IntegerAttr(coordinate(target)));
    } else if (target.contains(ranks)) {
      llvm::StringRef name = dist::nameOf(transfer.getInput());
      auto recv = dist::RecvOp::create(
          builder, transfer.getLoc(), dist::unlocated(transfer.getOutput().getType()),
          transfer.getCommAttr(), builder.getI64IntegerAttr(coordinate(source)),
          name.empty() ? mlir::StringAttr() : builder.getStringAttr(name),
          builder.getI64IntegerAttr(number));
      transfer.getOutput().replaceAllUsesWith(recv.getOutput());
      arrivals_[recv] = arrival;
    }
    return replaceByNothing(transfer), Outcome::Replaced;
  }

  // Puts a dist.micro without the sums that only other ranks keep in the place of this one; false
  // where it has none.
  bool dropForeignSums(dist::MicroOp micro, SelAttr ranks) {
    mlir::Block& body = micro.getBody().front();
    llvm::SmallVector<unsigned> kept, gone;
    for (auto [i, type] : llvm::enumerate(micro.getResultTypes())) {
      auto at = llvm::dyn_cast<AtType>(type);
      const bool foreign = at && !at.getWhere().intersect(ranks);
      (foreign ? gone : kept).push_back(static_cast<unsigned>(i));
    }
    if (gone.empty()) return false;
    mlir::OperationState state(micro.getLoc(), micro->getName());
    state.addAttributes(micro->getAttrs());
    for (unsigned i : kept) {
      state.operands.push_back(micro->getOperand(i));
      state.types.push_back(micro->getResult(i).getType());
    }
    state.addRegion();
    mlir::OpBuilder builder(micro);
    mlir::Operation* fresh = builder.create(state);
    for (auto [i, result] : llvm::zip(kept, fresh->getResults()))
      micro->getResult(i).replaceAllUsesWith(result);
    for (unsigned i : llvm::reverse(gone)) {
      replaceByNothing(body.getArgument(i), mlir::OpBuilder(&body, body.begin()));
      body.eraseArgument(i);
      body.getTerminator()->eraseOperand(i);
      replaceByNothing(micro->getResult(i), builder);
    }
    fresh->getRegion(0).takeBody(micro.getBody());
    micro.erase();
    return true;
  }

  pd::ProgramOp program_;
  const SpecializeOptions& options_;
  llvm::StringSet<> declared_;
  struct Ends {
    SelAttr source, target;
    int64_t number;      // of the transfer in the program
    dist::OnOp arrival;  // in a dist.micro
  };
  llvm::DenseMap<mlir::Operation*, Ends> ends_;
  Arrivals arrivals_;
  std::vector<pd::UndefOp> nothings_;
};

}  // namespace

LogicalResult resolveGuards(pd::ProgramOp program, const RankClass& rankClass,
                            const SpecializeOptions& options) {
  Resolver resolver(program, rankClass.where, options);
  if (mlir::failed(resolver.run(*program.getBodyBlock(), rankClass.where))) return mlir::failure();
  resolver.dropUnread();
  return mlir::success();
}

}  // namespace dtranspile
