// Updates that take norms of whole parameters, computed on parts (passes sharding and
// tensor-parallel): what the bodies of their composites must be.
#pragma once

#include <string>

#include "dialects/dist/dist.h"

namespace dtranspile::verify {

inline constexpr llvm::StringLiteral kShardedClip = "sharded_clip_by_norm";
inline constexpr llvm::StringLiteral kShardedLars = "sharded_lars_momentum";
inline constexpr llvm::StringLiteral kShardedLamb = "sharded_lamb";

bool takesNormsOfParts(dist::CompositeOp composite);

// Says which result is not the formula; empty where all are. Over which ranks norms are summed up
// is no matter here: relations say what lies in parts along which axes.
std::string normBodyDiffers(dist::CompositeOp composite);

}  // namespace dtranspile::verify
