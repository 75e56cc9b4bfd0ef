// Where a library call finds an argument. Kernels have these from the headers that tools/call_args
// makes of signatures/*.calls, by the names that stand there; a bare number is none of them.
#pragma once

namespace dtranspile::kernels {

struct SlotIndex {
  int at = -1;  // -1: no such slot
};

struct AttributeIndex {
  int at = -1;
};

}  // namespace dtranspile::kernels
