// What every back end of runtime/comm must do, over real processes. A back end's test calls every
// case with its own rendezvous; a new back end is right when it passes them all.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "runtime/comm/communicator.h"

namespace dtranspile::comm::test {

using JoinFunction = std::function<absl::StatusOr<std::unique_ptr<Communicator>>(
    const Rendezvous&, const std::string& name, int rank, int size)>;

struct BackEnd {
  JoinFunction join;
  std::function<Rendezvous()> rendezvous;  // of a new job
  int64_t large = 0;  // bytes per rank that are more than the back end moves in one go
};

struct ConformanceCase {
  const char* name;
  void (*run)(const BackEnd&);
};

const std::vector<ConformanceCase>& ConformanceCases();

}  // namespace dtranspile::comm::test
