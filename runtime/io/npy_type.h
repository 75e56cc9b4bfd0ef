// NumPy's spelling of element types, shared by .npy files and pickled arrays.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "runtime/base/dtype.h"

namespace dtranspile::io {

// "<f4", "|b1" and so on to the element type; the byte order may be '<', '|', '=' or absent.
// kInvalidArgument says why a descr has none: byte order, objects (which would have to be
// unpickled), text, dates.
absl::StatusOr<DType> DTypeFromNumpy(const std::string& descr);

// The descr that such elements are written with: size_t is "<u8", bfloat16 "<u2" (the same bits as
// uint16, as the framework has it).
std::string NumpyFromDType(DType dtype);

}  // namespace dtranspile::io
