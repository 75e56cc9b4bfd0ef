// Sleeping on, and ringing, a Bell of another process (futex(2)). Used by the shared-memory fabric.
#pragma once

#include <cstdint>

#include "runtime/comm/shm/layout.h"

namespace dtranspile::comm {

// Sleeps until the bell rings or the time is over; returns at once if `word` is not its value any
// more.
void SleepOn(Bell& bell, uint32_t word, int64_t nanoseconds);

// Wakes whoever sleeps on the bell.
void Ring(Bell& bell);

}  // namespace dtranspile::comm
