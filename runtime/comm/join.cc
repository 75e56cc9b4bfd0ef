// Join: the table of back ends. Called by the worker (runtime/exec) for every communicator of its
// plan.
#include "absl/strings/str_cat.h"
#include "runtime/comm/communicator.h"
#include "runtime/comm/gloo/communicator.h"
#include "runtime/comm/nccl/loader.h"
#include "runtime/comm/shm/communicator.h"

namespace dtranspile::comm {
namespace {

struct BackEnd {
  const char* name;
  absl::StatusOr<std::unique_ptr<Communicator>> (*join)(const Rendezvous&, const std::string& name,
                                                        int rank, int size);
};

constexpr BackEnd kBackEnds[] = {{"shm", JoinShm}, {"gloo", JoinGloo}, {"nccl", JoinNccl}};

constexpr double kLongestTimeout = 1e6;  // seconds; also keeps nanoseconds within 63 bits

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> Join(const Rendezvous& rendezvous,
                                                   const std::string& name, int rank, int size) {
  if (size < 1 || rank < 0 || rank >= size) {
    return absl::InvalidArgumentError(
        absl::StrCat("group ", name, ": rank ", rank, " is not one of ", size));
  }
  if (!(rendezvous.timeout_seconds > 0 && rendezvous.timeout_seconds <= kLongestTimeout)) {
    return absl::InvalidArgumentError(absl::StrCat("a deadline of ", rendezvous.timeout_seconds,
                                                   " s is not between 0 and ", kLongestTimeout));
  }
  std::string known;
  for (const BackEnd& back_end : kBackEnds) {
    if (rendezvous.backend == back_end.name) return back_end.join(rendezvous, name, rank, size);
    absl::StrAppend(&known, known.empty() ? "" : ", ", back_end.name);
  }
  return absl::InvalidArgumentError(
      absl::StrCat("back end '", rendezvous.backend, "' is unknown; there are ", known));
}

}  // namespace dtranspile::comm
