// Runs an op natively: compiled by itself for the extents of its operands, once, and run as often
// as it is asked for.
#pragma once

#include <map>
#include <string>

#include "absl/status/statusor.h"
#include "dialects/pd/infer.h"
#include "runtime/exec/executor.h"
#include "test/compiler/verify/claims/one_op.h"

namespace dtranspile::claims {

// Which of the coordinates of axis `dp` runs an op, and the seed of the run: what is drawn without
// a seed of its own follows from both.
struct Place {
  int64_t at = 0, of = 1;
  uint64_t seed = 20;
};

class Native {
 public:
  Native();
  ~Native();

  // One tensor per result, null for those that are none (fed.h). The error is what the compiler or
  // the runtime says.
  absl::StatusOr<Tensors> run(const OneOp& op, llvm::ArrayRef<TensorPtr> operands,
                              const Place& place = {});

 private:
  struct Compiled {
    absl::Status status;
    std::unique_ptr<exec::Executor> executor;
    std::vector<int> results;     // numbers of the fetched ones
    std::vector<pd::Kind> kinds;  // of the operands
  };
  Compiled compile(const OneOp& op, llvm::ArrayRef<TensorPtr> operands);

  std::string folder_;
  int number_ = 0;  // of plans made
  std::map<std::string, Compiled> compiled_;
};

}  // namespace dtranspile::claims
