// The header of a .npy file: magic, version, and a Python dict literal. Used by npy.cc.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/io/bytes.h"

namespace dtranspile::io {

struct NpyHeaderFields {
  std::string descr;  // "<f4"
  bool fortran_order = false;
  std::vector<int64_t> dims;
};

// Moves the cursor to the first element. kInvalidArgument / kDataLoss with file and offset.
absl::StatusOr<NpyHeaderFields> ReadNpyHeader(Cursor& cursor);

}  // namespace dtranspile::io
