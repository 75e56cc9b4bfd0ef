// Plans for tests, put together buffer by buffer and node by node.
#pragma once

#include <string>
#include <vector>

#include "runtime/exec/abi.h"
#include "runtime/exec/json_reader.h"

namespace dtranspile::exec {

// The JSON of a plan with a program of every step and one of start-up, of which tests add to
// `json["programs"]`.
class PlanBuilder {
 public:
  PlanBuilder() {
    const auto program = [](const char* when) {
      return Json{{"when", when},
                  {"feeds", Json::array()},
                  {"fetches", Json::array()},
                  {"body", Json::array()}};
    };
    json = {{"schema", 4},
            {"abi", DT_ABI_VERSION},
            {"class", "trainer"},
            {"target", {{"cpu", "test"}, {"features", "+sse3"}}},
            {"library", "libtest_kernels.so"},
            {"digest", "sha256:0"},
            {"comms", Json::array()},
            {"arena_bytes", 0},
            {"persistent_bytes", 0},
            {"buffers", Json::array()},
            {"persistables", Json::array()},
            {"programs", {{"startup", program("startup")}, {"main", program("step")}}}};
  }

  // Ids of buffers. `instances`: each on lines of its own.
  int Arena(const std::string& name, const char* dtype, std::vector<int64_t> dims,
            int64_t instances = 1) {
    Json buffer = Buffer(name, "arena", dtype, dims);
    const int64_t stride = Lines(buffer["bytes"]);
    if (instances > 1) buffer["stride"] = stride, buffer["instances"] = instances;
    return Place(std::move(buffer), stride * instances, "arena_bytes");
  }
  // A temporary that waits in pinned memory.
  int Pinned(const std::string& name, const char* dtype, std::vector<int64_t> dims) {
    Json buffer = Buffer(name, "arena", dtype, dims);
    buffer["memory"] = "pinned";
    const int64_t bytes = Lines(buffer["bytes"]);
    if (!json.contains("pinned_bytes")) json["pinned_bytes"] = 0;
    return Place(std::move(buffer), bytes, "pinned_bytes");
  }
  int Variable(const std::string& name, const char* dtype, std::vector<int64_t> dims) {
    Json buffer = Buffer(name, "persistent", dtype, dims);
    const int64_t bytes = Lines(buffer["bytes"]);
    const int id = Place(std::move(buffer), bytes, "persistent_bytes");
    json["persistables"].push_back(
        {{"name", name}, {"buffer", id}, {"parameter", true}, {"relation", Json::object()}});
    return id;
  }
  // The variable that was added last.
  Json& variable() { return json["persistables"].back(); }
  // A piece of another buffer, from `offset` bytes on.
  int View(const std::string& name, int of, int64_t offset, std::vector<int64_t> dims,
           int64_t stride = 0, int64_t instances = 1) {
    const Json whole = json["buffers"][static_cast<size_t>(of)];
    Json buffer = Buffer(name, whole["space"].get<std::string>().c_str(),
                         whole["dtype"].get<std::string>().c_str(), dims);
    buffer["offset"] = whole["offset"].get<int64_t>() + offset;
    if (stride > 0) buffer["stride"] = stride, buffer["instances"] = instances;
    json["buffers"].push_back(buffer);
    return static_cast<int>(json["buffers"].size()) - 1;
  }
  // float32 [1]; `hex`: its four bytes, least first.
  int Constant(const std::string& name, const char* hex) {
    Json buffer = Buffer(name, "constant", "float32", {1});
    buffer["data"] = hex;
    buffer["offset"] = constants_;
    constants_ += kLine;
    json["buffers"].push_back(buffer);
    return static_cast<int>(json["buffers"].size()) - 1;
  }
  int Rows(const std::string& name) {
    json["buffers"].push_back({{"name", name},
                               {"space", "value"},
                               {"dtype", "float32"},
                               {"dims", {-1, 2}},
                               {"kind", "rows"},
                               {"lod_level", 0}});
    return static_cast<int>(json["buffers"].size()) - 1;
  }

  Json& main() { return json["programs"]["main"]; }
  Json& body() { return main()["body"]; }
  Json& startup() { return json["programs"]["startup"]["body"]; }

  Json json;

 private:
  static constexpr int64_t kLine = 64;
  static int64_t Lines(int64_t bytes) { return (bytes + kLine - 1) / kLine * kLine; }

  static Json Buffer(const std::string& name, const char* space, const std::string& dtype,
                     const std::vector<int64_t>& dims) {
    int64_t bytes = dtype == "float32" || dtype == "int32" ? 4 : dtype == "bool" ? 1 : 8;
    for (int64_t extent : dims) bytes *= extent;
    return {{"name", name}, {"space", space}, {"dtype", dtype}, {"dims", dims}, {"bytes", bytes}};
  }
  int Place(Json buffer, int64_t bytes, const char* block) {
    buffer["offset"] = json[block];
    json[block] = json[block].get<int64_t>() + bytes;
    json["buffers"].push_back(std::move(buffer));
    return static_cast<int>(json["buffers"].size()) - 1;
  }

  int64_t constants_ = 0;
};

inline Json CopyNodeJson(int from, int to, const char* op = "0:1 assign") {
  return {{"copy", {from, to}}, {"op", op}};
}

// out[i] += x[i], out[i] = value, of the test kernels.
inline Json AddNodeJson(int out, int x, int64_t count, const char* op = "0:2 sum") {
  return {{"kernel", "k_add"}, {"args", {out, x}}, {"n", count}, {"grain", 1}, {"op", op}};
}
inline Json FillNodeJson(int out, int value, int64_t count, const char* op = "0:0 fill_constant") {
  return {{"kernel", "k_fill"}, {"args", {out, value}}, {"n", count}, {"grain", 1}, {"op", op}};
}

inline Json StartNodeJson(const char* kind, int comm, int root, std::vector<int> inputs,
                          std::vector<int> outputs, int ticket, const char* op) {
  return {{"start", kind},      {"comm", comm},     {"root", root}, {"inputs", inputs},
          {"outputs", outputs}, {"ticket", ticket}, {"op", op}};
}
inline Json WaitNodeJson(int ticket, const char* op) { return {{"wait", ticket}, {"op", op}}; }

// Along dimension 0.
inline Json LayoutNodeJson(const char* kind, const char* axis, std::vector<int64_t> whole,
                           int64_t per = 0, int64_t first = 0) {
  return {{"kind", kind},   {"axes", Json::array({axis})},
          {"dim", 0},       {"extent", whole[0]},
          {"whole", whole}, {"per", per},
          {"first", first}, {"name", "w"}};
}

}  // namespace dtranspile::exec
