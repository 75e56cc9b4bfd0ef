#include "runtime/io/errno_status.h"

#include <cerrno>
#include <system_error>

namespace dtranspile::io {
namespace {

struct Row {
  int error;
  absl::StatusCode code;
};

constexpr Row kRows[] = {
    {ENOENT, absl::StatusCode::kNotFound},
    {ENOTDIR, absl::StatusCode::kNotFound},
    {EACCES, absl::StatusCode::kPermissionDenied},
    {EPERM, absl::StatusCode::kPermissionDenied},
    {EROFS, absl::StatusCode::kPermissionDenied},
    {EEXIST, absl::StatusCode::kAlreadyExists},
    {ENOSPC, absl::StatusCode::kResourceExhausted},
    {EDQUOT, absl::StatusCode::kResourceExhausted},
    {EMFILE, absl::StatusCode::kResourceExhausted},
    {ENAMETOOLONG, absl::StatusCode::kInvalidArgument},
    {ELOOP, absl::StatusCode::kInvalidArgument},
};

}  // namespace

absl::Status ErrnoStatus(int error, const std::string& what) {
  absl::StatusCode code = absl::StatusCode::kUnavailable;
  for (const Row& row : kRows) {
    if (row.error == error) code = row.code;
  }
  return absl::Status(code, what + ": " + std::generic_category().message(error));
}

}  // namespace dtranspile::io
