#include "runtime/comm/shm/bell.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <climits>

namespace dtranspile::comm {

// Returns at once where the word has changed since it was read, so that a ring between the last
// look at the counter and the sleep is not lost.
void SleepOn(Bell& bell, uint32_t word, int64_t nanoseconds) {
  const timespec time = {static_cast<time_t>(nanoseconds / 1'000'000'000),
                         static_cast<long>(nanoseconds % 1'000'000'000)};
  syscall(SYS_futex, &bell.word, FUTEX_WAIT, word, &time, nullptr, 0);
}

void Ring(Bell& bell) {
  bell.word.fetch_add(1);
  syscall(SYS_futex, &bell.word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace dtranspile::comm
