#include "tools/dtranspile/cli/files.h"

#include "llvm/Support/raw_ostream.h"
#include "runtime/base/printable.h"
#include "runtime/io/output.h"

namespace dtranspile::cli {

// "-" is standard output, which gets no control characters of a hostile name; an error of writing
// there is reported and not forgotten until the end of the process.
bool writeOutput(Tool& tool, const std::string& path, const std::string& content) {
  if (path != "-") {
    absl::Status status =
        io::WriteNamed(path, content.data(), static_cast<int64_t>(content.size()));
    if (!status.ok()) tool.error(std::string(status.message()));
    return status.ok();
  }
  llvm::outs() << Printable(content, LineBreaks::kKeep);
  llvm::outs().flush();
  if (!llvm::outs().has_error()) return true;
  tool.error("standard output cannot be written: " + llvm::outs().error().message());
  llvm::outs().clear_error();
  return false;
}

}  // namespace dtranspile::cli
