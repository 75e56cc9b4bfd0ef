// The NCCL back end lives in a plug-in (plugin.cc), so that everything else builds and runs where
// there is no CUDA. This is the side that opens it; called by Join (runtime/comm/join.cc).
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"

namespace dtranspile::comm {

// As Join, for buffers in device memory, one process per GPU. FailedPrecondition, naming what is
// missing, where there is no CUDA driver, no GPU or no plug-in. The plug-in is looked for in the
// folder that DTRANSPILE_PLUGINS names, else beside the program.
absl::StatusOr<std::unique_ptr<Communicator>> JoinNccl(const Rendezvous& rendezvous,
                                                       const std::string& name, int rank, int size);

// What the plug-in exports under the name kNcclEntry. `version` must be kNcclVersion.
inline constexpr char kNcclEntry[] = "dtranspile_nccl_join";
inline constexpr char kNcclLibrary[] = "libdtranspile_nccl.so";
inline constexpr int kNcclVersion = 1;
using NcclEntry = absl::StatusOr<std::unique_ptr<Communicator>> (*)(int version,
                                                                    const Rendezvous& rendezvous,
                                                                    const std::string& name,
                                                                    int rank, int size);

}  // namespace dtranspile::comm
