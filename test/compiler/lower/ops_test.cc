// Every one-operator program of the corpus against the values the framework computed: none is left
// out, none may be refused.
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <iostream>
#include <regex>
#include <set>

#include "compiler/lower/block_lowering.h"
#include "compiler/lower/native.h"
#include "test/compiler/lower/compare_fetch.h"
#include "test/compiler/lower/program_case.h"
#include "test/compiler/lower/statistics.h"
#include "test/corpus_path.h"

namespace dtranspile::lower {
namespace {

namespace fs = std::filesystem;

std::vector<const std::vector<exec::Node>*> bodiesOf(const exec::Node& node) {
  if (const auto* branch = node.as<exec::IfNode>()) return {&branch->then, &branch->otherwise};
  if (const auto* loop = node.as<exec::WhileNode>()) return {&loop->body};
  return {};
}

// Ops lowered by a row must become what the row says (native.h): "gather (block 0, op 3)" a call of
// dt_gather, or a kernel. Empty if they do.
std::string compareForms(const std::vector<exec::Node>& body) {
  static const std::set<std::string> kOfAnyOp = {"dt_share_lod", "dt_list_clear",
                                                 "dt_random_stream"};
  for (const exec::Node& node : body) {
    for (const std::vector<exec::Node>* inner : bodiesOf(node)) {
      if (std::string difference = compareForms(*inner); !difference.empty()) return difference;
    }
    const auto* call = node.as<exec::CallNode>();
    const auto form = nativeForm(node.op.substr(0, node.op.find(' ')));
    if (!form || form->blocks || (call && kOfAnyOp.count(call->callee) != 0)) continue;
    if (node.as<exec::KernelNode>() && !form->formula)
      return node.op + " becomes a formula, which its row does not say";
    if (call && std::count(form->calls.begin(), form->calls.end(), call->callee) == 0)
      return node.op + " becomes " + call->callee + ", which its row does not say";
  }
  return "";
}

// DTRANSPILE_OPS, a regular expression over names of cases and op types, picks some and says of
// each how it went.
bool picked(const json& info, const std::string& name) {
  const char* pattern = std::getenv("DTRANSPILE_OPS");
  if (pattern == nullptr) return true;
  const std::regex wanted(pattern);
  bool any = std::regex_match(name, wanted);
  for (const json& type : info["op_types"])
    any |= std::regex_match(type.get<std::string>(), wanted);
  return any;
}

// A step of a case with random numbers, again and again until there are enough of them. What has a
// seed draws the same each time.
std::string drawAll(ProgramCase& c, exec::Executor& executor, int64_t step) {
  Statistics statistics(c);
  std::string difference;
  do {
    c.step(executor, step);
    difference = statistics.add(executor);
  } while (difference.empty() && !statistics.enough() && !isReproducible(c));
  return difference.empty() ? statistics.finish() : difference;
}

// Complex numbers are fed as the file has them: there is no wider program.
bool takesComplex(const json& info) {
  return std::any_of(info["feeds"].begin(), info["feeds"].end(), [](const json& feed) {
    return feed["dtype"].get<std::string>().starts_with("complex");
  });
}

void runAll(const std::string& corpus, bool float64 = false) {
  const std::string cache =
      (fs::temp_directory_path() / ("dtranspile-ops-" + std::to_string(getpid()))).string();
  int passed = 0;
  std::string failures;
  for (const std::string& name : test::CorpusCases(corpus)) {
    ProgramCase c(corpus + "/" + name, cache);
    // What is infinite in float32 may be a number in float64.
    const json& tags = c.info()["tags"];
    const bool edge = std::find(tags.begin(), tags.end(), "edge") != tags.end();
    if (float64 && (edge || isRandom(c.info()) || takesComplex(c.info()))) continue;
    if (!picked(c.info(), name)) continue;
    CompileStatistics statistics;
    try {
      if (!c.load() || (float64 && !c.widen()) || !c.compile(statistics)) {
        failures += name + ": " + c.errors;
        continue;
      }
      auto executor = c.start(false);
      std::string difference = compareForms(executor->plan().step().body);
      for (int64_t k = 0; k < c.info()["steps"].get<int64_t>() && difference.empty(); ++k) {
        if (isRandom(c.info())) {
          difference = drawAll(c, *executor, k);
          if (!isReproducible(c)) continue;
        } else {
          c.step(*executor, k);
        }
        for (const exec::FetchSlot& fetch : executor->plan().step().fetches) {
          const bool exact = isRandom(c.info()) && isDrawn(c, fetch.name);
          if (difference.empty()) difference = compareFetch(c, *executor, fetch, k, exact);
        }
      }
      if (difference.empty()) ++passed;
      else failures += name + ": " + difference + "\n";
    } catch (const std::exception& error) {
      failures += name + ": " + error.what() + "\n";
    }
  }
  fs::remove_all(cache);
  std::cout << corpus << ": " << passed << " cases right\n";
  INFO(failures);
  CHECK(failures.empty());
}

}  // namespace

TEST_CASE("one-operator programs of 2.6") { runAll("ops/p262"); }
TEST_CASE("one-operator programs of 1.8") { runAll("ops/fluid18"); }
TEST_CASE("one-operator programs of 2.6 in float64") { runAll("ops/p262", true); }
TEST_CASE("one-operator programs of 1.8 in float64") { runAll("ops/fluid18", true); }

}  // namespace dtranspile::lower
