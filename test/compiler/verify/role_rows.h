// Rows of the tests of rung 2 on jobs of test/jobs: one place changed, the rule that sees it and
// what it says.
#pragma once

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "compiler/verify/relations/relations.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {

using Catch::Matchers::Contains;
using Level = Message::Level;

struct Row {
  const char *job, *what;
  std::vector<std::string> context;  // texts that stand before the place, in order
  std::string old, now;
  Level level;
  const char *rule, *says;
};

inline std::string textOf(const std::string& job) {
  std::ifstream file("test/jobs/" + job + ".mlir");
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::string changed(const Row& row) {
  std::string text = textOf(row.job);
  size_t at = 0;
  for (const std::string& part : row.context) {
    at = text.find(part, at);
    REQUIRE(at != std::string::npos);
    at += part.size();
  }
  at = text.find(row.old, at);
  REQUIRE(at != std::string::npos);
  return text.replace(at, row.old.size(), row.now);
}

inline std::string messagesOf(const Rung& rung) {
  VerifyReport report;
  report.rungs.push_back(rung);
  return verify::test::messagesOf(report);
}

inline void check(llvm::ArrayRef<Row> rows) {
  Jobs jobs;
  for (const Row& row : rows) {
    INFO(row.job << ": " << row.what);
    const auto job = jobs.parse(changed(row));
    const Rung rung = verifyRelations(*job, "");
    INFO(messagesOf(rung));
    const auto found = llvm::find_if(rung.messages, [&](const Message& message) {
      return message.level == row.level && message.rule == row.rule &&
             message.text.find(row.says) != std::string::npos;
    });
    CHECK(found != rung.messages.end());
    CHECK(rung.verdict != Verdict::Holds);
    for (const Message& message : rung.messages)
      if (message.level == Level::Refuted) CHECK_FALSE(message.remedy.empty());
  }
}

}  // namespace dtranspile::verify::test
