// Reductions and broadcasts that are left out, doubled, or made of another operation, communicator,
// root or order.
#include "dialects/dist/lookup.h"
#include "tools/dtranspile-mutate/edits.h"

namespace dtranspile::mutate {
namespace {

dist::CommOp commNamed(mlir::Operation* op) { return dist::lookupComm(op, dist::commOf(op)); }

// Collectives at the place of the view, of one kind.
template <typename Op>
std::vector<Op> all(JobView& view) {
  std::vector<Op> found;
  for (mlir::Operation* op : view.collectives)
    if (auto one = llvm::dyn_cast<Op>(op)) found.push_back(one);
  return found;
}

template <typename Op>
void dropped(JobView& view, Edits& edits) {
  for (Op op : all<Op>(view)) edits.add(op, "left out", [op] { bypass(op); });
}

// Of a bucket one member only: the others hide that something was exchanged wrongly.
template <typename Op>
void memberDropped(JobView& view, Edits& edits) {
  for (Op op : all<Op>(view))
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      if (!result.use_empty())
        edits.add(
            op, quoted(operand) + " is read as it was before it",
            [result = result, operand = operand]() mutable { result.replaceAllUsesWith(operand); });
}

// Of several readers of a sum one reads what went into it.
void passedBy(JobView& view, Edits& edits) {
  for (auto op : all<dist::AllReduceOp>(view))
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      if (!result.hasOneUse())
        for (mlir::OpOperand& use : result.getUses())
          edits.add(use.getOwner(), "reads " + quoted(operand) + " as it was before its reduction",
                    [at = &use, operand = operand]() { at->set(operand); });
}

// A sum of equal values is ranks times the value.
void doubled(JobView& view, Edits& edits) {
  for (auto op : all<dist::AllReduceOp>(view))
    for (mlir::Value result : resultsOf(op))
      edits.add(op, quoted(result) + " is reduced once more", [op, result]() mutable {
        Readers readers(result);
        mlir::OpBuilder builder(op.getContext());
        builder.setInsertionPointAfterValue(result);
        auto again = dist::AllReduceOp::create(
            builder, op.getLoc(), mlir::TypeRange(result.getType()), op.getReduceAttr(),
            mlir::ValueRange(result), op.getCommAttr());
        readers.read(again.getResult(0));
      });
}

// Max and min of equal values are the value: on one rank, or with equal shares, a run does not show
// them.
void otherOperation(JobView& view, Edits& edits) {
  for (auto op : all<dist::AllReduceOp>(view))
    for (dist::Reduce reduce : {dist::Reduce::Max, dist::Reduce::Min, dist::Reduce::Prod})
      edits.add(op, "combines with " + dist::stringifyReduce(reduce).str(), [op, reduce]() mutable {
        op.setReduceAttr(dist::ReduceAttr::get(op.getContext(), reduce));
      });
}

// Sums over fewer or other ranks.
void otherComm(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.collectives)
    for (dist::CommOp comm : view.groupComms())
      if (dist::CommOp own = commNamed(op); own && comm.getAxes() != own.getAxes())
        edits.add(op, "on @" + comm.getSymName().str() + " in place of @" + own.getSymName().str(),
                  [op, comm]() mutable {
                    op->setAttr("comm", mlir::FlatSymbolRefAttr::get(comm.getSymNameAttr()));
                  });
}

// The communicator itself changes, and with it every op that uses it.
void otherAxes(JobView& view, Edits& edits) {
  for (dist::CommOp comm : view.groupComms())
    for (mlir::Attribute axis : view.mesh.getAxes()) {
      auto axes = mlir::ArrayAttr::get(comm.getContext(), axis);
      if (axes != comm.getAxes())
        edits.add(comm, "@" + comm.getSymName().str() + " is over another axis",
                  [comm, axes]() mutable { comm.setAxesAttr(axes); });
    }
}

// Ranks outside of a subset do not take part, and wait for nobody: those inside have the wrong sum.
void subset(JobView& view, Edits& edits) {
  for (dist::CommOp comm : view.groupComms())
    for (auto axis : comm.getAxes().getAsValueRange<mlir::StringAttr>())
      edits.add(comm, "@" + comm.getSymName().str() + " is of the first rank only",
                [comm, axis]() mutable {
                  comm.setSubsetAttr(dist::SelAttr::point(comm.getContext(), axis, 0));
                });
}

// Results, or operands, of one bucket: each member gets another one's sum.
void swapped(mlir::Operation* op, mlir::ValueRange values, bool results, Edits& edits) {
  for (size_t i = 0; i + 1 < values.size(); ++i)
    for (size_t j = i + 1; j < values.size(); ++j) {
      mlir::Value a = values[i], b = values[j];
      if (a.getType() != b.getType() || a == b) continue;
      edits.add(op, quoted(a) + " and " + quoted(b) + " change places", [=]() mutable {
        if (!results) {
          op->setOperand(i, b);
          op->setOperand(j, a);
          return;
        }
        Readers ofA(a), ofB(b);
        ofA.read(b);
        ofB.read(a);
      });
      break;
    }
}
void membersSwapped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.collectives) swapped(op, resultsOf(op), true, edits);
}
void operandsSwapped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.collectives) swapped(op, op->getOperands(), false, edits);
}

