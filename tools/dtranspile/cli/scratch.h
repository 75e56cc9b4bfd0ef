// The temporary folder of a command. Used by `run` for what it compiles.
#pragma once

#include "absl/status/statusor.h"
#include "runtime/io/owned_folder.h"

namespace dtranspile::cli {

// A new folder below $TMPDIR, after those that killed commands of this user have left there are
// removed. Code is run from it: kPermissionDenied where others may write to $TMPDIR and rename what
// is not theirs.
absl::StatusOr<io::OwnedFolder> makeScratch();

}  // namespace dtranspile::cli
