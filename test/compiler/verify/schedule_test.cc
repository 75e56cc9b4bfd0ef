// D15: schedules against the SSA edges of pipeline bodies that are written out here.
#include <catch2/catch.hpp>

#include "compiler/verify/structure/schedules.h"
#include "test/compiler/verify/jobs.h"

namespace dtranspile::verify::test {
namespace {

using Catch::Matchers::Contains;

// The body of a pipeline: part k of the model on stage k mod stages; F of a part takes F of the one
// before, B takes its F and B of the one after it.
struct Pipeline {
  int stages = 2, chunks = 1, micros = 4;
  std::string schedule = "1F1B";
  bool weights = false;  // gradients of weights in tasks of their own
  int swapped = -1;      // the stage whose chunks are numbered from the end

  int parts() const { return stages * chunks; }
  int chunkOf(int part) const {
    return part % stages == swapped ? chunks - 1 - part / stages : part / stages;
  }
  static std::string at(int stage) {
    return "!dist.at<tensor<2xf32>, pp = " + std::to_string(stage) + ">";
  }

  std::string task(const std::string& kind, int part, const std::vector<std::string>& takes) const {
    const std::string stage = std::to_string(part % stages), name = kind + std::to_string(part);
    std::string text, with;
    for (size_t i = 0; i < takes.size(); ++i) {
      const int from = std::stoi(takes[i].substr(1)) % stages;
      std::string value = "%" + takes[i];
      if (from != part % stages) {
        text += "      %t" + name + "_" + std::to_string(i) + " = dist.transfer " + value +
                " on @moves : " + at(from) + " -> " + at(part % stages) + "\n";
        value = "%t" + name + "_" + std::to_string(i);
      }
      with += (i ? ", " : "") + std::string("%a") + std::to_string(i) + " = " + value + " : " +
              at(part % stages);
    }
    text += "      %" + name + " = dist.on <pp = " + stage + ">" +
            (with.empty() ? "" : " with (" + with + ")") + " task " + kind + " chunk " +
            std::to_string(chunkOf(part)) + " -> (" + at(part % stages) + ") { dist.yield " +
            (takes.empty() ? "%x" : "%a0") + " : tensor<2xf32> }\n";
    return text;
  }

  std::string text() const {
    std::string body;
    for (int k = 0; k < parts(); ++k)
      body +=
          task("F", k, k ? std::vector{"F" + std::to_string(k - 1)} : std::vector<std::string>());
    for (int k = parts() - 1; k >= 0; --k) {
      std::vector<std::string> takes = {"F" + std::to_string(k)};
      if (k + 1 < parts()) takes.push_back("B" + std::to_string(k + 1));
      body += task("B", k, takes);
      if (weights) body += task("W", k, {"B" + std::to_string(k)});
    }
    return around(body);
  }

