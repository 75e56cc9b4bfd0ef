// A rule, asked about one instance: the op stands in a module by itself, with its operands declared
// as concrete extents, and with the split dims unknown, as a batch is.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compiler/analysis/relations/rule.h"
#include "test/compiler/verify/claims/instances.h"
#include "test/compiler/verify/claims/states.h"

namespace dtranspile::claims {

struct Answer {
  std::vector<verify::Relation> relations;  // per result
  bool unknownExtents = false;              // of the split dims
  // Empty where a relation says something that can be looked at here.
  static std::string untestable(const verify::Relation& relation);
  // Whether one says what a rank has of its own share's value.
  static bool ofShare(const verify::Relation& relation);
};

class Asked {
 public:
  Asked(const Instance& instance, const verify::ParsedRule& rule, int64_t n);

  // Those that claim something that can be looked at, of the whole or of shares; the same to both
  // declarations is one.
  std::vector<Answer> answers(const Assignment& assignment, bool ofShares = false);
  // "mul {…} X: float64[4, 3] S(0), Y: float64[3, 5] -> Out S(0) x2 over 2". `result` -1: all that
  // are known.
  std::string text(const Assignment& assignment, const Answer& answer, int result) const;

 private:
  Alone& declared(const Assignment& assignment, bool unknownExtents);
  Answer ask(Alone& op, const Assignment& assignment, bool unknownExtents);

  const Instance& instance_;
  const verify::ParsedRule& rule_;
  verify::Axes axes_;
  std::map<std::vector<int>, Alone> made_;  // by the dims that are not known
};

}  // namespace dtranspile::claims
