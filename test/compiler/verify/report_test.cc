// Reports: verdicts, exit codes, and the four formats.
#include <catch2/catch.hpp>

#include "compiler/verify/report/render.h"
#include "nlohmann/json.hpp"

namespace dtranspile::verify {
namespace {

VerifyReport sample() {
  Rung good;
  good.name = "structure";
  good.stat("operations", 12);
  Rung bad;
  bad.name = "relations";
  Message message;
  message.rule = "reduced-once";
  message.op = "sgd";
  message.position = "trainer/main: b0:op11 sgd";
  message.file = "main.pdmodel";
  message.text = "`w@GRAD` <enters> \"sgd\" & more";
  message.remedy = "reduce it";
  message.notes = {"a note"};
  bad.add(message);
  VerifyReport report;
  report.rungs = {good, bad};
  report.required = {"structure", "relations"};
  return report;
}

}  // namespace

TEST_CASE("the verdict is the worst of the required rungs; one that did not run is unknown") {
  VerifyReport report = sample();
  CHECK(report.overall() == Verdict::Refuted);
  CHECK(exitCode(report.overall()) == 1);
  report.required = {"structure"};
  CHECK(exitCode(report.overall()) == 0);
  report.required = {"structure", "refinement"};
  CHECK(exitCode(report.overall()) == 3);
}

TEST_CASE("messages above the limit are counted") {
  Rung rung;
  for (int i = 0; i < 1000; ++i) rung.add(Message());
  CHECK(rung.messages.size() == 200);
  CHECK(rung.dropped == 800);
}

TEST_CASE("text names position, finding and remedy") {
  std::string text = render(sample(), Format::Text, "job");
  CHECK(text ==
        "structure: verified (operations 12)\n"
        "relations: refuted ()\n"
        "  refuted [reduced-once] trainer/main: b0:op11 sgd\n"
        "    `w@GRAD` <enters> \"sgd\" & more\n"
        "    - a note\n"
        "    to do: reduce it\n"
        "job: refuted (rungs structure, relations)\n");
}

TEST_CASE("json and sarif are json, junit escapes") {
  auto json = nlohmann::json::parse(render(sample(), Format::Json, "job"));
  CHECK(json["verdict"] == "refuted");
  CHECK(json["rungs"][1]["messages"][0]["rule"] == "reduced-once");
  auto sarif = nlohmann::json::parse(render(sample(), Format::Sarif, "job"));
  CHECK(sarif["version"] == "2.1.0");
  CHECK(sarif["runs"][0]["results"][0]["ruleId"] == "relations/reduced-once");
  CHECK(sarif["runs"][0]["results"][0]["level"] == "error");
  std::string junit = render(sample(), Format::Junit, "job");
  CHECK(junit.find("tests=\"2\" failures=\"1\" errors=\"0\"") != std::string::npos);
  CHECK(junit.find("&lt;enters&gt; &quot;sgd&quot; &amp; more") != std::string::npos);
}

TEST_CASE("what a verdict leans on is in every format") {
  VerifyReport report = sample();
  report.rungs[1].conditions = {{"contract", "local_sgd", "parameters are averaged"},
                                {"variable", "velocity", "local_sgd"}};
  std::string text = render(report, Format::Text, "job");
  CHECK(text.find("under contract `local_sgd`: parameters are averaged") != std::string::npos);
  CHECK(text.find("each rank keeps its own (local_sgd): `velocity`") != std::string::npos);
  auto json = nlohmann::json::parse(render(report, Format::Json, "job"));
  CHECK(json["rungs"][1]["conditions"][1]["name"] == "velocity");
  auto sarif = nlohmann::json::parse(render(report, Format::Sarif, "job"));
  CHECK(sarif["runs"][0]["properties"]["conditions"].size() == 2);
  CHECK(render(report, Format::Junit, "job").find("<system-out>") != std::string::npos);
}

TEST_CASE("formats by name") {
  CHECK(formatNamed("sarif") == Format::Sarif);
  CHECK_FALSE(formatNamed("yaml"));
}

}  // namespace dtranspile::verify
