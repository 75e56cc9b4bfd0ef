#include "compiler/analysis/tasks.h"

#include <limits>

#include "llvm/ADT/DenseMap.h"

namespace dtranspile {
namespace {

// The stages that run a task: its selector's set on the pipeline's axis, which is the axis of all
// its selectors. Null where it names others only.
dist::AxisSetAttr stagesOf(dist::OnOp on, dist::MeshOp mesh, TaskGraph& graph) {
  for (dist::AxisSetAttr set : on.getWhere().getSets()) {
    if (!graph.axis.empty() && graph.axis != set.getAxis().getValue()) continue;
    graph.axis = set.getAxis().getValue();
    graph.stages = mesh.sizeOf(graph.axis).value_or(1);
    return set;
  }
  return {};
}

// With which task a value comes to a stage that only passes it on; null for any other transfer.
dist::OnOp passedWith(mlir::Operation* op) {
  auto transfer = llvm::dyn_cast<dist::TransferOp>(op);
  if (!transfer) return {};
  auto passes = [](mlir::Operation* user) { return llvm::isa<dist::TransferOp>(user); };
  if (!transfer->use_empty() && llvm::none_of(transfer->getUsers(), passes)) return {};
  return arrivalOf(transfer, llvm::cast<dist::AtType>(transfer.getOutput().getType()).getWhere());
}

}  // namespace

// A stage that passes a value on waits for it in the task with which it comes, and hands it on when
// that is over: such a task takes the value, and who takes it further on takes it of that task too.
TaskGraph tasksOf(dist::MicroOp micro, dist::MeshOp mesh) {
  TaskGraph graph;
  llvm::DenseMap<mlir::Value, llvm::SetVector<int>> madeBy;  // tasks that a value comes from
  llvm::DenseMap<mlir::Operation*, int> number;              // of the tasks
  for (auto on : micro.getBody().front().getOps<dist::OnOp>())
    if (on.getTask()) number.try_emplace(on, static_cast<int>(number.size()));
  std::vector<std::pair<int, llvm::SetVector<int>>> passed;
  for (mlir::Operation& op : micro.getBody().front()) {
    llvm::SetVector<int> takes;
    op.walk([&](mlir::Operation* inner) {
      for (mlir::Value value : inner->getOperands())
        if (auto found = madeBy.find(value); found != madeBy.end())
          takes.insert(found->second.begin(), found->second.end());
    });
    auto on = llvm::dyn_cast<dist::OnOp>(op);
    if (on && on.getTask()) {
      dist::AxisSetAttr stages = stagesOf(on, mesh, graph);
      if (!stages) {
        graph.astray = on;
        return graph;
      }
      graph.tasks.push_back({on, stages, takes});
      takes.clear();
      takes.insert(static_cast<int>(graph.tasks.size()) - 1);
    }
    if (dist::OnOp with = passedWith(&op)) {
      passed.push_back({number.at(with), takes});
      takes.insert(number.at(with));
    }
    for (mlir::Value result : op.getResults()) madeBy[result] = takes;
  }
  for (auto& [task, makers] : passed)
    for (int maker : makers)
      if (maker != task) graph.tasks[task].takes.insert(maker);
  return graph;
}

// The task on these ranks in which a transferred value arrives: the first one behind its maker, or
// the last one there is.
dist::OnOp arrivalOf(dist::TransferOp transfer, dist::SelAttr where) {
  mlir::Operation* maker = transfer;
  while (auto hop = llvm::dyn_cast_or_null<dist::TransferOp>(maker))
    maker = hop.getInput().getDefiningOp();
  if (maker && maker->getBlock() != transfer->getBlock()) maker = nullptr;
  dist::OnOp last;
  for (auto on : transfer->getBlock()->getOps<dist::OnOp>()) {
    if (!on.getTask() || !on.getWhere().contains(where)) continue;
    last = on;
    if (!maker || maker->isBeforeInBlock(on)) break;
  }
  return last;
}

int64_t microBatchesOf(dist::MicroOp micro, dist::MeshOp mesh) {
  int64_t product = 1;
  for (llvm::StringRef axis : micro.getAxes().getAsValueRange<mlir::StringAttr>())
    if (__builtin_mul_overflow(product, mesh.sizeOf(axis).value_or(1), &product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

}  // namespace dtranspile
