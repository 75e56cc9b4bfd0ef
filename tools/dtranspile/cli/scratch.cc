#include "tools/dtranspile/cli/scratch.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/io/filesystem.h"

namespace dtranspile::cli {

// A private folder for compiled code; what earlier runs that were killed have left is removed
// first. Code is loaded from here, so that nobody else may be able to write on the way to it.
absl::StatusOr<io::OwnedFolder> makeScratch() {
  constexpr char kPrefix[] = "dtranspile-temporary-";
  DT_ASSIGN_OR_RETURN(const std::string below, io::TemporaryFolder());
  io::OwnedFolder::ClearLeft(below, kPrefix);
  absl::StatusOr<io::OwnedFolder> made =
      io::OwnedFolder::Make(below, kPrefix, "the compiled code of a run");
  const absl::Status trusted = made.ok() ? io::CheckPrivate(made->path()) : made.status();
  if (trusted.ok()) return made;
  return absl::Status(trusted.code(),
                      absl::StrCat("no temporary folder can be made: ", trusted.message(),
                                   "; set TMPDIR to a folder of your own"));
}

}  // namespace dtranspile::cli
