// Runs a plan: memory, kernels and communicators bound once at load, then one walk over the node
// tree per step. After the first step the walk itself takes no memory. Owned by the worker
// (worker.h); tests run plans through it directly.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/context.h"
#include "runtime/exec/kernel_library.h"
#include "runtime/exec/memory.h"
#include "runtime/exec/plan.h"
#include "runtime/exec/thread_pool.h"
#include "runtime/exec/trace.h"
#include "runtime/exec/value.h"
#include "runtime/exec/value_collective.h"

namespace dtranspile::exec {

struct ExecutorOptions {
  PoolOptions pool;
  std::function<DtFunction(const std::string&)>
      find_function;                       // the library calls; null for an unknown name
  std::vector<comm::Communicator*> comms;  // in the plan's order; outlive the executor
  Trace* trace = nullptr;                  // outlives the executor
  // Element types that a library call takes, bit 1 << code; null: every call takes all of them.
  std::function<uint64_t(const std::string&)> element_types = nullptr;
};

class Executor {
 public:
  // kNotFound for kernels or calls that are not there (all at once), kFailedPrecondition for
  // kernels of another machine, kResourceExhausted when memory does not suffice, kInvalidArgument
  // when plan and options do not fit.
  static absl::StatusOr<std::unique_ptr<Executor>> Load(Plan plan, ExecutorOptions options);
  ~Executor();

  // Runs a program once. The message of an error begins with the op; failed_op() has it alone.
  absl::Status RunStartup();
  absl::Status RunMain();
  const std::string& failed_op() const { return failed_op_; }
  // Whether the failed op is one that needs other ranks, so that the reason may lie with them.
  bool failed_waiting() const { return failed_waiting_; }

  const Plan& plan() const { return plan_; }
  // Memory of a buffer of fixed extents; null for a value.
  std::byte* data(int buffer) const { return addresses_[static_cast<size_t>(buffer)]; }
  // The object of a buffer in space kValue; null for others.
  Value* value(int buffer) const { return values_[static_cast<size_t>(buffer)].get(); }

 private:
  struct Bound;   // a node with its pointers
  struct Runner;  // what each kind of node does

  Executor(Plan plan, ExecutorOptions options);
  absl::Status Allocate();
  absl::Status BindBody(const std::vector<Node>& nodes, std::vector<Bound>& body,
                        std::vector<std::string>& missing);
  absl::Status Bind(const Node& node, Bound& bound, std::vector<std::string>& missing);
  void BindCall(const CallNode& node, Bound& bound);
  void BindStart(const StartNode& node, Bound& bound);
  absl::Status Run(std::vector<Bound>& body);
  absl::Status RunTraced(Bound& bound);
  absl::Status RunOne(Bound& bound);
  absl::Status RunKernel(Bound& bound);
  absl::Status RunUnknown(Bound& bound);
  absl::Status TakeFault();
  absl::Status RunCall(Bound& bound);
  absl::Status RunCopy(Bound& bound);
  void ShareLod(Bound& bound);
  absl::Status RunStart(Bound& bound);
  absl::Status RunWait(Bound& bound);
  absl::Status RunWhile(Bound& bound);
  absl::Status RunProgram(std::vector<Bound>& body);

  const Plan plan_;
  const ExecutorOptions options_;
  KernelLibrary library_;
  Block arena_, persistent_, constants_;
  std::vector<std::byte*> addresses_;
  std::vector<std::unique_ptr<Value>> values_;
  ThreadPool pool_;
  DtContext context_;
  struct Pending {
    comm::Communicator* comm = nullptr;
    comm::Ticket ticket = 0;
    int row = 0;
    int64_t begin_ns = 0;
    const char* name = nullptr;
    std::unique_ptr<ValueCollective> of_value;  // null: of fixed places
  };
  std::vector<Pending> pending_;                          // by ticket of the plan, renumbered
  std::vector<std::pair<int64_t, size_t>> ticket_slots_;  // of the bodies that are being bound
  std::vector<Bound> startup_, main_;
  uint64_t fault_ = DT_NO_FAULT;  // the cell that kernels are given behind their arguments
  std::string failed_op_;
  bool failed_waiting_ = false;
};

}  // namespace dtranspile::exec
