// The claims of one rule about one instance along an axis of n coordinates: found by asking, tested
// by running the op on parts.
#pragma once

#include <string>
#include <vector>

#include "test/compiler/verify/claims/asked.h"
#include "test/compiler/verify/claims/native.h"
#include "test/compiler/verify/claims/report.h"

namespace dtranspile::claims {

class Trial {
 public:
  Trial(const Instance& instance, const verify::ParsedRule& rule, int64_t n, Native& native,
        Tally& tally);

  void run();

 private:
  struct Claim {
    Assignment assignment;
    std::vector<Answer> answers;  // different ones, to the ways to declare the operands
  };
  // What a run of a claim came to.
  struct Outcome {
    int64_t claims = 0;
    std::vector<std::string> wrong, left;

    bool clean() const { return wrong.empty() && left.empty(); }
  };
  // Operands of the reference and of every coordinate.
  struct Operands {
    Tensors whole;
    std::vector<Tensors> own;
  };

  // By coordinate `c`.
  absl::StatusOr<Tensors> runAt(size_t c, llvm::ArrayRef<TensorPtr> operands) {
    return native_.run(instance_.op, operands, {static_cast<int64_t>(c), n_});
  }
  std::vector<Claim> claimed();
  void count(const Outcome& outcome);
  void runShares();
  Outcome holdShares(const Claim& claim);
  bool hasParts(const Assignment& assignment) const;
  std::string leftOut(const Answer& answer, size_t result, const Tensors& whole) const;
  bool isDrawnInParts(size_t result, const verify::Relation& relation) const;
  void findDraws();
  void holdDraws(const Claim& claim, const Operands& operands, Outcome& outcome);
  Outcome hold(const Claim& claim);
  Outcome hold(const Claim& claim, const Assignment& made);
  Outcome refused(const Claim& claim, size_t coordinate, const absl::Status& status) const;
  std::optional<Operands> operandsOf(const Assignment& assignment);
  void holdWhole(const Claim& claim, const std::vector<Tensors>& given, const Tensors& whole,
                 Outcome& outcome) const;
  void holdParts(const Claim& claim, const std::vector<Tensors>& given, Outcome& outcome);
  std::string text(const Claim& claim, const Answer& answer, int result,
                   const std::string& what) const;

  const Instance& instance_;
  Asked asked_;
  const int64_t n_;
  Native& native_;
  Tally& tally_;
  Random random_;
  // Per result, of an op that draws: whether other seeds give other numbers.
  std::vector<bool> drawn_;
  bool drawsBySeed_ = false;  // of its own, which other ranks mix with where they stand
};

}  // namespace dtranspile::claims
