// Where the forward part is cut into segments that are computed again: by names, by the square
// root of its size, or the best there is for a given amount of work.
#pragma once

#include <string>

#include "passes/recompute/plan.h"

namespace dtranspile::passes {

// Behind the values of these names and patterns (`*` stands for any text); the part behind the last
// one is not computed again. What names nothing is reported.
mlir::FailureOr<Segments> segmentsAt(const Steps& steps, llvm::ArrayRef<std::string> checkpoints,
                                     pd::ProgramOp main);

// About as many segments as makes what is kept between them as large as one of them (Chen et al.,
// arXiv:1604.06174).
Segments squareRootSegments(const Steps& steps);

// The segments of least memory whose repetition costs at most `percent` of a step's work.
Segments bestSegments(const Steps& steps, double percent);

}  // namespace dtranspile::passes
