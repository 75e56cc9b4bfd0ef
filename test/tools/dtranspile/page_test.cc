// The page of a job, without a browser: it is well formed whatever the job is called, says what it
// leaves out, stays small, and is the same every time. In a browser: test/e2e/page.py.
#include "tools/dtranspile/page/page.h"

#include <catch2/catch.hpp>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "dialects/dist/dist.h"
#include "dialects/pd/pd.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

namespace dtranspile::page {
namespace {

using Json = nlohmann::ordered_json;

struct Fixture {
  Fixture() { context.loadDialect<pd::PdDialect, dist::DistDialect>(); }

  Job jobOf(const std::string& text, const Json& strategy = {{"mode", ""}}) {
    Job job;
    job.module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(job.module);
    job.manifest = makeManifest(*job.module, strategy);
    return job;
  }

  Job named(const std::string& name) {
    std::ifstream file(std::string(std::getenv("TEST_SRCDIR")) + "/dtranspile/test/jobs/" + name +
                       ".mlir");
    std::stringstream text;
    text << file.rdbuf();
    return jobOf(text.str());
  }

  mlir::MLIRContext context;
};

// The first thing that is wrong with a page's markup; empty where nothing is. Elements are nested,
// attributes are quoted, nothing that could be markup stands in them.
std::string faultOf(const std::string& page) {
  std::vector<std::string> open;
  size_t at = 0;
  while ((at = page.find('<', at)) != std::string::npos) {
    const size_t end = page.find('>', at);
    if (end == std::string::npos) return "a tag without an end";
    const std::string tag = page.substr(at + 1, end - at - 1);
    const size_t quotes = std::count(tag.begin(), tag.end(), '"');
    if (tag.find('<') != std::string::npos || quotes % 2) return "a broken tag: " + tag;
    at = end + 1;
    if (tag[0] == '!' || tag.back() == '/') continue;
    if (tag[0] == '/') {
      if (open.empty() || open.back() != tag.substr(1)) return "closes " + tag;
      open.pop_back();
      continue;
    }
    open.push_back(tag.substr(0, tag.find(' ')));
    // What stands in these is no markup.
    if (open.back() == "style" || open.back() == "script") at = page.find("</", at);
  }
  return open.empty() ? "" : "leaves open " + open.back();
}

bool has(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

size_t count(const std::string& page, const std::string& text) {
  size_t found = 0;
  for (size_t at = 0; (at = page.find(text, at)) != std::string::npos; ++at) ++found;
  return found;
}

// A job of `layers` layers: a parameter, a velocity and some ops each; one collective per layer.
std::string layered(int layers, int64_t ranks, const std::string& prefix = "w") {
  std::string text = "dist.mesh @world [dp = " + std::to_string(ranks) + "]\n" +
                     "dist.comm @grad on @world over [dp] group\n" +
                     "dist.role @trainer on @world {\n";
  std::string ops =
      "pd.program @main {\n%x = pd.input \"x\" {dist.batch = #dist.batch<0: dp>} : "
      "tensor<?x8xf32>\n";
  for (int i = 0; i < layers; ++i) {
    const std::string name = prefix + std::to_string(i), id = std::to_string(i);
    text += "pd.var @\"" + name + "\" : tensor<8x8xf32> {parameter, dist.rel = #dist.rel<\"" +
            name + "\">}\npd.var @\"" + name + "_velocity\" : tensor<8x8xf32>\n";
    ops += "%w" + id + " = pd.get @\"" + name + "\" : tensor<8x8xf32>\n";
    for (int k = 0; k < 4; ++k)
      ops += "%t" + id + "_" + std::to_string(k) + " = pd.tanh X(%x) -> Out(\"" + name + ".t" +
             std::to_string(k) + "\") : (tensor<?x8xf32>) -> tensor<?x8xf32>\n";
    ops += "%r" + id + " = dist.all_reduce sum (%w" + id +
           ") on @grad : (tensor<8x8xf32>) -> tensor<8x8xf32>\n";
  }
  return text + ops + "}\n}\n";
}

}  // namespace

TEST_CASE_METHOD(Fixture, "the jobs of the repository have well-formed pages") {
  for (const char* name :
       {"merged_gradients", "owner_sharded_2", "owner_sharded_4", "parameter_server", "pipeline"}) {
    INFO(name);
    const Job job = named(name);
    const std::string page = pageOfJob(job);
    CHECK(faultOf(page) == "");
    CHECK(has(page, job.digest()));
    for (const char* section :
         {"drawing", "step", "memory", "communication", "variables", "programs"})
      CHECK(has(page, "<section id=\"" + std::string(section) + "\">"));
    CHECK(has(page, "<section id=\"schedule\">") == (std::string(name) == "pipeline"));
    // Nothing is fetched, and nothing runs but the page's own script.
    CHECK_FALSE(has(page, "://"));
    CHECK_FALSE(has(page, "src="));
    CHECK(count(page, "<script>") == 1);
    CHECK(page == pageOfJob(job));
  }
}

TEST_CASE_METHOD(Fixture, "a pipeline is played through") {
  const std::string page = pageOfJob(named("pipeline"));
  // 1F1B of 2 stages and 4 micro-batches: 2 (4 + 2 - 1) units, of which 8 of 10 are busy.
  CHECK(has(page, "2 stages, 4 micro-batches; 10 units of time, of which 20 % idle."));
  CHECK(has(page, "<title>F0 at 0</title>"));
  CHECK(has(page, "<title>B3 at 9</title>"));
  CHECK(count(page, "under way</text>") == 2);
  CHECK(has(page, "tasks F B"));
  // An activation of 32 floats per row, four times per step.
  CHECK(has(page, "512 B × ?"));
  CHECK(has(page, "for each of 4 micro-batches"));
}

namespace {

// What rank `stage` of the pipeline writes: its tasks one after another, 1 ms each, `steps` times;
// every backward task waits for half of it.
std::string traced(const std::vector<std::string>& tasks, int steps) {
  Json events = Json::array();
  events.push_back({{"ph", "M"}, {"name", "process_name"}, {"pid", 0}, {"tid", 0}});
  double now = 5e6;
  const auto add = [&](const std::string& name, int row, double begin, double length) {
    events.push_back({{"ph", "X"}, {"name", name}, {"tid", row}, {"ts", begin}, {"dur", length}});
  };
  for (int step = 0; step < steps; ++step) {
    for (const std::string& task : tasks) {
      add("send", 1, now, 100);
      if (task[0] == 'B') add("recv", 0, now, 500);
      add("matmul", 0, now + 500, 400);
      add(task, 0, now, 1000);
      now += 1000;
    }
    now += 9000;
  }
  return Json{{"traceEvents", events}}.dump();
}

const std::vector<std::string> kFirst = {"F 0", "F 1", "B 0", "F 2", "B 1", "F 3", "B 2", "B 3"},
                               kSecond = {"F 0", "B 0", "F 1", "B 1", "F 2", "B 2", "F 3", "B 3"};

Traces tracesOf(const std::string& first, const std::string& second) {
  return {{{"trainer", 0}, *parseTrace("a", first)}, {{"trainer", 1}, *parseTrace("b", second)}};
}

}  // namespace

TEST_CASE_METHOD(Fixture, "a pipeline is drawn as it ran") {
  const Job job = named("pipeline");
  CHECK(tracedRanks(job) ==
        std::vector<std::pair<std::string, int64_t>>{{"trainer", 0}, {"trainer", 1}});
  const std::string page = pageOfJob(job, tracesOf(traced(kFirst, 3), traced(kSecond, 4)));
  CHECK(faultOf(page) == "");
  // 8 tasks of 1 ms in 8 ms, of which 4 wait for half a millisecond.
  CHECK(has(page,
            "step 1 of 3, the one of median length; it took 8.00 ms, of which stages were "
            "idle or waited 25 % (planned: 20 %)."));
  CHECK(has(page, "<title>B0 from 2.00 ms for 1.00 ms, of which it computes 500 µs</title>"));
  CHECK(has(page, "trainer 1: 75 %"));
  CHECK_FALSE(has(pageOfJob(job), "As it ran"));
}

TEST_CASE_METHOD(Fixture, "traces that do not fit the job are not drawn") {
  const Job job = named("pipeline");
  CHECK(has(pageOfJob(job, tracesOf(traced(kSecond, 1), traced(kSecond, 1))),
            "the traces are of another job: rank 0 ran B0 where the schedule has F1."));
  CHECK(has(pageOfJob(job, tracesOf(traced(kFirst, 1), traced({"F 0"}, 1))),
            "no step is whole in the traces."));
}

TEST_CASE("what is no trace is refused by what is wrong with it") {
  const auto says = [](const std::string& text, const std::string& what) {
    const auto trace = parseTrace("t.json", text);
    REQUIRE_FALSE(trace.ok());
    INFO(trace.status().message());
    CHECK(has(std::string(trace.status().message()), what));
  };
  says("{", "t.json: is no legal JSON");
  says("[]", "t.json: is no trace: it has no list `traceEvents`");
  says(R"({"traceEvents": {}})", "it has no list `traceEvents`");
  says(R"({"traceEvents": [1]})", "`traceEvents[0]` has no proper `ph`");
  says(R"({"traceEvents": [{"ph": "X", "tid": 0, "ts": "0", "dur": 1, "name": "F 0"}]})",
       "`traceEvents[0]` has no proper `ts`");
  says(R"({"traceEvents": [{"ph": "X", "tid": 0, "ts": 0, "dur": 1, "name": 7}]})",
       "`traceEvents[0]` has no proper `name`");
  const auto names = parseTrace("t.json", R"({"traceEvents": [
    {"ph": "X", "tid": 0, "ts": 0, "dur": 1, "name": "F.1 12"},
    {"ph": "X", "tid": 1, "ts": 0, "dur": 1, "name": "F 1"},
    {"ph": "X", "tid": 0, "ts": 0, "dur": 1, "name": "F -1"},
    {"ph": "X", "tid": 0, "ts": 0, "dur": 1, "name": "Fold 1"},
    {"ph": "X", "tid": 0, "ts": 0, "dur": 1, "name": "B 99999999999999999999"}]})");
  REQUIRE(names.ok());
  REQUIRE(names->size() == 1);
  CHECK(schedule::textOf(names->front().entry) == "F1.12");
}

