// dtranspile: see cli/tool.h.
#include "tools/dtranspile/cli/tool.h"

int main(int argc, char** argv) { return dtranspile::cli::runTool(argc, argv); }