// All ranks go on with equal values, as they should, but with those of the first rank's samples
// alone.
void toBroadcast(JobView& view, Edits& edits) {
  for (auto op : all<dist::AllReduceOp>(view)) {
    dist::CommOp comm = commNamed(op);
    if (!comm || op->getNumResults() != op->getNumOperands()) continue;
    edits.add(op, "is a broadcast from the first rank", [op, comm]() mutable {
      llvm::SmallVector<dist::AxisSetAttr> sets;
      for (mlir::Attribute axis : comm.getAxes())
        sets.push_back(dist::AxisSetAttr::of(llvm::cast<mlir::StringAttr>(axis), {{0, 1}}));
      mlir::OpBuilder builder(op);
      auto now =
          dist::BroadcastOp::create(builder, op.getLoc(), op->getResultTypes(), op.getInputs(),
                                    op.getCommAttr(), dist::SelAttr::of(op.getContext(), sets));
      op->replaceAllUsesWith(now->getResults());
      op->erase();
    });
  }
}

// Only along axes that have a second rank.
void otherRoot(JobView& view, Edits& edits) {
  for (auto op : all<dist::BroadcastOp>(view))
    for (dist::AxisSetAttr set : op.getRoot().getSets())
      if (view.mesh.sizeOf(set.getAxis().getValue()).value_or(1) > 1)
        edits.add(op, "from the second rank", [op, set]() mutable {
          llvm::SmallVector<dist::AxisSetAttr> sets;
          for (dist::AxisSetAttr one : op.getRoot().getSets())
            sets.push_back(one == set ? dist::AxisSetAttr::of(set.getAxis(), {{1, 2}}) : one);
          op.setRootAttr(dist::SelAttr::of(op.getContext(), sets));
        });
}

// The sum over the ranks is taken of one term, before the others are added.
void tooEarly(JobView& view, Edits& edits) {
  for (auto op : all<dist::AllReduceOp>(view))
    for (auto [i, operand] : llvm::enumerate(op->getOperands())) {
      mlir::Operation* producer = operand.getDefiningOp();
      if (!producer || !pd::OpView::isFrameworkOp(producer) || producer->getNumOperands() < 2)
        continue;
      for (mlir::OpOperand& term : producer->getOpOperands())
        if (term.get().getType() == operand.getType() && i < resultsOf(op).size())
          edits.add(op, quoted(term.get()) + " is reduced in place of " + quoted(operand),
                    [op, i = i, at = &term, producer, comm = commNamed(op)]() mutable {
                      mlir::OpBuilder builder(producer);
                      at->set(reduced(builder, at->get(), comm));
                      resultsOf(op)[i].replaceAllUsesWith(op->getOperand(i));
                    });
    }
}

