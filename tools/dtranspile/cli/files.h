// Output files of commands.
#pragma once

#include <string>

#include "tools/dtranspile/cli/tool.h"

namespace dtranspile::cli {

// Writes a file wholly or not at all; `-` is standard output. False after a message.
bool writeOutput(Tool& tool, const std::string& path, const std::string& content);

}  // namespace dtranspile::cli
