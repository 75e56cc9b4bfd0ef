// What the tool does when it fails by its own fault: a message, a reproducer, and exit status 70
// instead of a core dump.
#pragma once

namespace dtranspile::cli {

// From now on fatal signals, uncaught exceptions and failed allocations write
// `dtranspile-<pid>.sh`, the command line in its folder, into the folder of temporary files, name
// it on standard error and exit with 70. Running out of memory is said as that.
void installInternalErrorHandlers(int argc, const char* const* argv);

}  // namespace dtranspile::cli
