// System errors as statuses.
#pragma once

#include <string>

#include "absl/status/status.h"

namespace dtranspile::io {

// "<what>: No such file or directory", with the code that fits the errno (kNotFound,
// kPermissionDenied, kAlreadyExists, kResourceExhausted for a full disk, else kUnavailable).
absl::Status ErrnoStatus(int error, const std::string& what);

}  // namespace dtranspile::io
