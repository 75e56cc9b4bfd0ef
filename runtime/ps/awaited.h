// How long the processes of a job with servers wait for each other.
#pragma once

#include <algorithm>

namespace dtranspile::ps {

// What is waited for: an answer of a server itself, trainers that end a phase (by servers), and the
// end of a phase, which a server answers when all trainers have come.
enum class Awaited { kAnswer, kTrainers, kPhase };

// Who waits for a process itself gives up first, and who waits for such a one later: so the process
// that stands still is blamed, and not one that waits for it.
inline double PatienceOf(Awaited what, double timeout_seconds) {
  constexpr double kStep = 0.125, kMostStepSeconds = 2.5;
  return timeout_seconds +
         static_cast<int>(what) * std::min(timeout_seconds * kStep, kMostStepSeconds);
}

}  // namespace dtranspile::ps
