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

}  // namespace

TaskGraph tasksOf(dist::MicroOp micro, dist::MeshOp mesh) {
  TaskGraph graph;
  llvm::DenseMap<mlir::Value, llvm::SetVector<int>> madeBy;  // tasks that a value comes from
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
    for (mlir::Value result : op.getResults()) madeBy[result] = takes;
  }
  return graph;
}

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
