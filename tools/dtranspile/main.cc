// dtranspile: see cli/tool.h.
#include "tools/dtranspile/cli/internal_error.h"
#include "tools/dtranspile/cli/tool.h"

int main(int argc, char** argv) {
  dtranspile::cli::installInternalErrorHandlers(argc, argv);
  return dtranspile::cli::runTool(argc, argv);
}
