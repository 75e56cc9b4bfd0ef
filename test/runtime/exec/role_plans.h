// Plans of roles for tests of several ranks: stages of a pipeline, trainers and servers.
#pragma once

#include <algorithm>

#include "test/runtime/exec/plan_builder.h"

namespace dtranspile::exec {

constexpr const char* kOne = "0000803f";  // 1.0F

inline Json MicroJson(int64_t micros, int64_t instances, Json tasks, Json order) {
  return {{"micro", "micro"}, {"micros", micros}, {"instances", instances},
          {"tasks", tasks},   {"order", order},   {"op", "0:9 micro"}};
}

inline Json TaskJson(const char* name, Json body) { return {{"name", name}, {"body", body}}; }

// One stage of a pipeline over shared memory: receives, adds one, hands on; backwards it receives,
// doubles what it has, and adds it to `acc`.
inline PlanBuilder StagePlan(int stage, int stages, int64_t micros, int64_t instances,
                             const Json& order) {
  PlanBuilder b;
  b.json["comms"] = Json::array({{{"name", "stages"}, {"axes", {"pp"}}, {"kind", "pairs"}}});
  const int x = b.Arena("x", "float32", {micros}), one = b.Constant("one", kOne);
  const int h = b.Arena("h", "float32", {1}, instances);
  const int g = b.Arena("g", "float32", {1}, instances);
  const int acc = b.Arena("acc", "float32", {1});
  Json forward = Json::array(), backward = Json::array();
  if (stage == 0) {
    forward.push_back({{"slice", {x, h}},
                       {"layout", LayoutNodeJson("even", "micro", {micros})},
                       {"op", "0:0 slice"}});
  } else {
    forward.push_back(StartNodeJson("recv", 0, stage - 1, {}, {h}, 0, "0:1 recv"));
    forward.push_back(WaitNodeJson(0, "0:1 recv"));
  }
  forward.push_back(AddNodeJson(h, one, 1));
  if (stage + 1 < stages) {
    forward.push_back(StartNodeJson("send", 0, stage + 1, {h}, {}, 1, "0:2 send"));
    backward.push_back(StartNodeJson("recv", 0, stage + 1, {}, {g}, 2, "0:3 recv"));
    backward.push_back(WaitNodeJson(2, "0:3 recv"));
  } else {
    backward.push_back(CopyNodeJson(h, g));
  }
  backward.push_back(AddNodeJson(g, g, 1));
  backward.push_back(AddNodeJson(acc, g, 1));
  if (stage > 0) backward.push_back(StartNodeJson("send", 0, stage - 1, {g}, {}, 3, "0:4 send"));
  b.body() = Json::array({MicroJson(micros, std::min(instances, micros),
                                    {TaskJson("F", forward), TaskJson("B", backward)}, order)});
  return b;
}

inline Json FThenB(int64_t micros) {
  Json order = Json::array();
  for (int task : {0, 1})
    for (int64_t m = 0; m < micros; ++m) order.push_back({task, m});
  return order;
}

inline Json OneFOneB(int stage, int stages, int64_t micros) {
  Json order = Json::array();
  const int64_t warm = std::min<int64_t>(stages - stage - 1, micros);
  int64_t f = 0, b = 0;
  while (f < warm) order.push_back({0, f++});
  while (f < micros) order.push_back({0, f++}), order.push_back({1, b++});
  while (b < micros) order.push_back({1, b++});
  return order;
}

inline Json BlocksLayout() { return LayoutNodeJson("blocks", "ps", {7, 2}, 2); }

inline PlanBuilder TrainerPlan() {
  PlanBuilder b;
  b.json["role"] = "trainer";
  b.json["comms"] =
      Json::array({{{"name", "ps"}, {"axes", {"dp"}}, {"kind", "rpc"}, {"server", "server"}}});
  const int g = b.Arena("g", "float32", {7, 2}), w = b.Variable("w", "float32", {7, 2});
  b.main()["feeds"] =
      Json::array({{{"name", "g"}, {"buffer", g}, {"split", {{"dim", 0}, {"axes", {"dp"}}}}}});
  b.main()["fetches"] = Json::array({{{"name", "w"}, {"buffer", w}, {"combine", "same"}}});
  b.body() = Json::array(
      {{{"push", "w"},
        {"comm", 0},
        {"from", g},
        {"merge", "mean"},
        {"layout", BlocksLayout()},
        {"op", "0:1 push"}},
       {{"phase", "push"}, {"comm", 0}, {"op", "0:2 phase"}},
       {{"pull", "w"}, {"comm", 0}, {"to", w}, {"layout", BlocksLayout()}, {"op", "0:3 pull"}},
       {{"phase", "pull"}, {"comm", 0}, {"op", "0:4 phase"}}});
  return b;
}

// w -= rate · gradient, block by block.
inline PlanBuilder ServerPlan(int servers) {
  PlanBuilder b;
  b.json["role"] = "server";
  const int64_t room = servers == 1 ? 7 : 4, most = servers == 1 ? 4 : 2;
  const int w = b.Variable("w", "float32", {room, 2});
  b.variable()["layout"] = BlocksLayout();
  const int rate = b.Variable("rate", "float32", {1});
  b.variable()["parameter"] = false;
  const int two = b.View("w.2", w, 0, {2, 2}, 16, most),
            one = b.View("w.1", w, 0, {1, 2}, 16, most);
  const int g2 = b.Arena("g.2", "float32", {2, 2}), g1 = b.Arena("g.1", "float32", {1, 2});
  const auto body = [&](int weight, int gradient, int64_t count) {
    return Json::array({{{"merged", "w"}, {"to", gradient}, {"op", "0:1 merged"}},
                        {{"kernel", "k_update"},
                         {"args", {weight, gradient, rate}},
                         {"n", count},
                         {"grain", 1},
                         {"op", "0:2 sgd"}}});
  };
  const Json none = Json::array();
  b.json["programs"].erase("main");
  b.json["programs"]["round"] = {
      {"when", "round"},
      {"arguments", none},
      {"feeds", none},
      {"fetches", Json::array({{{"name", "rate"}, {"buffer", rate}, {"combine", "same"}}})},
      {"body", Json::array({{{"blocks", BlocksLayout()},
                             {"bodies",
                              {{{"extent", 2}, {"body", body(two, g2, 4)}},
                               {{"extent", 1}, {"body", body(one, g1, 2)}}}},
                             {"op", "0:0 foreach_block"}}})}};
  return b;
}

}  // namespace dtranspile::exec
