#include "compiler/export/collective/pipeline.h"

#include "compiler/export/collective/point_to_point.h"
#include "compiler/export/edit.h"
#include "dialects/dist/lookup.h"
#include "dialects/pd/op_view.h"

namespace dtranspile {
namespace {

constexpr llvm::StringLiteral kMerged = "@MERGED";

void setRole(mlir::Operation* op, int role) {
  if (pd::OpView::isFrameworkOp(op))
    pd::OpView(op).setAttr("op_role", mlir::Builder(op->getContext()).getI32IntegerAttr(role));
}

// Lays out one dist.micro in the block that it stands in.
class Stage {
 public:
  Stage(dist::MicroOp micro, dist::MeshOp mesh, int64_t rank, llvm::ArrayRef<Ring> rings)
      : micro_(micro), builder_(micro), wires_(mesh, rank, rings), block_(micro->getBlock()) {}

  // The framework's section worker runs a program by roles: LRSched once before the micro-batches,
  // Forward and Backward for each of them in the order of its schedule, Optimize once after. So the
  // loop becomes a straight program, in which roles say what runs how often, and what lives across
  // micro-batches stays in persistable variables ("cells").
  mlir::LogicalResult run() {
    if (mlir::failed(check())) return mlir::failure();
    mlir::Block& body = micro_.getBody().front();
    sums_.resize(micro_.getInits().size());
    for (size_t i = 0; i < sums_.size(); ++i) beginSum(i, body);
    beforeTasks();
    for (mlir::Operation& op : llvm::make_early_inc_range(body.without_terminator()))
      if (auto task = llvm::dyn_cast<dist::OnOp>(op)) layOut(task);
    for (size_t i = 0; i < sums_.size(); ++i) endSum(i, body);
    afterTasks();
    micro_.erase();
    return mlir::success();
  }

 private:
  // A sum over micro-batches: its cell, and what it holds so far.
  struct Sum {
    std::string cell;
    mlir::Value value;
  };

  // What a send on the stream of communication may still read.
  struct UnderWay {
    mlir::Value value;
    int ring = 0;
    bool forward = true;
  };

  // What the framework's section worker can run: it knows two schedules, by whose order it runs all
  // forward ops and all backward ops of a program per micro-batch.
  mlir::LogicalResult check() {
    const llvm::StringRef schedule = micro_.getSchedule();
    if ((schedule != "F-then-B" && schedule != "1F1B") || micro_.getChunks() != 1)
      return micro_.emitError(
                 "export: the framework's section worker runs the schedules "
                 "'F-then-B' and '1F1B' with one chunk per stage, not '")
             << schedule << "' with " << micro_.getChunks();
    mlir::Block& body = micro_.getBody().front();
    for (mlir::Operation& op : body.without_terminator()) {
      auto task = llvm::dyn_cast<dist::OnOp>(op);
      if (!task || !task.getTask())
        return op.emitError(
            "export: stands in dist.micro outside of a task; the framework's "
            "section worker runs forward and backward tasks");
      if (*task.getTask() == dist::Task::W)
        return op.emitError("export: the framework's section worker has no task W");
    }
    const mlir::WalkResult wires = micro_.walk([&](mlir::Operation* op) {
      return llvm::isa<dist::SendOp, dist::RecvOp>(op) && mlir::failed(wires_.check(op))
                 ? mlir::WalkResult::interrupt()
                 : mlir::WalkResult::advance();
    });
    return mlir::failure(wires.wasInterrupted());
  }

  // The worker gives each micro-batch a scope of its own and drops it; persistable variables are
  // outside of it.
  void keep(mlir::Value value) {
    if (pd::DeclOp decl = declarations_.resolve(block_, dist::nameOf(value)))
      decl.setPersistable(true);
  }

  // What is computed once comes before the first micro-batch, and stays for the others.
  void beforeTasks() {
    for (mlir::Operation& op : llvm::make_range(block_->begin(), micro_->getIterator())) {
      if (!pd::OpView::isFrameworkOp(&op)) continue;
      setRole(&op, pd::kLrSched);
      for (mlir::Value result : op.getResults())
        if (!llvm::all_of(result.getUsers(), [&](mlir::Operation* user) {
              mlir::Operation* here = block_->findAncestorOpInBlock(*user);
              return here != micro_ && here->isBeforeInBlock(micro_);
            }))
          keep(result);
    }
  }

  // Running statistics: the framework takes them and gives them under one name, and whoever else
  // reads them looks at their extents only (D13).
  static bool isState(mlir::Operation* maker) { return pd::OpView(maker).type() == "batch_norm"; }

  // The value under the name of a cell: made under it where nobody knows it by its own name.
  mlir::Value intoCell(mlir::Value value, const std::string& cell, int role) {
    mlir::Operation* maker = value.getDefiningOp();
    if (maker && pd::OpView::isFrameworkOp(maker) && (value.hasOneUse() || isState(maker)) &&
        maker->getNumRegions() == 0) {
      renameResults(maker, [&](mlir::OpResult result, llvm::StringRef name) {
        return result == value ? cell : name.str();
      });
      return value;
    }
    builder_.setInsertionPoint(micro_);
    return declarations_
        .create(builder_, micro_.getLoc(), "assign", {{"X", {value}}},
                {{"Out", {{cell, value.getType()}}}}, {}, role)
        .output("Out");
  }

