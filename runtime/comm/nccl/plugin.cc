// The entry of the plug-in libdtranspile_nccl.so, which loader.cc opens.
#include <exception>

#include "absl/strings/str_cat.h"
#include "runtime/comm/nccl/communicator.h"
#include "runtime/comm/nccl/loader.h"

// Not a C type, but a C name: the loader finds it by dlsym. Both sides come from one build, which
// the version makes sure of.
extern "C" __attribute__((
    visibility("default"))) absl::StatusOr<std::unique_ptr<dtranspile::comm::Communicator>>
dtranspile_nccl_join(int version, const dtranspile::comm::Rendezvous& rendezvous,
                     const std::string& name, int rank, int size) {
  if (version != dtranspile::comm::kNcclVersion) {
    return absl::FailedPreconditionError(absl::StrCat("the NCCL back end has version ",
                                                      dtranspile::comm::kNcclVersion,
                                                      ", the program wants ", version));
  }
  try {
    return dtranspile::comm::NcclCommunicator::Join(rendezvous, name, rank, size);
  } catch (const std::exception& e) {
    return absl::InternalError(absl::StrCat("NCCL back end: ", e.what()));
  }
}
