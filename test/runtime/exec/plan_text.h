// A plan for tests: w (persistent) takes w - rate * x every step, with everything that plans have
// in small. The tests change one thing and look at the message, or run it.
#pragma once

#include <string>

#include "runtime/exec/abi.h"
#include "runtime/exec/json_reader.h"
#include "runtime/exec/plan_fields.h"

namespace dtranspile::exec {

inline Json BufferJson(const char* name, const char* space, int64_t offset, const char* dtype,
                       std::vector<int64_t> dims, int64_t bytes) {
  return {{"name", name},   {"space", space}, {"offset", offset},
          {"bytes", bytes}, {"dtype", dtype}, {"dims", dims}};
}

// Buffers: 0 w [4], 1 rate [1], 2 x [4] (fed), 3 loss [1], 4 flag bool [1], 5 constant 2.0f [1], 6
// counter int32 [1].
inline Json PlanJson() {
  Json buffers = Json::array({
      BufferJson("w", "persistent", 0, "float32", {4}, 16),
      BufferJson("rate", "persistent", 64, "float32", {1}, 4),
      BufferJson("x", "arena", 0, "float32", {4}, 16),
      BufferJson("loss", "arena", 64, "float32", {1}, 4),
      BufferJson("flag", "arena", 128, "bool", {1}, 1),
      BufferJson("two", "constant", 0, "float32", {1}, 4),
      BufferJson("counter", "persistent", 128, "int32", {1}, 4),
  });
  buffers[5]["data"] = "00000040";
  const auto persistable = [](const char* name, int buffer, bool parameter) {
    return Json{
        {"name", name}, {"buffer", buffer}, {"parameter", parameter}, {"relation", {{"dp", "R"}}}};
  };
  const Json sum = {{"call", "dt_test_reduce"},
                    {"args", {0, 3}},
                    {"written", {1}},
                    {"strings", {"sum"}},
                    {"op", "0:1 reduce_sum"}};
  const Json update = {
      {"kernel", "k_update"}, {"args", {0, 2, 1}}, {"written", {0}}, {"updated", {0}}, {"n", 4},
      {"grain", 1},           {"op", "0:2 sgd"}};
  const Json init = {{"kernel", "k_fill"}, {"args", {0, 5}},           {"written", {0}}, {"n", 4},
                     {"grain", 1},         {"op", "0:0 fill_constant"}};
  const Json rate = {{"copy", {5, 1}}, {"op", "0:1 assign"}};
  return {{"schema", kPlanSchema},
          {"abi", DT_ABI_VERSION},
          {"class", "trainer"},
          {"target", {{"cpu", "test"}, {"features", "+sse3"}}},
          {"library", "libtest_kernels.so"},
          {"digest", "sha256:0"},
          {"comms", Json::array()},
          {"arena_bytes", 192},
          {"persistent_bytes", 192},
          {"buffers", buffers},
          {"persistables", Json::array({persistable("w", 0, true), persistable("rate", 1, false),
                                        persistable("counter", 6, false)})},
          {"programs",
           {{"startup",
             {{"when", "startup"},
              {"feeds", Json::array()},
              {"fetches", Json::array()},
              {"body", Json::array({init, rate})}}},
            {"main",
             {{"when", "step"},
              {"feeds",
               Json::array(
                   {{{"name", "x"}, {"buffer", 2}, {"split", {{"dim", 0}, {"axes", {"dp"}}}}}})},
              {"fetches", Json::array({{{"name", "loss"}, {"buffer", 3}, {"combine", "mean"}},
                                       {{"name", "w_after"}, {"buffer", 0}, {"combine", "same"}}})},
              {"body", Json::array({sum, update})}}}}}};
}

}  // namespace dtranspile::exec
