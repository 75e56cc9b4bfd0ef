// libFuzzer target: the restricted reader of pickles.
#include <cstdint>

#include "runtime/io/pickle.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)dtranspile::io::ReadPickleState(*dtranspile::io::OpenMemory("fuzz", data, size));
  return 0;
}