  std::string around(const std::string& body) const {
    return "dist.mesh @w [pp = " + std::to_string(stages) +
           "] time [micro = " + std::to_string(micros) +
           "]\ndist.comm @moves on @w over [pp] pairs\ndist.role @trainer on @w {\n  pd.program "
           "@main {\n    %x = pd.input \"x\" : tensor<2xf32>\n"
           "    dist.micro over [micro] schedule(\"" +
           schedule + "\", chunks " + std::to_string(chunks) + ") {\n" + body +
           "      dist.yield\n    }\n  }\n}\n";
  }
};

Rung check(const std::string& text) {
  Jobs jobs;
  INFO(text);
  Rung rung;
  checkSchedules(*jobs.parse(text), rung);
  return rung;
}

}  // namespace

TEST_CASE("schedules respect the edges of their pipelines") {
  for (int stages : {1, 2, 3, 4})
    for (int micros : {stages, 2 * stages, 4 * stages}) {
      for (const char* schedule : {"F-then-B", "1F1B"})
        for (int chunks : {1, 2, 3}) {
          Rung rung = check(Pipeline{stages, chunks, micros, schedule}.text());
          INFO(schedule << " " << stages << " stages, " << chunks << " chunks, " << micros
                        << " micro-batches: "
                        << (rung.messages.empty() ? "" : rung.messages[0].text));
          CHECK(rung.messages.empty());
        }
      CHECK(check(Pipeline{stages, 1, micros, "ZB-H1", true}.text()).messages.empty());
    }
}

TEST_CASE("chunks of one stage that are labelled the wrong way round run before what they take") {
  Pipeline pipeline{2, 2, 4};
  pipeline.swapped = 1;
  Rung rung = check(pipeline.text());
  REQUIRE(rung.messages.size() == 1);
  CHECK(rung.verdict == Verdict::Refuted);
  CHECK(rung.messages[0].rule == "D15");
  CHECK_THAT(rung.messages[0].text,
             Contains("pp = 0 is to run F1.0") && Contains("on pp = 1 that has not run"));
  REQUIRE(rung.messages[0].notes.size() == 1);
  CHECK_THAT(rung.messages[0].notes[0],
             Contains("pp = 1 is to run F0 at place 0") && Contains("on pp = 0"));
  CHECK_FALSE(rung.messages[0].remedy.empty());
}

TEST_CASE("a forward task that takes what backward of another stage makes waits for ever") {
  Pipeline pipeline;
  std::string body =
      pipeline.task("B", 1, {}) + pipeline.task("F", 0, {"B1"}) + pipeline.task("F", 1, {"F0"});
  Rung rung = check(pipeline.around(body));
  REQUIRE(rung.messages.size() == 1);
  CHECK(rung.verdict == Verdict::Refuted);
  CHECK_THAT(rung.messages[0].text, Contains("takes a value of B0"));
  CHECK(rung.messages[0].notes.size() == 1);
}

TEST_CASE("tasks that the schedule never runs") {
  Pipeline pipeline;
  pipeline.weights = true;
  Rung rung = check(pipeline.text());
  CHECK(rung.verdict == Verdict::Refuted);
  CHECK_THAT(rung.messages.at(0).text, Contains("never runs"));
}

TEST_CASE("a stage without a task is refused by name, unless it never comes to the loop") {
  Pipeline pipeline;
  pipeline.schedule = "F-then-B";
  std::string text = pipeline.text();
  const std::string mesh = "[pp = 2]";
  text.replace(text.find(mesh), mesh.size(), "[pp = 3]");
  Rung rung = check(text);
  REQUIRE(rung.messages.size() == 1);
  CHECK(rung.verdict == Verdict::Refuted);
  CHECK(rung.messages[0].rule == "D15");
  CHECK_THAT(rung.messages[0].text, Contains("pp = 2 has no task in it"));
  CHECK_THAT(rung.messages[0].remedy, Contains("give every stage a task"));
  const std::string loop = "    dist.micro", end = "      dist.yield\n    }\n  }\n}\n";
  REQUIRE(text.ends_with(end));
  text.replace(text.size() - end.size(), end.size(),
               "      dist.yield\n    }\n    dist.yield\n    }\n  }\n}\n");
  text.replace(text.find(loop), loop.size(), "    dist.on <pp in {0 to 1}> {\n    dist.micro");
  CHECK(check(text).messages.empty());
}

TEST_CASE("a schedule that nobody knows is refuted, one that is too long leaves the verdict open") {
  Pipeline pipeline;
  pipeline.schedule = "VPP";
  Rung rung = check(pipeline.text());
  CHECK(rung.verdict == Verdict::Refuted);
  CHECK_THAT(rung.messages.at(0).text, Contains("VPP"));
  pipeline = {};
  pipeline.micros = 2000000000;
  rung = check(pipeline.text());
  CHECK(rung.verdict == Verdict::Unknown);
  CHECK_THAT(rung.messages.at(0).text, Contains("too large"));
}

}  // namespace dtranspile::verify::test
