// A stage of a pipeline as the thread of events that it is. The schedule's table has a row of
// entries (task, chunk, micro-batch) per stage; the body of dist.micro has the regions. An entry is
// a turn: the region that it names, with the micro-batch's number, the receives of what the region
// takes (the first of a stage's turns that takes a value receives it, later ones have it), and the
// sends of what it gives. What a stage only passes on comes and goes with its arrival
// (compiler/analysis/tasks.h). What cannot be cut into turns (values that no task makes, or that
// something else takes) has no order, and the reason is kept for the report.
#include "compiler/verify/communication/pipeline.h"

#include <set>

#include "compiler/analysis/tasks.h"
#include "compiler/schedule/schedule.h"
#include "dialects/dist/lookup.h"

namespace dtranspile::verify {
namespace {

// Above this an order is not written out.
constexpr int64_t kMostEntries = int64_t{1} << 20;

std::vector<dist::OnOp> tasksOf(dist::MicroOp micro) {
  std::vector<dist::OnOp> tasks;
  for (auto on : micro.getBody().front().getOps<dist::OnOp>())
    if (on.getTask()) tasks.push_back(on);
  return tasks;
}

// The axis of the stages: that of the transfers, else one that all tasks name.
mlir::StringAttr axisOf(dist::MicroOp micro, llvm::ArrayRef<dist::OnOp> tasks) {
  for (auto transfer : micro.getBody().front().getOps<dist::TransferOp>())
    if (dist::CommOp comm = dist::lookupComm(transfer, transfer.getCommAttr()))
      return llvm::cast<mlir::StringAttr>(comm.getAxes()[0]);
  for (dist::AxisSetAttr set : dist::OnOp(tasks.front()).getWhere().getSets())
    if (llvm::all_of(tasks, [&](dist::OnOp task) {
          return static_cast<bool>(task.getWhere().lookup(set.getAxis()));
        }))
      return set.getAxis();
  return {};
}

dist::SelAttr locationOf(mlir::Value value) {
  return llvm::cast<dist::AtType>(value.getType()).getWhere();
}

bool isTask(mlir::Operation* op) {
  auto on = llvm::dyn_cast_or_null<dist::OnOp>(op);
  return on && on.getTask();
}

// The moves of one entry of the row, whose tasks are one region in the text of the class: receives
// at its head, sends at its end, both in the order of the text (compiler/specialize/tasks.cc).
class Moves {
 public:
  // Transfers of the body; of one that only hands a value on, the task of these ranks in which it
  // arrives.
  Moves(dist::MicroOp micro, dist::SelAttr where) : where_(where) {
    for (auto transfer : micro.getBody().front().getOps<dist::TransferOp>()) {
      const bool passed =
          transfer->use_empty() || llvm::any_of(transfer->getUsers(), [](auto* user) {
            return llvm::isa<dist::TransferOp>(user);
          });
      moves_.push_back({transfer, passed ? arrivalOf(transfer, where) : dist::OnOp()});
    }
  }

  void add(llvm::MutableArrayRef<Turn> turns) {
    std::set<mlir::Operation*> came;
    for (const auto& [transfer, arrival] : moves_) {
      if (comes(transfer, arrival, turns) &&
          received_.insert({transfer, turns.front().micro}).second) {
        turns.front().receives.push_back(transfer);
        came.insert(transfer);
      }
      if (leaves(transfer, turns, came)) turns.back().sends.push_back(transfer);
    }
  }

 private:
  bool comes(dist::TransferOp transfer, dist::OnOp arrival, llvm::ArrayRef<Turn> turns) const {
    if (!locationOf(transfer.getOutput()).contains(where_)) return false;
    return llvm::any_of(turns, [&](const Turn& turn) {
      return turn.task == arrival ||
             llvm::is_contained(dist::OnOp(turn.task).getInputs(), transfer.getOutput());
    });
  }
  bool leaves(dist::TransferOp transfer, llvm::ArrayRef<Turn> turns,
              const std::set<mlir::Operation*>& came) const {
    mlir::Operation* maker = transfer.getInput().getDefiningOp();
    return locationOf(transfer.getInput()).contains(where_) &&
           (came.count(maker) ||
            llvm::any_of(turns, [&](const Turn& turn) { return turn.task == maker; }));
  }

