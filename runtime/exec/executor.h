// Runs a plan on one rank: memory laid out and nodes bound once at load (storage.h, bind.h), then
// one walk over the bound nodes (bound.h) per step. After the first step the walk itself takes no
// memory. Owned by the worker (worker.h); tests run plans through it directly.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/bind.h"
#include "runtime/exec/bound.h"
#include "runtime/exec/context.h"
#include "runtime/exec/first_touch.h"
#include "runtime/exec/kernel_library.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/storage.h"
#include "runtime/exec/thread_pool.h"
#include "runtime/exec/trace.h"
#include "runtime/exec/value.h"

namespace dtranspile::exec {

struct ExecutorOptions : RankLinks {
  PoolOptions pool;
  Trace* trace = nullptr;  // outlives the executor
};

class Executor {
 public:
  // kNotFound for kernels or calls that are not there (all at once), kFailedPrecondition for
  // kernels of another machine and for ops that want what this rank has not, kResourceExhausted
  // when memory does not suffice, kInvalidArgument when plan and options do not fit.
  static absl::StatusOr<std::unique_ptr<Executor>> Load(Plan plan, ExecutorOptions options);

  // Runs a program once; of a handler, that of a table. Nothing where there is no such program. The
  // message of an error begins with the op; failed_op() has it alone.
  absl::Status Run(When when, const std::string& table = "");
  // A server, whose start-up makes whole tables before it keeps its part, gives step memory back.
  absl::Status RunStartup();
  absl::Status RunMain() { return Run(When::kStep); }
  const std::string& failed_op() const { return walk_.failed_op; }
  // Whether the failed op is one that needs other ranks, so that the reason may lie with them.
  bool failed_waiting() const { return walk_.failed_waiting; }

  const Plan& plan() const { return plan_; }
  const Position& position() const { return options_.position; }
  // Memory of a buffer of fixed extents; null for a value, and where this rank has nothing of it.
  // Of rows that nobody has touched it says nothing.
  std::byte* data(int buffer) const { return storage_.data(buffer); }
  // The rows of a variable that are made when they are touched; null for others.
  FirstTouch* untouched(int buffer) const { return untouched_.Of(storage_.data(buffer)); }
  // The object of a buffer in space kValue; null for others.
  Value* value(int buffer) const { return storage_.value(buffer); }
  const Storage& storage() const { return storage_; }

 private:
  Executor(Plan plan, ExecutorOptions options);
  absl::Status Bind();

  const Plan plan_;
  const ExecutorOptions options_;
  KernelLibrary library_;
  Storage storage_;
  ThreadPool pool_;
  FirstTouches untouched_;
  DtContext context_;
  uint64_t fault_ = DT_NO_FAULT;  // the cell that kernels are given after their arguments
  std::vector<BoundBody> programs_;
  Walk walk_;
};

}  // namespace dtranspile::exec
