// D29: in which order a trainer asks its servers in a step of a synchronous job: (push | lookup)*,
// phase push, pull*, phase pull; in the start-up program pull*, phase pull. By it a request finds
// its server in the phase that answers it, so that only the phases are waited for (run.h).
//
// A server that applies every push by itself waits for nobody: its handlers do not communicate
// (D19), so it takes one push after the other from queues however short, and a trainer that waits,
// for room in a queue or after its own pushes, waits for that only. There are no phases, but for
// the end of a half-asynchronous trainer's own pushes.
#pragma once

#include "compiler/verify/communication/events.h"

namespace dtranspile::verify {

// Of one class, on every rpc communicator of its role's mesh.
void checkProtocol(const ClassText& text, llvm::StringRef program, Rung& report);

}  // namespace dtranspile::verify
