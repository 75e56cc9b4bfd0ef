// An operation between ranks that has been started and not been waited for: what a start and its
// wait share. Used by the binder's nodes (bind_comm.cc, bind_control.cc).
#pragma once

#include <cstdint>
#include <memory>

#include "absl/status/status.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/bound.h"
#include "runtime/exec/value_collective.h"

namespace dtranspile::exec {

class Pending {
 public:
  // `of_value`: of operands whose extents the run decides; null: of fixed places. `row`: of traces,
  // `point`: of the flight recorder. `name` outlives this.
  Pending(comm::Communicator& comm, int row, flight::Point point, const char* name,
          std::unique_ptr<ValueCollective> of_value)
      : comm_(comm), row_(row), point_(point), name_(name), of_value_(std::move(of_value)) {}

  bool open() const { return ticket_ != 0; }
  bool of_value() const { return of_value_ != nullptr; }
  absl::Status Start(const comm::Request& request, const Walk& walk);
  // Nothing where nothing is open.
  absl::Status Wait(const Walk& walk);

 private:
  comm::Communicator& comm_;
  const int row_;
  const flight::Point point_;
  const char* const name_;
  const std::unique_ptr<ValueCollective> of_value_;
  comm::Ticket ticket_ = 0;
  int64_t begin_ns_ = 0;
  uint64_t event_ = 0;
};

}  // namespace dtranspile::exec
