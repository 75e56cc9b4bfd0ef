// What a pickle may call: the handful of constructors that states of the framework are made of,
// each re-implemented here on the nodes of pickle_heap.h. No other name is ever looked up, and
// nothing of Python is run. Used by pickle_machine.cc.
#pragma once

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/pickle_heap.h"

namespace dtranspile::io {

// A permitted name as a node; kPermissionDenied "module.name is not permitted …" for every other.
absl::StatusOr<PickleRef> FindGlobal(PickleHeap& heap, const std::string& module,
                                     const std::string& name);

// function(*arguments), as the opcode REDUCE asks; kPermissionDenied where the function is
// permitted, but not with these arguments.
absl::StatusOr<PickleRef> CallGlobal(PickleHeap& heap, PickleRef function, PickleRef arguments);

// object.__setstate__(state), as BUILD asks: for arrays and dtypes.
absl::Status SetState(PickleHeap& heap, PickleRef object, PickleRef state);

}  // namespace dtranspile::io
