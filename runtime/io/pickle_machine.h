// Executes the opcodes of a pickle, protocols 2 to 5, on the nodes of pickle_heap.h. The opcodes
// are those of Python's Lib/pickletools.py; the ones that can only name things we refuse
// (persistent ids, extensions, instances, out-of-band buffers) are refused by name. Called by
// pickle_state.cc.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "runtime/io/pickle_heap.h"

namespace dtranspile::io {

// The value of the whole pickle. Bytes and texts of the heap are views of `file`, which must
// outlive it. Time and memory are linear in the size of the file. Errors name the file, the offset
// and the opcode; bytes after the end of the pickle are an error too.
absl::StatusOr<PickleRef> RunPickle(const std::string& name, std::string_view file,
                                    PickleHeap& heap);

}  // namespace dtranspile::io
