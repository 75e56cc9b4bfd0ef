// Jobs of test/jobs, changed in one place of their text: what rung 2 says of each.
#pragma once

#include <string>
#include <vector>

#include "compiler/analysis/report.h"
#include "llvm/ADT/ArrayRef.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {

// Which rule sees the change, and what it says.
struct Changed {
  const char *job, *what;
  std::vector<std::string> context;  // texts that stand before the place, in order
  std::string old, now;
  Message::Level level;
  const char *rule, *says;
};

std::string textOf(const std::string& job);
std::string changed(const Changed& row);
std::string messagesOf(const Rung& rung);

// Every row has a message of its level, rule and words; none is verified.
void checkChanged(llvm::ArrayRef<Changed> rows);

}  // namespace dtranspile::verify::test
