#include "compiler/analysis/relations/compression.h"

namespace dtranspile::verify {

std::string siteOf(llvm::StringRef parameter, int64_t elements, llvm::ArrayRef<SentUpTo> stages) {
  std::string text = parameter.str() + ": ";
  for (auto [i, stage] : llvm::enumerate(stages)) {
    if (i > 0) text += stage.last ? ", " : ", then ";
    text += stage.kept ? std::to_string(stage.kept) : "all";
    if (i == 0) text += " of " + std::to_string(elements);
    if (stage.last) text += " up to step " + std::to_string(stage.last);
  }
  return text;
}

bool isCompression(dist::CompositeOp composite) {
  return composite.getOp() == kCompressedUpdate || composite.getOp() == kLocalClip;
}

}  // namespace dtranspile::verify
