// Values of persistables between files and a run: what --init names, and where --save puts them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "runtime/io/staged.h"
#include "runtime/launch/job.h"
#include "tools/dtranspile/cli/runnable.h"
#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

// --init: a folder, a pickle (with the .pdopt beside a .pdparams, as the framework saves them), or
// a combined file with the program's persistables in order of their names. Nothing where the
// start-up program initialises. `scratch` is a folder for unpacked files.
mlir::FailureOr<std::optional<exec::InitConfig>> findInit(Tool& tool, Runnable& runnable,
                                                          const std::string& init,
                                                          const std::string& scratch);

// A note where every rank of a job has something of its own, of which files that know one value per
// variable have the first rank's: a run that goes on from there is another one.
void noteOwnValues(Tool& tool, Runnable& runnable);

// --save: a folder with one tensor file per variable; FILE.pdparams, the parameters, with
// FILE.pdopt beside it, the other persistables; or FILE.pdiparams, all of them in order of their
// names. Whole or not at all; other files of the folder stay.
class SaveTarget {
 public:
  // `to` may be empty: nothing is saved. Fails where it cannot be written, before anything has run.
  static mlir::FailureOr<SaveTarget> open(Tool& tool, std::string to, const std::string& scratch);

  // Where the run puts a tensor file per variable; empty for none.
  const std::string& folder() const { return folder_; }

  // In place of a run: what ranks would have written there, from a checkpoint.
  bool take(Tool& tool, Runnable& runnable, const std::string& from);

  // After the run.
  bool publish(Tool& tool, Runnable& runnable);

 private:
  std::string to_, folder_;
  std::optional<io::StagedFolder> staged_;  // where `to_` is a folder
  std::optional<io::StagedFiles> files_;    // else
};

}  // namespace dtranspile::cli
