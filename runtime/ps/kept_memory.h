// Memory that gRPC takes for every message and frees after it, kept by the process: glibc gives the
// end of a heap back to the system at 128 KiB, so that each message of 1 MiB would come in pages
// that are fresh, zeroed by the system and faulted in one by one, which is a third of its cost.
// Called by both sides before they make a connection.
#pragma once

namespace dtranspile::ps {

// For the process; the second call does nothing.
void KeepFreedMemory();

}  // namespace dtranspile::ps
