// Holds relation rules to account: what the rule of an op claims of the results of an instance is
// compared with what coordinates give that run the op on their parts.
//
// A claim: for operands in certain states along one axis, the rule says in which state a result is
// (the whole reading). Left out is what speaks of something else than the reference's value: a
// result that is evaluated per share, or that differs between ranks.
#pragma once

#include <functional>
#include <set>
#include <string>

#include "compiler/analysis/relations/rule.h"
#include "test/compiler/verify/claims/instances.h"
#include "test/compiler/verify/claims/report.h"
#include "test/compiler/verify/claims/states.h"

namespace dtranspile::claims {

using RuleOf = std::function<const verify::ParsedRule*(llvm::StringRef type)>;

class Checker {
 public:
  // `ruleOf`: verify::findRule, or what a test wants to see caught.
  explicit Checker(RuleOf ruleOf) : ruleOf_(std::move(ruleOf)) {}

  // All ops of a case; $DTRANSPILE_OPS, a regular expression, picks ops and cases by name.
  void checkCase(const std::string& name);
  const Report& report() const { return report_; }

 private:
  void check(const Instance& instance);
  void checkDraws(const Instance& instance, const verify::ParsedRule& rule, Tally& tally);
  void checkHalf(const Instance& instance, const verify::ParsedRule& rule, Tally& tally);
  bool isNew(const Instance& instance);

  RuleOf ruleOf_;
  Native native_;
  Report report_;
  std::set<std::string> seen_;
  std::map<std::string, int> alike_;  // instances that differ in extents only
  std::map<std::string, int> ofType_;
  std::set<std::string> inHalf_;  // types that were looked at
};

}  // namespace dtranspile::claims
