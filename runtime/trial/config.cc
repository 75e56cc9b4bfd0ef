#include "runtime/trial/config.h"

#include "runtime/base/status.h"
#include "runtime/io/json.h"

namespace dtranspile::trial {
namespace {

using exec::Json;
using exec::JsonErrors;
using exec::JsonObject;

// A thread has no control channel; in the file every descriptor is a number.
constexpr int kNoControl = 0;

// Configurations of ranks, as the launcher writes them for processes; here they run as threads.
absl::StatusOr<std::vector<exec::WorkerConfig>> Ranks(JsonObject& root, const char* key) {
  std::vector<exec::WorkerConfig> ranks;
  const Json& list = root.Array(key);
  for (size_t i = 0; i < list.size(); ++i) {
    DT_ASSIGN_OR_RETURN(exec::WorkerConfig rank,
                        exec::ParseConfig(root.At(key, i), list[i].dump()));
    rank.control_fd = -1;
    ranks.push_back(std::move(rank));
  }
  return ranks;
}

Json ToJson(const std::vector<exec::WorkerConfig>& ranks) {
  Json list = Json::array();
  for (exec::WorkerConfig rank : ranks) {
    rank.control_fd = kNoControl;
    list.push_back(exec::ToJson(rank));
  }
  return list;
}

// Which variables of which role stand for which of the reference, with the factor between them and
// the axes along which each rank has a part.
std::vector<Variable> Variables(JsonObject& root) {
  std::vector<Variable> variables;
  const Json& list = root.Array("variables");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonObject object(list[i], root.At("variables", i), root.errors());
    Variable& one = variables.emplace_back();
    one.role = object.String("role");
    one.name = object.String("name");
    one.of = object.String("of");
    one.scale = object.Real("scale");
    one.axes = object.Strings("axes");
    object.Done();
  }
  return variables;
}

// What is fetched of both sides, and how the ranks' values make one.
std::vector<Fetch> Fetches(JsonObject& root) {
  std::vector<Fetch> fetches;
  const Json& list = root.Array("fetches");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonObject object(list[i], root.At("fetches", i), root.errors());
    Fetch& one = fetches.emplace_back();
    one.name = object.String("name");
    one.combine = object.String("combine");
    object.Done();
  }
  return fetches;
}

}  // namespace

// The first error of any part; keys that nothing reads are errors, since both ends are of one
// version.
absl::StatusOr<Config> ReadConfig(const std::string& path) {
  DT_ASSIGN_OR_RETURN(const Json json, io::ReadJson<Json>(path));
  JsonErrors errors(path);
  JsonObject root(json, "", errors);
  Config config;
  DT_ASSIGN_OR_RETURN(config.references, Ranks(root, "references"));
  DT_ASSIGN_OR_RETURN(config.ranks, Ranks(root, "ranks"));
  config.variables = Variables(root);
  config.fetches = Fetches(root);
  config.loss = root.String("loss");
  config.parameters = root.Strings("parameters");
  config.tolerance = root.Real("tolerance");
  config.equal_draws = root.Bool("equal_draws");
  JsonObject limits(root.Object("limits"), "limits", errors);
  config.limits.bytes = limits.Int("bytes", 1);
  config.limits.cpu_seconds = limits.Int("cpu_seconds", 1);
  config.limits.wait_seconds = limits.Real("wait_seconds");
  limits.Done();
  root.Done();
  if (errors.ok() && config.references.empty()) errors.Add("references", "is empty");
  if (!errors.ok()) return errors.status();
  return config;
}

exec::Json ToJson(const Config& config) {
  Json variables = Json::array(), fetches = Json::array();
  for (const Variable& one : config.variables)
    variables.push_back({{"role", one.role},
                         {"name", one.name},
                         {"of", one.of},
                         {"scale", one.scale},
                         {"axes", one.axes}});
  for (const Fetch& one : config.fetches)
    fetches.push_back({{"name", one.name}, {"combine", one.combine}});
  return {{"references", ToJson(config.references)},
          {"ranks", ToJson(config.ranks)},
          {"variables", variables},
          {"fetches", fetches},
          {"loss", config.loss},
          {"parameters", config.parameters},
          {"tolerance", config.tolerance},
          {"equal_draws", config.equal_draws},
          {"limits",
           {{"bytes", config.limits.bytes},
            {"cpu_seconds", config.limits.cpu_seconds},
            {"wait_seconds", config.limits.wait_seconds}}}};
}

}  // namespace dtranspile::trial
