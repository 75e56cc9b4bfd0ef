// The framework's .pdparams and .pdopt files: pickled dicts from names to NumPy arrays
// (python/paddle/framework/io.py, io_utils.py). Read without Python and without running anything of
// the file: see docs/tensor-files.md for what is permitted. Callers: --init, and tools that convert
// parameters.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/bytes.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::io {

struct PickleState {
  // By variable name. Where the file has StructuredToParameterName@@ (dygraph), names are
  // translated with it.
  std::map<std::string, Tensor> tensors;

  // Keys whose values are no arrays ("LR_Scheduler"), for the caller to report.
  std::vector<std::string> others;
};

// Protocols 2 to 5. kPermissionDenied names what the file asks for beyond arrays and plain values,
// kInvalidArgument and kDataLoss what is broken, kResourceExhausted values out of proportion to the
// file; all with file and offset or key. Slices that protocol 2 makes of large arrays (name@@.0,
// UnpackBigParamInfor@@) come back in one piece. Arrays of uint16 are bfloat16.
absl::StatusOr<PickleState> ReadPickleState(const std::string& path);
absl::StatusOr<PickleState> ReadPickleState(const ByteSource& source);

// A dict of NumPy arrays, in protocol 4, that numpy and the framework load; bfloat16 as uint16, as
// the framework has it. One that fails leaves no file.
absl::Status WritePickleState(const std::string& path,
                              const std::map<std::string, TensorView>& values);

}  // namespace dtranspile::io
