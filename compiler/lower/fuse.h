// Element-wise fusion: a kernel that computes a temporary for one other kernel becomes part of that
// one, so that the temporary is never in memory. Runs on plans whose temporaries are written once,
// before updateInPlace.
#pragma once

#include "compiler/lower/plan.h"

namespace dtranspile::lower {

// Greedy, in program order; the same plan always fuses alike.
void fuseKernels(Plan& plan, PlanProgram& program);

// Puts the computation of `producer` (element-wise, one store, of a contiguous tensor) in the place
// of the consumer's loads of operand `operand`. `buffers` and `producerBuffers` are the buffers of
// the operands. False, and nothing changed, where the loop nests do not fit.
bool fuseInto(Kernel& consumer, std::vector<int>& buffers, int operand, const Kernel& producer,
              const std::vector<int>& producerBuffers);

}  // namespace dtranspile::lower
