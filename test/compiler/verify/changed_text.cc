#include "test/compiler/verify/changed_text.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "compiler/verify/relations/relations.h"

namespace dtranspile::verify::test {

std::string textOf(const std::string& job) {
  std::ifstream file("test/jobs/" + job + ".mlir");
  REQUIRE(file);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string changed(const Changed& row) {
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

std::string messagesOf(const Rung& rung) {
  VerifyReport report;
  report.rungs.push_back(rung);
  return verify::test::messagesOf(report);
}

void checkChanged(llvm::ArrayRef<Changed> rows) {
  Jobs jobs;
  for (const Changed& row : rows) {
    INFO(row.job << ": " << row.what);
    const auto job = jobs.parse(changed(row));
    const Rung rung = verifyRelations(*job);
    INFO(messagesOf(rung));
    const auto found = llvm::find_if(rung.messages, [&](const Message& message) {
      return message.level == row.level && message.rule == row.rule &&
             message.text.find(row.says) != std::string::npos;
    });
    CHECK(found != rung.messages.end());
    CHECK(rung.verdict != Verdict::Holds);
    for (const Message& message : rung.messages)
      if (message.level == Message::Level::Refuted) CHECK_FALSE(message.remedy.empty());
  }
}

}  // namespace dtranspile::verify::test
