// What contracts say (docs/verification.md, Contracts): the words that passes write into a job, and
// that rung 2 holds the job's against, so that nobody reads of a job what it does not do.
// Statements with numbers that other checks find out stand beside those: averages.h (local_sgd),
// sites.h (gradient_sum), table_sum.h.
#pragma once

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>

#include "llvm/ADT/StringRef.h"

namespace dtranspile::verify {

struct ContractText {
  llvm::StringLiteral tag, text;
};
inline constexpr ContractText kContractTexts[] = {
    {"parts",
     "these ops are evaluated on each rank's share of the batch, and gradients are averaged over "
     "the shares"},
    {"batch_statistics",
     "running statistics are those of a rank's own part of each batch; rank 0's are saved"},
    {"local_state",
     "the variable accumulates over a rank's own part of each batch; rank 0's is saved"},
    {"dgc",
     "each rank sends the largest elements of what its gradients have added up to; what it does "
     "not send it keeps"},
    {"delay_compensation",
     "a gradient is corrected by how far the parameter has come since the trainer has pulled it"},
    {"fp16_wire", "gradients are rounded to float16 between ranks"},
};

// Of a contract that always says the same; empty for others.
inline llvm::StringRef contractText(llvm::StringRef tag) {
  const auto* found = std::find_if(std::begin(kContractTexts), std::end(kContractTexts),
                                   [&](const ContractText& row) { return row.tag == tag; });
  return found == std::end(kContractTexts) ? llvm::StringRef() : llvm::StringRef(found->text);
}

// geo: `steps` from one exchange to the next.
inline std::string geoText(int64_t steps) {
  return "every trainer takes the steps of one device on its own share of each batch; every " +
         std::to_string(steps) +
         " steps it adds its share of how far it has come to what the servers have, and takes over "
         "what others have added";
}

// staleness: up to `merged` gradients of a variable travel as one (averaged, or added up), and
// `ahead` where not every pull waits for what was pushed before it.
inline std::string stalenessText(int64_t merged, bool averaged, bool ahead) {
  std::string text = "every push is applied by itself, to what the servers have then";
  if (merged > 1)
    text += "; up to " + std::to_string(merged) + " gradients of a trainer, " +
            (averaged ? "averaged" : "added up") + ", are one push";
  if (ahead) text += "; trainers go on with parameters that they pulled before their last pushes";
  return text;
}

}  // namespace dtranspile::verify
