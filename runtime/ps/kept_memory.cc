#include "runtime/ps/kept_memory.h"

#include <malloc.h>

namespace dtranspile::ps {
namespace {

// What both ends of a few connections have under way; of every heap as much may stay.
constexpr int kKept = 64 << 20;
// Blocks from here on are mappings of their own: parts of large tables, which stay anyway.
constexpr int kOwnMapping = 4 << 20;
// Heaps grow by as much at a time.
constexpr int kGrowth = 4 << 20;

bool Keep() {
  return mallopt(M_TRIM_THRESHOLD, kKept) != 0 && mallopt(M_MMAP_THRESHOLD, kOwnMapping) != 0 &&
         mallopt(M_TOP_PAD, kGrowth) != 0;
}

}  // namespace

void KeepFreedMemory() { [[maybe_unused]] static const bool kept = Keep(); }

}  // namespace dtranspile::ps