  dist::SelAttr where_;
  std::vector<std::pair<dist::TransferOp, dist::OnOp>> moves_;
  std::set<std::pair<mlir::Operation*, int64_t>> received_;
};

// What no task makes, or something else than a task or a move takes, has no turn to stand in.
bool movesFit(dist::MicroOp micro) {
  for (auto transfer : micro.getBody().front().getOps<dist::TransferOp>()) {
    mlir::Operation* maker = transfer.getInput().getDefiningOp();
    if (!isTask(maker) && !llvm::isa_and_nonnull<dist::TransferOp>(maker)) return false;
    for (mlir::Operation* user : transfer.getOutput().getUsers())
      if (!isTask(user) && !llvm::isa<dist::TransferOp>(user)) return false;
  }
  return true;
}

}  // namespace

// The product over the time axes; too many for a table where it overflows.
int64_t microBatches(dist::MicroOp micro) {
  dist::MeshOp mesh = dist::meshOf(micro);
  int64_t product = 1;
  for (llvm::StringRef axis : micro.getAxes().getAsValueRange<mlir::StringAttr>())
    if (!mesh || __builtin_mul_overflow(product, mesh.sizeOf(axis).value_or(1), &product))
      return kMostEntries + 1;
  return product;
}

// The stage's row of the schedule as turns, or why there is none. A stage that lacks a task of an
// entry skips it.
StageOrder orderOf(dist::MicroOp micro, dist::SelAttr where) {
  StageOrder order;
  std::vector<dist::OnOp> tasks = tasksOf(micro);
  if (tasks.empty()) return order;
  auto fail = [&](std::string why) {
    order.turns.clear();
    order.why = std::move(why);
    return order;
  };
  dist::MeshOp mesh = dist::meshOf(micro);
  mlir::StringAttr axis = axisOf(micro, tasks);
  dist::AxisSetAttr own = axis && where ? where.lookup(axis) : dist::AxisSetAttr();
  const std::optional<int64_t> stages = axis && mesh ? mesh.sizeOf(axis) : std::nullopt;
  if (!stages || (!own && *stages > 1) || (own && !own.isPoint()))
    return fail("its tasks do not lie on the coordinates of one axis");
  if (!movesFit(micro)) return fail("it moves values that no task makes, or that no task takes");
  const schedule::Shape shape{*stages, static_cast<int64_t>(micro.getChunks()),
                              microBatches(micro)};
  if (shape.entries() > kMostEntries) return fail("its table is too large to be expanded");
  std::string why;
  std::optional<schedule::Table> table = schedule::expand(micro.getSchedule(), shape, why);
  if (!table) return fail(why);
  const std::vector<schedule::Entry>& row = (*table)[own ? own.getBounds()[0] : 0];
  order.instances = schedule::instancesOf(row, shape.micros);
  Moves moves(micro, where);
  for (const schedule::Entry& entry : row) {
    const size_t first = order.turns.size();
    for (dist::OnOp task : tasks) {
      const int64_t chunk = static_cast<int64_t>(task.getChunk().value_or(0));
      if (task.getWhere().contains(where) && chunk == entry.chunk &&
          static_cast<int>(*task.getTask()) == static_cast<int>(entry.task))
        order.turns.push_back({task, entry.micro, {}, {}});
    }
    if (order.turns.size() > first)
      moves.add(llvm::MutableArrayRef<Turn>(order.turns).drop_front(first));
  }
  return order;
}

}  // namespace dtranspile::verify
