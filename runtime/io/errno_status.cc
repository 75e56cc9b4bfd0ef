#include "runtime/io/errno_status.h"

#include <cerrno>
#include <system_error>

namespace dtranspile::io {
namespace {

struct Row {
  int error;
  absl::StatusCode code;
  const char* remedy = "";
};

constexpr Row kRows[] = {
    {ENOENT, absl::StatusCode::kNotFound},
    {ENOTDIR, absl::StatusCode::kNotFound},
    {EACCES, absl::StatusCode::kPermissionDenied},
    {EPERM, absl::StatusCode::kPermissionDenied},
    {EROFS, absl::StatusCode::kPermissionDenied},
    {EEXIST, absl::StatusCode::kAlreadyExists},
    {ENOSPC, absl::StatusCode::kResourceExhausted},
    {EFBIG, absl::StatusCode::kResourceExhausted,
     "; raise the limit on the size of files (`ulimit -f`)"},
    {EDQUOT, absl::StatusCode::kResourceExhausted},
    {EMFILE, absl::StatusCode::kResourceExhausted, "; raise the limit of open files (`ulimit -n`)"},
    {ENAMETOOLONG, absl::StatusCode::kInvalidArgument},
    {ELOOP, absl::StatusCode::kInvalidArgument},
};

}  // namespace

absl::Status ErrnoStatus(int error, const std::string& what) {
  Row of = {error, absl::StatusCode::kUnavailable};
  for (const Row& row : kRows) {
    if (row.error == error) of = row;
  }
  return absl::Status(of.code, what + ": " + std::generic_category().message(error) + of.remedy);
}

}  // namespace dtranspile::io
