#include "runtime/exec/plan.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/plan_check.h"
#include "runtime/exec/plan_json.h"
#include "runtime/io/json.h"

namespace dtranspile::exec {
namespace {

absl::StatusOr<Plan> FromJson(const std::string& name, const Json& json) {
  Plan plan;
  JsonErrors errors(name);
  PlanFromJson(json, plan, errors);
  if (errors.ok()) CheckPlan(plan, errors);
  if (!errors.ok()) return errors.status();
  return plan;
}

}  // namespace

std::vector<CallNode::Attribute> CallNode::AttributesOf(const std::vector<std::string>& attrs) {
  std::vector<Attribute> result;
  for (const std::string& text : attrs)
    result.push_back({text[0], static_cast<int32_t>(std::atoi(text.c_str() + 1))});
  return result;
}

bool Selector::contains(const std::map<std::string, int64_t>& coordinates) const {
  return std::all_of(sets.begin(), sets.end(), [&](const auto& set) {
    const auto& [axis, bounds] = set;
    const auto at = coordinates.find(axis);
    return at != coordinates.end() && Within(bounds, at->second);
  });
}

bool Selector::Within(const std::vector<int64_t>& bounds, int64_t coordinate) {
  for (size_t i = 0; i + 1 < bounds.size(); i += 2)
    if (bounds[i] <= coordinate && coordinate < bounds[i + 1]) return true;
  return false;
}

const Program* Plan::find(When when, const std::string& table) const {
  const auto found = std::find_if(programs.begin(), programs.end(), [&](const Program& program) {
    return program.when == when && program.table == table;
  });
  return found == programs.end() ? nullptr : &*found;
}

int64_t Plan::ConstantBytes() const {
  int64_t bytes = 0;
  for (const Buffer& buffer : buffers)
    if (buffer.space == Space::kConstant) bytes = std::max(bytes, buffer.offset + buffer.bytes);
  return bytes;
}

absl::StatusOr<Plan> ParsePlan(const std::string& name, const std::string& text) {
  DT_ASSIGN_OR_RETURN(const Json json, io::ParseJson<Json>(name, text));
  return FromJson(name, json);
}

absl::StatusOr<Plan> ReadPlan(const std::string& folder) {
  const std::string path = folder + "/plan.json";
  DT_ASSIGN_OR_RETURN(const Json json, io::ReadJson<Json>(path));
  DT_ASSIGN_OR_RETURN(Plan plan, FromJson(path, json));
  plan.folder = folder;
  return plan;
}

absl::StatusOr<std::string> WritePlan(const Plan& plan) {
  try {
    return PlanToJson(plan).dump(1) + "\n";
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(
        absl::StrCat("a name of the plan cannot be written: ", error.what()));
  }
}

}  // namespace dtranspile::exec