  // A sum carried by the loop: its cell is set to the initial value in front of the micro-batches,
  // and every micro-batch adds to it.
  void beginSum(size_t i, mlir::Block& body) {
    mlir::Value last = body.getTerminator()->getOperand(i);
    if (auto task = last.getDefiningOp<dist::OnOp>())
      last = task.getBody().front().getTerminator()->getOperand(
          llvm::cast<mlir::OpResult>(last).getResultNumber());
    Sum& sum = sums_[i];
    sum.cell = declarations_.freshName(block_, (dist::nameOf(last) + kMerged).str());
    declarations_.declare(block_, sum.cell, last.getType());
    declarations_.find(block_, sum.cell).setPersistable(true);
    sum.value = intoCell(micro_.getInits()[i], sum.cell, pd::kLrSched);
    body.getArgument(i).replaceAllUsesWith(sum.value);
  }

  // The ops of a task in front of the loop, in its role; sends and receives become the framework's.
  // With 1F1B sends go to the stream of communication, and the value must stay until the other side
  // has it (under_way_).
  void layOut(dist::OnOp task) {
    const bool forward = *task.getTask() == dist::Task::F;
    const bool aside = micro_.getSchedule() == "1F1B";
    const int role = forward ? pd::kForward : pd::kBackward;
    builder_.setInsertionPoint(micro_);
    mlir::Block& body = task.getBody().front();
    bool received = false;
    for (mlir::Operation& op : llvm::make_early_inc_range(body.without_terminator())) {
      op.moveBefore(micro_);
      if (pd::OpView::isFrameworkOp(&op)) {
        setRole(&op, role | (pd::OpView(&op).role() & pd::kLoss));
      } else if (auto send = llvm::dyn_cast<dist::SendOp>(op)) {
        mlir::Value value = send.getInput();
        mlir::Value sent = wires_.send(builder_, declarations_, send, role, aside);
        if (aside) {
          carryOn(value, sent);
          under_way_.push_back({sent, wires_.ringOf(send), forward});
        }
        send.erase();
      } else if (auto receive = llvm::dyn_cast<dist::RecvOp>(op)) {
        mlir::Value value = wires_.receive(builder_, declarations_, receive, role);
        receive.getOutput().replaceAllUsesWith(value);
        receive.erase();
        if (!forward && !received) releaseForward();
        received = true;
      }
    }
    task.getResults().replaceAllUsesWith(body.getTerminator()->getOperands());
    task.erase();
  }

  // An op that gives what it takes, under the same name.
  void passOn(const UnderWay& one, llvm::StringRef type,
              llvm::ArrayRef<mlir::NamedAttribute> attributes, int role) {
    carryOn(one.value,
            declarations_
                .create(builder_, micro_.getLoc(), type, {{"X", {one.value}}},
                        {{"Out", {{dist::nameOf(one.value).str(), one.value.getType()}}}},
                        attributes, role)
                .output("Out"));
  }

  // Later readers of a cell read what stands in it then.
  void carryOn(mlir::Value value, mlir::Value now) {
    mlir::Operation* maker = now.getDefiningOp();
    value.replaceUsesWithIf(now, [&](mlir::OpOperand& use) {
      mlir::Operation* user = block_->findAncestorOpInBlock(*use.getOwner());
      return user != maker && maker->isBeforeInBlock(user);
    });
  }

  // A gradient that has come back says that the activation had arrived.
  void releaseForward() {
    for (const UnderWay& one : under_way_)
      if (one.forward) passOn(one, "nop", {}, pd::kBackward);
    llvm::erase_if(under_way_, [](const UnderWay& one) { return one.forward; });
  }

  // The sum with the last term, under the name of the cell.
  void endSum(size_t i, mlir::Block& body) {
    mlir::Value last = body.getTerminator()->getOperand(i);
    Sum& sum = sums_[i];
    if (last != sum.value) {
      mlir::Operation* maker = last.getDefiningOp();
      sum.value =
          intoCell(last, sum.cell,
                   maker ? pd::OpView(maker).role() & ~pd::kLoss : static_cast<int>(pd::kForward));
    }
    micro_.getResult(i).replaceAllUsesWith(sum.value);
  }

  // What was sent last must have left before the update changes anything.
  void afterTasks() {
    builder_.setInsertionPoint(micro_);
    for (const UnderWay& one : under_way_)
      passOn(one, "c_sync_comm_stream",
             {builder_.getNamedAttr("ring_id", builder_.getI32IntegerAttr(one.ring))},
             pd::kOptimize);
    for (mlir::Operation& op : llvm::make_range(std::next(micro_->getIterator()), block_->end()))
      setRole(&op, pd::kOptimize);
  }

  dist::MicroOp micro_;
  mlir::OpBuilder builder_;
  pd::Declarations declarations_;
  PointToPoint wires_;
  mlir::Block* block_;
  std::vector<Sum> sums_;
  llvm::SmallVector<UnderWay> under_way_;
};

}  // namespace

// At most one loop over micro-batches, at the top of a program.
mlir::LogicalResult layOutStage(pd::ProgramOp program, dist::MeshOp mesh, int64_t rank,
                                llvm::ArrayRef<Ring> rings) {
  dist::MicroOp stage;
  mlir::WalkResult walked = program.walk([&](dist::MicroOp micro) {
    if (stage || micro->getBlock() != program.getBodyBlock()) {
      micro.emitError("export: the framework runs one loop over micro-batches in a program");
      return mlir::WalkResult::interrupt();
    }
    stage = micro;
    return mlir::WalkResult::advance();
  });
  if (walked.wasInterrupted()) return mlir::failure();
  return stage ? Stage(stage, mesh, rank, rings).run() : mlir::success();
}

}  // namespace dtranspile
