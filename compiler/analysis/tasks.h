// The tasks of a pipeline and what each takes of others: read off the body of a `dist.micro`. Asked
// by whoever plays a schedule through: verify (D15), the page of a job.
#pragma once

#include <vector>

#include "dialects/dist/dist.h"
#include "llvm/ADT/SetVector.h"

namespace dtranspile {

// A dist.on with `task`.
struct PipelineTask {
  dist::OnOp on;
  dist::AxisSetAttr stages;    // coordinates of the pipeline's axis that run it
  llvm::SetVector<int> takes;  // positions of tasks whose values it takes, of the same micro-batch

  int64_t chunk() const { return static_cast<int64_t>(dist::OnOp(on).getChunk().value_or(0)); }
};

// Tasks in text order; values reach from one to another through ops that are no tasks (transfers,
// sums).
struct TaskGraph {
  llvm::StringRef axis;  // the axis of all selectors; empty where there are no tasks
  int64_t stages = 1;    // its size
  std::vector<PipelineTask> tasks;
  dist::OnOp astray;  // the first task that does not name the axis of the others; ends the list
};

TaskGraph tasksOf(dist::MicroOp micro, dist::MeshOp mesh);

// With which task of the ranks `where` the value of a transfer comes in, where none of them asks
// for it before: a stage that passes a value on reads nothing of it. The first of their tasks that
// stands after the one that has made the value, through however many transfers it has come; their
// last one where none does, null where they have no task.
dist::OnOp arrivalOf(dist::TransferOp transfer, dist::SelAttr where);

// How often the body runs per step: the product of its time axes. Saturates.
int64_t microBatchesOf(dist::MicroOp micro, dist::MeshOp mesh);

}  // namespace dtranspile