TEST_CASE_METHOD(Fixture, "requests go to servers and come back") {
  const std::string page = pageOfJob(named("parameter_server"));
  CHECK(has(page, "push, mean"));
  CHECK(count(page, "class=\"rpc tip\"") == 2);
  CHECK(has(page, "end of push"));
  CHECK(has(page, "≤ 40 B"));  // of the server's blocks
}

TEST_CASE_METHOD(Fixture, "owners are told apart") {
  const std::string page = pageOfJob(named("owner_sharded_4"));
  CHECK(has(page, "<th>lies here only</th>"));
  for (const char* owner : {"sharding = 0", "sharding = 1", "sharding = 2", "sharding = 3"})
    CHECK(has(page, owner));
  CHECK(has(page, "broadcast ×4: 6 tensors, 102.0 KiB"));
}

TEST_CASE_METHOD(Fixture, "names are text") {
  const std::string names[] = {"<script>alert(1)</script>",
                               "\\22><img src=x onerror=alert(1)>",
                               "'\\22&amp;</title>",
                               "\\1B[31mred\\07\\00",
                               "two\\0Alines\\09tab",
                               "\\E2\\80\\AEesrever",
                               "\\FF\\FE",
                               std::string(100000, 'n')};
  for (const std::string& name : names) {
    INFO(name.substr(0, 40));
    const std::string page =
        pageOfJob(jobOf(layered(3, 2, name), {{"mode", "<b>mode</b>"}, {"note", "</dl>\x1b"}}));
    CHECK(faultOf(page) == "");
    CHECK(count(page, "<script>") == 1);
    for (const char* bad : {"<img", "<b>mode", "</dl>\\", "\xe2\x80\xae"})
      CHECK_FALSE(has(page, bad));
    for (const char c : page)
      if (static_cast<unsigned char>(c) < 0x20) REQUIRE(c == '\n');
    CHECK(page.size() < 60000);
  }
}

