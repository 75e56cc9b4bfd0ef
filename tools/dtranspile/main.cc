// dtranspile: see cli/tool.h.
#include "tools/dtranspile/cli/internal_error.h"
#include "tools/dtranspile/cli/process_state.h"
#include "tools/dtranspile/cli/tool.h"

int main(int argc, char** argv) {
  dtranspile::cli::occupyStandardStreams();
  dtranspile::cli::installInternalErrorHandlers(argc, argv);
  dtranspile::cli::removeFoldersWhenEnded();
  return dtranspile::cli::runTool(argc, argv);
}
