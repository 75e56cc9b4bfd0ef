// Resident memory of this process, and functions run in a child process so that measurements do not
// see each other's heaps.
#pragma once

#include <functional>

namespace dtranspile::bench {

// Bytes resident now, after giving free heap pages back.
double residentBytes();

// Highest number of bytes resident since the last resetPeak.
double peakBytes();
void resetPeak();

// What `measure` returns, run in a child process; all -1 when the child fails.
struct Figures {
  double seconds = -1, held = -1, peak = -1;
};
Figures inChild(const std::function<Figures()>& measure);

}  // namespace dtranspile::bench
