// A stage of a pipeline as the thread of events that it is. The schedule's table has a row of
// entries (task, chunk, micro-batch) per stage; the body of dist.micro has the regions. An entry is
// a turn: the region that it names, with the micro-batch's number, the receives of what the region
// takes (the first of a stage's turns that takes a value receives it, later ones have it), and the
// sends of what it gives. What cannot be cut into turns (values that no task makes, or that no task
// takes) has no order, and the reason is kept for the report.
#include "compiler/verify/communication/pipeline.h"

#include <map>
#include <set>

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

// A micro-batch is under way from its first entry in the row to its last: so many values of a kind
// are alive at once. Micro-batches that have begun and not ended, at most.
int64_t mostUnderWay(const std::vector<schedule::Entry>& row) {
  std::map<int64_t, size_t> last;
  for (auto [i, entry] : llvm::enumerate(row)) last[entry.micro] = i;
  std::set<int64_t> open;
  size_t most = 1;
  for (auto [i, entry] : llvm::enumerate(row)) {
    open.insert(entry.micro);
    most = std::max(most, open.size());
    if (last[entry.micro] == i) open.erase(entry.micro);
  }
  return static_cast<int64_t>(most);
}

void addMoves(dist::MicroOp micro, dist::SelAttr where, Turn& turn,
              std::set<std::pair<mlir::Operation*, int64_t>>& received) {
  for (auto transfer : micro.getBody().front().getOps<dist::TransferOp>()) {
    const bool taken = llvm::is_contained(turn.task.getInputs(), transfer.getOutput());
    if (taken && locationOf(transfer.getOutput()).contains(where) &&
        received.insert({transfer, turn.micro}).second)
      turn.receives.push_back(transfer);
    if (transfer.getInput().getDefiningOp() == turn.task &&
        locationOf(transfer.getInput()).contains(where))
      turn.sends.push_back(transfer);
  }
}

// A value that is moved on as it came, or that no task takes, has no turn to stand in.
bool movesFit(dist::MicroOp micro) {
  for (auto transfer : micro.getBody().front().getOps<dist::TransferOp>()) {
    auto made = transfer.getInput().getDefiningOp<dist::OnOp>();
    if (!made || !made.getTask()) return false;
    for (mlir::Operation* user : transfer.getOutput().getUsers()) {
      auto on = llvm::dyn_cast<dist::OnOp>(user);
      if (!on || !on.getTask()) return false;
    }
    if (transfer.getOutput().use_empty()) return false;
  }
  return true;
}

}  // namespace

int64_t microBatches(dist::MicroOp micro) {
  dist::MeshOp mesh = dist::meshOf(micro);
  int64_t product = 1;
  for (llvm::StringRef axis : micro.getAxes().getAsValueRange<mlir::StringAttr>())
    if (!mesh || __builtin_mul_overflow(product, mesh.sizeOf(axis).value_or(1), &product))
      return kMostEntries + 1;
  return product;
}

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
  order.instances = mostUnderWay(row);
  std::set<std::pair<mlir::Operation*, int64_t>> received;
  for (const schedule::Entry& entry : row)
    for (dist::OnOp task : tasks) {
      const int64_t chunk = static_cast<int64_t>(task.getChunk().value_or(0));
      if (!task.getWhere().contains(where) || chunk != entry.chunk ||
          static_cast<int>(*task.getTask()) != static_cast<int>(entry.task))
        continue;
      order.turns.push_back({task, entry.micro, {}, {}});
      addMoves(micro, where, order.turns.back(), received);
    }
  return order;
}

}  // namespace dtranspile::verify