// What is not linear (clip, decay by the norm) sees the gradient of one rank.
void tooLate(JobView& view, Edits& edits) {
  for (auto op : all<dist::AllReduceOp>(view))
    for (auto [result, operand] : llvm::zip(resultsOf(op), op->getOperands()))
      for (mlir::Operation* user : result.getUsers()) {
        if (!pd::OpView::isFrameworkOp(user) || user->getNumResults() == 0 ||
            user->getResult(0).getType() != result.getType())
          continue;
        edits.add(user, "is reduced on the results, not on " + quoted(operand),
                  [=, result = result, operand = operand, comm = commNamed(op)]() mutable {
                    user->replaceUsesOfWith(result, operand);
                    Readers readers(user->getResult(0));
                    mlir::OpBuilder builder(user->getContext());
                    builder.setInsertionPointAfter(user);
                    readers.read(reduced(builder, user->getResult(0), comm));
                  });
      }
}

// Readers take what was there before the operation; started and never waited for, it may end at any
// time.
void waitDropped(JobView& view, Edits& edits) {
  for (mlir::Operation* op : view.collectives)
    for (mlir::Operation* user : op->getUsers())
      if (auto wait = llvm::dyn_cast<dist::WaitOp>(user); wait && givesBack(op))
        edits.add(op, "nobody waits for it", [op, wait]() mutable {
          for (auto [result, operand] : llvm::zip(wait.getOutputs(), op->getOperands()))
            result.replaceAllUsesWith(operand);
          wait->erase();
        });
}

// On every communicator of the job in turn.
void inserted(JobView& view, Edits& edits) {
  for (dist::CommOp comm : view.groupComms())
    for (mlir::Value value : view.values)
      if (value.getDefiningOp() && !llvm::isa<pd::InputOp>(value.getDefiningOp()))
        edits.add(value.getDefiningOp(),
                  quoted(value) + " is reduced on @" + comm.getSymName().str(),
                  [value, comm]() mutable {
                    Readers readers(value);
                    mlir::OpBuilder builder(comm.getContext());
                    builder.setInsertionPointAfterValue(value);
                    readers.read(reduced(builder, value, comm));
                  });
}

// The rank waits for ever, and what it computes is right: only a proof that communication ends
// finds it.
void barrierOnOneRank(JobView& view, Edits& edits) {
  for (dist::CommOp comm : view.groupComms())
    if (comm.overAxis(view.axis))
      edits.add(comm, "one rank enters a barrier",
                [comm, program = view.program, axis = view.axis]() mutable {
                  auto builder = mlir::OpBuilder::atBlockEnd(program.getBodyBlock());
                  auto on =
                      dist::OnOp::create(builder, program.getLoc(), mlir::TypeRange(),
                                         dist::SelAttr::point(builder.getContext(), axis, 0),
                                         mlir::ValueRange(), dist::TaskAttr(), mlir::IntegerAttr());
                  builder.createBlock(&on.getBody());
                  dist::BarrierOp::create(builder, program.getLoc(), comm.getSymName());
                  dist::YieldOp::create(builder, program.getLoc(), mlir::ValueRange());
                });
}

// Two reductions, in one order on the first rank and in the other one elsewhere.
// Both are moved into a guard of the first rank, in the other order there. Only pairs whose first
// result is not needed between them can be turned around; the values stay right, and the ranks wait
// for each other for ever (or, with equal sizes, exchange the sums).
void reordered(JobView& view, Edits& edits) {
  auto reductions = all<dist::AllReduceOp>(view);
  for (size_t i = 0; i + 1 < reductions.size(); ++i) {
    dist::AllReduceOp a = reductions[i], b = reductions[i + 1];
    auto early = llvm::all_of(a->getUsers(), [&](mlir::Operation* user) {
      return user->getBlock() == b->getBlock() && b->isBeforeInBlock(user);
    });
    if (!early || a->getBlock() != b->getBlock() || a->getNumResults() != a->getNumOperands() ||
        b->getNumResults() != b->getNumOperands() || a->getNumResults() != 1 ||
        b->getNumResults() != 1)
      continue;
    edits.add(
        b, "stands before the reduction before it on the first rank",
        [a, b, axis = view.axis]() mutable {
          mlir::OpBuilder builder(b);
          llvm::SmallVector<mlir::Type> types = {a->getResultTypes()[0], b->getResultTypes()[0]};
          auto on = dist::OnOp::create(builder, b.getLoc(), types,
                                       dist::SelAttr::point(b.getContext(), axis, 0),
                                       mlir::ValueRange(), dist::TaskAttr(), mlir::IntegerAttr());
          for (mlir::Region* region : {&on.getBody(), &on.getOtherwise()}) {
            builder.createBlock(region);
            bool turned = region == &on.getBody();
            mlir::Operation* first = builder.clone(turned ? *b : *a);
            mlir::Operation* second = builder.clone(turned ? *a : *b);
            dist::YieldOp::create(builder, b.getLoc(),
                                  mlir::ValueRange{(turned ? second : first)->getResult(0),
                                                   (turned ? first : second)->getResult(0)});
          }
          a->getResult(0).replaceAllUsesWith(on->getResult(0));
          b->getResult(0).replaceAllUsesWith(on->getResult(1));
          a->erase();
          b->erase();
        });
  }
}

}  // namespace

