// The NCCL back end: one process per GPU, buffers in device memory. Lives in the plug-in
// (plugin.cc), where exceptions and CUDA are at home.
//
// What differs from the host back ends: sums are formed in NCCL's order (the same bits on every
// rank and from run to run, but not those of the host); ranks that start different operations are
// noticed at the deadline only, without saying what differs; `or`, complex products and 16-bit
// integer reductions are refused by name.
#pragma once

#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"

namespace dtranspile::comm {

class NcclCommunicator : public Communicator {
 public:
  // Exchanges NCCL's id through the store and connects, on the current device.
  static absl::StatusOr<std::unique_ptr<Communicator>> Join(const Rendezvous& rendezvous,
                                                            const std::string& name, int rank,
                                                            int size);
  ~NcclCommunicator() override;

  int rank() const override { return rank_; }
  int size() const override { return size_; }
  const char* backend() const override { return "nccl"; }
  absl::StatusOr<Ticket> Start(Request request) override;
  absl::Status Wait(Ticket ticket) override;
  absl::Status Run(Request request) override;
  int64_t bytes_sent() const override { return sent_; }
  int64_t bytes_received() const override { return received_; }
  void Abort(const std::string& why) override;

 private:
  struct Open {
    std::string label;
    cudaEvent_t done = nullptr;  // null while the operation is in `transfers_`
  };

  NcclCommunicator(std::string name, int rank, int size, double timeout_seconds);
  absl::Status Connect(const ncclUniqueId& id);
  absl::Status AwaitReady(int64_t deadline_ns);
  absl::Status Issue(const Request& request);
  absl::Status IssuePiece(const Request& request, size_t piece);
  absl::Status AllToAll(const Segment& input, const Segment& output, size_t element_bytes);
  absl::Status FlushTransfers();
  absl::Status Record(Open& open);
  absl::Status Poll(const Open& open, int64_t deadline_ns, bool& done);
  void Count(const Request& request);
  void Fail(const absl::Status& status);

  const std::string name_;
  const int rank_, size_;
  const double timeout_seconds_;
  std::mutex mutex_;
  ncclComm_t comm_ = nullptr;
  cudaStream_t stream_ = nullptr;
  int32_t* barrier_word_ = nullptr;  // on the device
  std::vector<std::pair<Ticket, Request>>
      transfers_;  // sends and receives that wait to be issued as one group
  std::unordered_map<Ticket, Open> open_;
  Ticket next_ticket_ = 1;
  absl::Status failure_;
  int64_t sent_ = 0, received_ = 0;
};

}  // namespace dtranspile::comm
