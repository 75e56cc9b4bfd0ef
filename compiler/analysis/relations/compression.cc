#include "compiler/analysis/relations/compression.h"

#include <algorithm>
#include <cmath>

namespace dtranspile::verify {
namespace {

// At least one: something is sent in every step.
int64_t keptOf(int64_t elements, double share) {
  if (share == 0) return 0;
  const double kept = std::floor(static_cast<double>(elements) * (1 - share) + 1e-6);
  return std::max<int64_t>(1, static_cast<int64_t>(kept));
}

}  // namespace

// Number i of L is that of steps B + ceil(i R / L) + 1 and later: floor(s L / R) = i in step s
// after B, counted from zero, as the framework computes it.
std::vector<SentUpTo> sentBy(int64_t elements, llvm::ArrayRef<double> shares, int64_t begin,
                             int64_t rampup) {
  std::vector<SentUpTo> stages;
  const auto count = static_cast<int64_t>(shares.size());
  const auto add = [&](int64_t last, int64_t kept) {
    if (!stages.empty() && stages.back().kept == kept) stages.back().last = last;
    else stages.push_back({last, kept});
  };
  if (begin > 0) add(begin, 0);
  int64_t done = begin;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t last = i + 1 == count ? 0 : begin + ((i + 1) * rampup + count - 1) / count;
    if (last != 0 && last <= done) continue;  // more numbers than steps
    add(last, keptOf(elements, shares[i]));
    done = last;
  }
  return stages;
}

// "fc.w: 10 of 1000 up to step 5, then 1": what of a parameter is sent, stage by stage.
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
