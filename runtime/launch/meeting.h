// How the ranks of a job find each other: a name of its own for the job, its token, a store where
// servers tell their addresses. Used by RunJob and by trials (runtime/trial).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/exec/config.h"

namespace dtranspile::launch {

struct MeetingOptions {
  std::string backend = "shm";
  std::string token;      // "": a new one
  std::string interface;  // of Gloo
  double timeout_seconds = 60;
};

// What ranks that could not find each other have left is cleaned up at its end.
class Meeting {
 public:
  // Sets the rendezvous of all ranks, and the store of those that tell or look up addresses.
  absl::Status Begin(const MeetingOptions& options, const std::vector<exec::WorkerConfig*>& ranks);
  ~Meeting();

 private:
  comm::Rendezvous rendezvous_;
  std::unique_ptr<comm::StoreServer> store_;
};

}  // namespace dtranspile::launch
