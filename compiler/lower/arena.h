// Places of buffers: persistables one after the other, temporaries by their lives.
//
// Bodies of guards, tasks and blocks are part of the time line of their program: what lives within
// one of them shares memory with what lives in others. What a repeated body (a task, a block) hands
// on keeps its place as long as the node runs, one place per instance where it has instances.
#pragma once

#include "compiler/lower/plan.h"

namespace dtranspile::lower {

inline constexpr int64_t kBufferAlignment = 64;

// Gives every storage its offset and the plan its block sizes. Temporaries of a program that live
// at the same time never overlap; the larger ones are placed first, each at the lowest offset where
// it fits (best use of gaps after Pisarchyk and Lee 2020, "Efficient Memory Management for Deep
// Neural Net Inference", greedy by size). The same plan always gets the same offsets.
void placeBuffers(Plan& plan);

}  // namespace dtranspile::lower
