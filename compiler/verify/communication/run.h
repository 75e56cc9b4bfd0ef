// The canonical run: one thread per class of ranks, first-in-first-out queues per communicator and
// per ordered pair of coordinates, rendezvous. By the diamond argument of docs/verification.md this
// one run decides for all, and for every number of ranks. Linear in events.
#pragma once

#include "compiler/verify/communication/events.h"

namespace dtranspile::verify {

// Runs one program of all classes of all roles; reports mismatches and the cycle of a deadlock.
// Returns the number of events.
int64_t runProgram(llvm::ArrayRef<ClassText> classes, llvm::StringRef program, Rung& report);

}  // namespace dtranspile::verify
