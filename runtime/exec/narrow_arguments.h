// float16 and bfloat16 arguments of library calls that compute in float32 and wider types only:
// what the call reads is widened before it, what it writes is rounded to nearest even after it. The
// call itself runs in float32, as the framework's own kernels of such types accumulate. Used by the
// executor, per call node.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/abi.h"
#include "runtime/exec/context.h"
#include "runtime/exec/value.h"

namespace dtranspile::exec {

class NarrowArguments {
 public:
  // `types`: those that the function takes, bit 1 << code; `outputs`: positions in `buffers` that
  // it writes. `convert` is dt_cast.
  NarrowArguments(uint64_t types, const std::vector<DtBuffer>& buffers,
                  const std::vector<int>& outputs, DtFunction convert);

  // Whether there are arguments to convert.
  bool any() const { return !entries_.empty(); }

  // Before the call: float32 copies take the places of the narrow ones in `buffers`.
  absl::Status Widen(DtContext& context, std::vector<DtBuffer>& buffers);

  // After one that failed: the arguments are in their places again.
  void Restore(std::vector<DtBuffer>& buffers) const;

  // After it: results go back, and the arguments are in their places again.
  absl::Status Narrow(DtContext& context, std::vector<DtBuffer>& buffers);

 private:
  struct Entry {
    size_t at = 0;
    bool written = false;
    DtBuffer original = {};
    Value wide;
  };
  absl::Status Convert(DtContext& context, const DtBuffer& from, const DtBuffer& to) const;

  DtFunction convert_;
  std::vector<Entry> entries_;
};

}  // namespace dtranspile::exec
