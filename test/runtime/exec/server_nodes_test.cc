// Requests to servers, and a server's rounds, with both ends in memory.
#include <catch2/catch.hpp>
#include <filesystem>

#include "runtime/exec/executor.h"
#include "test/runtime/exec/plan_builder.h"
#include "test/runtime/exec/test_calls.h"

namespace dtranspile::exec {
namespace {

// One table of rows of two elements; remembers what is asked.
class FakeLink : public ServerLink {
 public:
  absl::Status Push(const TableRequest& request, Merge merge, const TensorView& value) override {
    Note("push", request, merge == Merge::kMean ? " mean" : " other");
    return Store(value);
  }
  absl::Status PushRows(const TableRequest& request, Merge, const Value& value) override {
    Note("rows", request, " of " + std::to_string(value.height));
    return absl::OkStatus();
  }
  absl::Status Pull(const TableRequest& request, const TensorRoom& to) override {
    Note("pull", request, "");
    std::copy(table.begin(), table.end(), reinterpret_cast<float*>(to.data));
    return absl::OkStatus();
  }
  absl::Status Lookup(const TableRequest& request, const int64_t* ids, int64_t count,
                      const TensorRoom& to) override {
    Note("lookup", request,
         " " + std::to_string(count) +
             (request.padding ? " padding " + std::to_string(*request.padding) : ""));
    for (int64_t i = 0; i < count; ++i)
      for (int64_t c = 0; c < 2; ++c)
        reinterpret_cast<float*>(to.data)[2 * i + c] = table[static_cast<size_t>(2 * ids[i] + c)];
    return absl::OkStatus();
  }
  absl::Status EndPhase(const std::string& op, Phase phase) override {
    events.push_back("end " + op);
    return phase == fails ? absl::DeadlineExceededError("server 0 has not answered within 20 s")
                          : absl::OkStatus();
  }
  absl::Status Leave() override { return absl::OkStatus(); }
  void Abort(const std::string&) override {}
  int64_t bytes_sent() const override { return 0; }
  int64_t bytes_received() const override { return 0; }

  std::vector<std::string> events;
  std::vector<float> table = std::vector<float>(8, 0);
  std::optional<Phase> fails;

 private:
  void Note(const char* what, const TableRequest& request, const std::string& more) {
    events.push_back(std::string(what) + " " + request.table + more +
                     (request.layout ? " cut" : ""));
  }
  absl::Status Store(const TensorView& value) {
    const auto* data = reinterpret_cast<const float*>(value.data);
    table.assign(data, data + value.bytes() / 4);
    return absl::OkStatus();
  }
};

class FakeRounds : public Rounds {
 public:
  absl::Status Open(std::vector<Table>, std::vector<Handler>) override { return absl::OkStatus(); }
  absl::StatusOr<Turn> Next() override { return Turn(); }
  void Finish(const absl::Status&) override {}
  absl::Status Merged(const std::string& table, int64_t block, const TensorRoom& to) override {
    events.push_back(table + " " + std::to_string(block) + " of " + std::to_string(to.dims[0]));
    for (int64_t i = 0; i < to.dims[0] * to.dims[1]; ++i)
      reinterpret_cast<float*>(to.data)[i] = static_cast<float>(block + 1);
    return absl::OkStatus();
  }
  absl::Status MergedRows(const std::string& table, int64_t block, Value&) override {
    events.push_back("rows of " + table + " " + std::to_string(block));
    return absl::OkStatus();
  }
  void Abort(const std::string&) override {}
  int64_t bytes_sent() const override { return 0; }
  int64_t bytes_received() const override { return 0; }

