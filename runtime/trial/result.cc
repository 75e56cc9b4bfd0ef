#include "runtime/trial/result.h"

#include "runtime/base/status.h"
#include "runtime/io/json.h"

namespace dtranspile::trial {
namespace {

using exec::Json;
using exec::JsonErrors;
using exec::JsonObject;

std::vector<Difference> Differences(JsonObject& root) {
  std::vector<Difference> result;
  const Json& list = root.Array("differences");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonObject object(list[i], root.At("differences", i), root.errors());
    Difference& one = result.emplace_back();
    one.kind = object.String("kind");
    one.name = object.String("name");
    one.of = object.String("of");
    one.role = object.String("role");
    one.rank = static_cast<int>(object.Int("rank"));
    one.step = object.Int("step");
    one.text = object.String("text");
    object.Done();
  }
  return result;
}

std::vector<Stop> Stops(JsonObject& root) {
  std::vector<Stop> result;
  const Json& list = root.Array("stops");
  for (size_t i = 0; i < list.size(); ++i) {
    JsonObject object(list[i], root.At("stops", i), root.errors());
    Stop& one = result.emplace_back();
    one.role = object.String("role");
    one.rank = static_cast<int>(object.Int("rank"));
    one.op = object.String("op");
    one.message = object.String("message");
    one.step = object.Int("step");
    one.waiting = object.Bool("waiting");
    object.Done();
  }
  return result;
}

}  // namespace

exec::Json ToJson(const Result& result) {
  Json differences = Json::array(), stops = Json::array();
  for (const Difference& one : result.differences)
    differences.push_back({{"kind", one.kind},
                           {"name", one.name},
                           {"of", one.of},
                           {"role", one.role},
                           {"rank", one.rank},
                           {"step", one.step},
                           {"text", one.text}});
  for (const Stop& one : result.stops)
    stops.push_back({{"role", one.role},
                     {"rank", one.rank},
                     {"op", one.op},
                     {"message", one.message},
                     {"step", one.step},
                     {"waiting", one.waiting}});
  return {{"failure", result.failure},
          {"wild", result.wild ? Json(*result.wild) : Json()},
          {"stops", stops},
          {"differences", differences},
          {"compared", result.compared},
          {"unmoved", result.unmoved},
          {"unaffected", result.unaffected},
          {"frozen", result.frozen}};
}

absl::StatusOr<Result> ParseResult(const std::string& text) {
  DT_ASSIGN_OR_RETURN(const Json json, io::ParseJson<Json>("result of the trial", text));
  JsonErrors errors("result of the trial");
  JsonObject root(json, "", errors);
  Result result;
  result.failure = root.String("failure");
  if (root.Has("wild")) result.wild = root.String("wild");
  result.stops = Stops(root);
  result.differences = Differences(root);
  result.compared = root.Int("compared", 0);
  result.unmoved = root.Strings("unmoved");
  result.unaffected = root.Strings("unaffected");
  result.frozen = root.Strings("frozen");
  root.Done();
  if (!errors.ok()) return errors.status();
  return result;
}

}  // namespace dtranspile::trial