std::vector<Kind> communicationKinds() {
  const char* group = "communication";
  using dist::AllReduceOp, dist::BroadcastOp;
  return {
      {group, "reduction-dropped", "a reduction is left out", Place::Main, dropped<AllReduceOp>},
      {group, "reduction-member-dropped", "one member of a bucket is read as it was before",
       Place::Main, memberDropped<AllReduceOp>},
      {group, "reduction-one-reader", "one reader of a sum reads what went into it", Place::Main,
       passedBy},
      {group, "reduction-doubled", "a value is reduced twice", Place::Main, doubled},
      {group, "reduction-operation", "max, min or product in place of the sum", Place::Main,
       otherOperation},
      {group, "other-comm", "on a communicator of other axes", Place::Main, otherComm},
      {group, "comm-axes", "a communicator is over another axis", Place::Main, otherAxes},
      {group, "comm-subset", "a communicator is of some ranks only", Place::Main, subset},
      {group, "bucket-results-swapped", "two members of a bucket get each other's sum", Place::Main,
       membersSwapped},
      {group, "bucket-operands-swapped", "two values of a bucket enter in each other's place",
       Place::Main, operandsSwapped},
      {group, "reduction-to-broadcast", "one rank's value in place of the sum", Place::Main,
       toBroadcast},
      {group, "reduction-too-early", "one term is reduced before the others are added", Place::Main,
       tooEarly},
      {group, "reduction-too-late", "what follows the reduction sees one rank's gradient",
       Place::Main, tooLate},
      {group, "reduction-inserted", "a value is summed over the ranks that needs no sum",
       Place::Main, inserted},
      {group, "wait-dropped", "a started reduction that nobody waits for", Place::Main,
       waitDropped},
      {group, "barrier-on-one-rank", "one rank waits for the others, which do not come",
       Place::Main, barrierOnOneRank},
      {group, "reordered-on-one-rank", "two reductions in different orders on different ranks",
       Place::Main, reordered},
      {group, "composite-reduction-dropped", "a reduction of a composite is left out",
       Place::Composites, dropped<AllReduceOp>},
      {group, "composite-reduction-member-dropped", "one value of a composite is not reduced",
       Place::Composites, memberDropped<AllReduceOp>},
      {group, "composite-reduction-doubled", "a value of a composite is reduced twice",
       Place::Composites, doubled},
      {group, "composite-reduction-operation", "a composite combines with another operation",
       Place::Composites, otherOperation},
      {group, "composite-results-swapped", "two sums of a composite change places",
       Place::Composites, membersSwapped},
      {group, "composite-reduction-inserted", "a value of a composite is summed once more",
       Place::Composites, inserted},
      {group, "broadcast-dropped", "an initial value is not broadcast", Place::Startup,
       dropped<BroadcastOp>},
      {group, "broadcast-member-dropped", "one member of a broadcast is read as it was before",
       Place::Startup, memberDropped<BroadcastOp>},
      {group, "broadcast-root", "an initial value comes from another rank", Place::Startup,
       otherRoot},
      {group, "broadcast-swapped", "two variables get each other's initial value", Place::Startup,
       membersSwapped},
  };
}

}  // namespace dtranspile::mutate