  std::vector<std::string> events;
};

absl::StatusOr<std::unique_ptr<Executor>> Load(const PlanBuilder& b, ExecutorOptions options) {
  auto plan = ParsePlan("plan.json", b.json.dump());
  if (!plan.ok()) return plan.status();
  plan->folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  options.find_function = FindTestFunction;
  return Executor::Load(*std::move(plan), std::move(options));
}

}  // namespace

TEST_CASE("ids of lookups are checked against the table, and may have 32 bits") {
  PlanBuilder b;
  b.json["comms"] =
      Json::array({{{"name", "ps"}, {"axes", {"dp"}}, {"kind", "rpc"}, {"server", "server"}}});
  const int ids = b.Arena("word", "int32", {3}), rows = b.Arena("rows", "float32", {3, 2});
  Json node = {
      {"lookup", "w"},     {"comm", 0},  {"layout", LayoutNodeJson("blocks", "ps", {4, 2}, 3)},
      {"ids", ids},        {"to", rows}, {"padding", {2}},
      {"op", "0:1 lookup"}};
  b.body() = Json::array({node});
  FakeLink link;
  for (size_t i = 0; i < link.table.size(); ++i) link.table[i] = static_cast<float>(i);
  ExecutorOptions options;
  options.comms = {nullptr};
  options.servers = {&link};
  const auto executor = Load(b, options);
  INFO(executor.status().ToString());
  REQUIRE(executor.ok());
  Executor& e = **executor;
  auto* wanted = reinterpret_cast<int32_t*>(e.data(ids));
  wanted[0] = 3, wanted[1] = 0, wanted[2] = 2;
  REQUIRE(e.RunMain().ok());
  CHECK(link.events == std::vector<std::string>{"lookup w 3 padding 2 cut"});
  CHECK(reinterpret_cast<const float*>(e.data(rows))[1] == 7);
  wanted[1] = 4;
  CHECK(e.RunMain().message() ==
        "op 0:1 lookup: the lookup in table 'w': element 1 of 'word' is 4, expected at least 0 and "
        "below 4");

  b.body()[0]["padding"] = {1, 2};
  CHECK_THAT(std::string(Load(b, options).status().message()),
             Catch::Contains("expected one id at most"));
}

TEST_CASE("lookups that stand side by side are asked for at once") {
  // Remembers how many were.
  struct Together : FakeLink {
    absl::Status Lookups(const std::vector<Wanted>& all) override {
      events.push_back(std::to_string(all.size()) + " at once");
      return FakeLink::Lookups(all);
    }
  } link;
  PlanBuilder b;
  b.json["comms"] =
      Json::array({{{"name", "ps"}, {"axes", {"dp"}}, {"kind", "rpc"}, {"server", "server"}}});
  const auto lookup = [&](const char* table, int ids, int to) {
    return Json{
        {"lookup", table}, {"comm", 0}, {"layout", LayoutNodeJson("blocks", "ps", {4, 2}, 3)},
        {"ids", ids},      {"to", to},  {"op", std::string("0:1 lookup of ") + table}};
  };
  const int first = b.Arena("first", "int64", {2}), second = b.Arena("second", "int32", {1});
  const int x = b.Arena("x", "float32", {2, 2}), y = b.Arena("y", "float32", {1, 2});
  // Of what the second one fills, the third one takes its ids; the fourth fills it again.
  const int of_y = b.View("of_y", y, 0, {2}), z = b.Arena("z", "float32", {2, 2});
  b.json["buffers"][static_cast<size_t>(of_y)]["dtype"] = "int32";
  b.body() = Json::array({lookup("w", first, x), lookup("v", second, y), lookup("u", of_y, z),
                          lookup("t", second, y)});
  ExecutorOptions options;
  options.comms = {nullptr};
  options.servers = {&link};
  const auto executor = Load(b, options);
  INFO(executor.status().ToString());
  REQUIRE(executor.ok());
  Executor& e = **executor;
  for (size_t i = 0; i < link.table.size(); ++i) link.table[i] = static_cast<float>(i);
  auto* wanted = reinterpret_cast<int64_t*>(e.data(first));
  wanted[0] = 3, wanted[1] = 1;
  *reinterpret_cast<int32_t*>(e.data(second)) = 0;  // a row of 0 and 1: bits of small ids
  link.table[1] = 0;
  const absl::Status status = e.RunMain();
  INFO(status.ToString());
  REQUIRE(status.ok());
  CHECK(link.events == std::vector<std::string>{"2 at once", "lookup w 2 cut", "lookup v 1 cut",
                                                "lookup u 2 cut", "lookup t 1 cut"});
  CHECK(reinterpret_cast<const float*>(e.data(x))[0] == 6);
  CHECK(reinterpret_cast<const float*>(e.data(x))[2] == 2);

  // Ids are looked at before anything is asked for; the op is the one that has them.
  link.events.clear();
  *reinterpret_cast<int32_t*>(e.data(second)) = 4;
  CHECK(e.RunMain().message() ==
        "op 0:1 lookup of v: the lookup in table 'v': element 0 of 'second' is 4, expected at "
        "least 0 and below 4");
  CHECK(link.events.empty());
}

TEST_CASE("a step pushes, ends its phase, pulls and looks rows up") {
  PlanBuilder b;
  b.json["comms"] =
      Json::array({{{"name", "ps"}, {"axes", {"dp"}}, {"kind", "rpc"}, {"server", "server"}}});
  const Json layout = LayoutNodeJson("blocks", "ps", {4, 2}, 3);
  const int g = b.Arena("g", "float32", {4, 2}), w = b.Arena("w", "float32", {4, 2});
  const int ids = b.Arena("ids", "int64", {3, 1}), rows = b.Arena("rows", "float32", {3, 2});
  const int sparse = b.Rows("w@GRAD");
  const auto request = [&](const char* kind, Json more) {
    Json node = {{kind, "w"}, {"comm", 0}, {"layout", layout}, {"op", std::string("0:1 ") + kind}};
    node.update(more);
    return node;
  };
  b.body() = Json::array({request("push", {{"from", g}, {"merge", "mean"}}),
                          request("push", {{"from", sparse}, {"merge", "sum"}}),
                          {{"phase", "push"}, {"comm", 0}, {"op", "0:2 phase"}},
                          request("pull", {{"to", w}}),
                          request("lookup", {{"ids", ids}, {"to", rows}}),
                          {{"phase", "pull"}, {"comm", 0}, {"op", "0:5 phase"}}});
  FakeLink link;
  ExecutorOptions options;
  options.comms = {nullptr};
  options.servers = {&link};
  const auto executor = Load(b, options);
  INFO(executor.status().ToString());
  REQUIRE(executor.ok());
  Executor& e = **executor;
  for (int i = 0; i < 8; ++i) reinterpret_cast<float*>(e.data(g))[i] = static_cast<float>(i);
  const int64_t wanted[] = {3, 0, 1};
  std::copy(wanted, wanted + 3, reinterpret_cast<int64_t*>(e.data(ids)));
  e.value(sparse)->height = 4;
  const absl::Status status = e.RunMain();
  INFO(status.ToString());
  REQUIRE(status.ok());
  CHECK(link.events == std::vector<std::string>{"push w mean cut", "rows w of 4 cut",
                                                "end 0:2 phase", "pull w cut", "lookup w 3 cut",
                                                "end 0:5 phase"});
  CHECK(reinterpret_cast<const float*>(e.data(w))[7] == 7);
  const auto* found = reinterpret_cast<const float*>(e.data(rows));
  CHECK(std::vector<float>(found, found + 6) == std::vector<float>{6, 7, 0, 1, 2, 3});

  link.fails = Phase::kPush;
  CHECK(e.RunMain().message() == "op 0:2 phase: server 0 has not answered within 20 s");
  CHECK(e.failed_waiting());

  options.servers.clear();
  CHECK(Load(b, options).status().message() ==
        "op 0:1 push: communicator 'ps' has no servers ('server') on this rank");
  b.body()[4]["ids"] = g;
  CHECK_THAT(std::string(Load(b, options).status().message()),
             Catch::Contains("is neither int64 nor int32"));
}

TEST_CASE("a round takes what was merged for each block that the server owns") {
  PlanBuilder b;
  const Json layout = LayoutNodeJson("blocks", "ps", {7, 2}, 2);
  const int w = b.Variable("w", "float32", {4, 2});
  b.variable()["layout"] = layout;
  const int two = b.View("w.2", w, 0, {2, 2}, 16, 2), one = b.View("w.1", w, 0, {1, 2}, 16, 2);
  const int g2 = b.Arena("g.2", "float32", {2, 2}), g1 = b.Arena("g.1", "float32", {1, 2});
  const int sparse = b.Rows("w@GRAD");
  const auto merged = [](int to) {
    return Json{{"merged", "w"}, {"to", to}, {"op", "0:1 merged"}};
  };
  b.json["programs"].erase("main");
  const Json none = Json::array();
  b.json["programs"]["round"] = {
      {"when", "round"},
      {"arguments", none},
      {"feeds", none},
      {"fetches", none},
      {"body",
       {{{"blocks", layout},
         {"bodies",
          {{{"extent", 2}, {"body", {merged(g2), merged(sparse), AddNodeJson(two, g2, 4)}}},
           {{"extent", 1}, {"body", {merged(g1), AddNodeJson(one, g1, 2)}}}}},
         {"op", "0:0 foreach_block"}}}}};
  FakeRounds rounds;
  ExecutorOptions options;
  options.position = {{{"ps", 1}}, {{"ps", 2}}};
  CHECK(Load(b, options).status().message() == "op 0:1 merged: 'w' is merged on a server only");
  options.rounds = &rounds;
  const auto executor = Load(b, options);
  INFO(executor.status().ToString());
  REQUIRE(executor.ok());
  REQUIRE((*executor)->Run(When::kRound).ok());
  CHECK(rounds.events == std::vector<std::string>{"w 1 of 2", "rows of w 1", "w 3 of 1"});
  const auto* data = reinterpret_cast<const float*>((*executor)->data(w));
  CHECK(std::vector<float>(data, data + 6) == std::vector<float>{2, 2, 2, 2, 4, 4});
}

}  // namespace dtranspile::exec
