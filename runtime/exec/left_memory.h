// What the machine has left for values that grow while a step runs (value.h).
#pragma once

#include <cstdint>

#include "absl/status/status.h"

namespace dtranspile::exec {

// Counts bytes that values take (or, below 0, give back). kResourceExhausted where so little would
// be left that the rest of the process, its messages included, or other programs of the machine
// could not go on; the bytes then do not count. The system is asked once per 16 MiB of growth. May
// be called by several threads.
absl::Status CountValueBytes(int64_t bytes);

// How much of a machine with so many bytes of memory values leave alone.
int64_t MachineReserve(int64_t bytes);

}  // namespace dtranspile::exec
