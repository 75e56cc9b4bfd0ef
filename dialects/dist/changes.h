// Attributes of requests and reads in jobs without rounds (docs/dialects/dist.md, Changes).
#pragma once

#include "llvm/ADT/StringRef.h"

namespace dtranspile::dist {

// On a dist.push of a dense change with merge each: only its rows that are not zero travel, and
// servers remember for all other trainers that these have changed.
inline constexpr llvm::StringLiteral kChangedRowsAttr = "dist.changed_rows";
// On a dist.pull, a symbol: only the rows travel that other trainers have changed by such pushes
// since this one asked last; the others are those of this variable of the trainer.
inline constexpr llvm::StringLiteral kKnownAttr = "dist.known";
// On a pd.get in the handler of a push: the variable as the trainer that has pushed has pulled it
// last, or as it was at first.
inline constexpr llvm::StringLiteral kAsPulledAttr = "dist.as_pulled";

// On a dist.comm to servers without rounds: how gradients wait on a trainer, as a dictionary of
// what differs from the defaults of exec::Sending (runtime/exec/plan.h), whose names it has.
inline constexpr llvm::StringLiteral kSendingAttr = "dist.sending";
inline constexpr int64_t kDefaultQueueSize = 16;
// On a dist.push with merge each: it waits in no queue, and is merged with no other.
inline constexpr llvm::StringLiteral kAtOnceAttr = "dist.at_once";

// On the dist.comm of geo-SGD: trainers exchange in every so many steps, which this variable of
// theirs counts (a name).
inline constexpr llvm::StringLiteral kExchangeSteps = "geo_sgd_need_push_nums";
inline constexpr llvm::StringLiteral kExchangeCounter = "geo_sgd_counter";

}  // namespace dtranspile::dist
