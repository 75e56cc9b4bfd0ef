// Plans to JSON and back, field by field as plan_fields.h says. The reader checks what one field
// alone can show (type, range, ids of buffers); plan_check.h the rest.
#pragma once

#include "runtime/exec/json_reader.h"
#include "runtime/exec/plan.h"

namespace dtranspile::exec {

void PlanFromJson(const Json& json, Plan& plan, JsonErrors& errors);

nlohmann::ordered_json PlanToJson(const Plan& plan);

}  // namespace dtranspile::exec
