// Updates whose gradients travel as their largest elements (deep gradient compression): a composite
// in the place of a momentum update, and how the contract `dgc` says what it sends. The body is
// looked at by compiler/verify/relations/compression.h; taken for what it stands for, it is an
// update with the sum of the ranks' gradients.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dialects/dist/dist.h"
#include "llvm/ADT/ArrayRef.h"

namespace dtranspile::verify {

inline constexpr llvm::StringLiteral kCompressionTag = "dgc";
inline constexpr llvm::StringLiteral kCompressedUpdate = "dgc_momentum";  // for a momentum
inline constexpr llvm::StringLiteral kLocalClip = "dgc_clip_by_norm";     // for a clip_by_norm

// What is sent of a gradient up to a step, which are counted from one.
struct SentUpTo {
  int64_t last = 0;  // step; 0: for good
  int64_t kept = 0;  // elements; 0: all, as a dense sum
  bool operator==(const SentUpTo& other) const { return last == other.last && kept == other.kept; }
};

// What is sent of a gradient of so many elements: `shares` of them are kept back, in turn, within
// `rampup` steps after the first `begin`, which are dense; the last for good.
std::vector<SentUpTo> sentBy(int64_t elements, llvm::ArrayRef<double> shares, int64_t begin,
                             int64_t rampup);

// "w: all of 2048 up to step 2, 512 up to step 4, then 20", as the contract lists it.
std::string siteOf(llvm::StringRef parameter, int64_t elements, llvm::ArrayRef<SentUpTo> stages);

bool isCompression(dist::CompositeOp composite);

}  // namespace dtranspile::verify