TEST_CASE_METHOD(Fixture, "a page is bounded and says what it leaves out") {
  const std::string small = pageOfJob(jobOf(layered(2000, 8)));
  CHECK(faultOf(small) == "");
  CHECK(small.size() < 1500000);
  CHECK(has(small, "Listed are 600 of 4,000 variables"));
  CHECK(has(small, "more ops are not listed"));
  CHECK(has(small, "more under way are not drawn"));
  // As many boxes for 8 as for 100,000 ranks: a few digits more, and dots less.
  const std::string large = pageOfJob(jobOf(layered(2000, 100000)));
  CHECK(large.size() < small.size() + 200);
  CHECK(has(large, "100,000 ranks"));
}

TEST_CASE_METHOD(Fixture, "more classes than fit are counted") {
  std::string text =
      "dist.mesh @world [pp = 20]\ndist.comm @c on @world over [pp] pairs\n"
      "dist.role @trainer on @world { pd.program @main {\n";
  for (int i = 0; i < 20; ++i) {
    const std::string sel = "pp = " + std::to_string(i), id = std::to_string(i);
    text += "%a" + id + " = dist.on <" + sel + "> -> (!dist.at<tensor<4xf32>, " + sel +
            ">) {\n%z = pd.fill_constant -> Out(\"z\") {dtype = 5 : i32, shape = array<i64: 4>, "
            "value = "
            "0.0 : f32} : () -> tensor<4xf32>\ndist.yield %z : tensor<4xf32>\n}\n";
    if (i < 19)
      text += "%b" + id + " = dist.transfer %a" + id + " on @c : !dist.at<tensor<4xf32>, " + sel +
              "> -> !dist.at<tensor<4xf32>, pp = " + std::to_string(i + 1) + ">\n";
  }
  const std::string page = pageOfJob(jobOf(text + "}\n}\n"));
  CHECK(faultOf(page) == "");
  CHECK(has(page, "20 classes"));
  CHECK(has(page, "13 more classes"));
  CHECK(count(page, "class=\"pairs tip\"") == 7);  // those among the rest are not drawn
}

}  // namespace dtranspile::page
