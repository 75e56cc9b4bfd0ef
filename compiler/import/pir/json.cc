#include "compiler/import/pir/json.h"

#include "runtime/io/json.h"

namespace dtranspile::pir {

std::string parseJson(llvm::StringRef bytes, const Budget& budget, json& out) {
  const io::JsonLimits limits{budget.maxBytes, budget.maxDepth, budget.maxValues};
  if (std::string defect = io::JsonDefect(bytes.begin(), bytes.end(), limits); !defect.empty())
    return defect;
  out = json::parse(bytes.begin(), bytes.end(), nullptr, /*allow_exceptions=*/false);
  return "";
}

const json* member(const json* value, const char* key) {
  if (!value || !value->is_object()) return nullptr;
  auto found = value->find(key);
  return found == value->end() ? nullptr : &*found;
}

const json* arrayMember(const json* value, const char* key) {
  const json* found = member(value, key);
  return found && found->is_array() ? found : nullptr;
}

const std::string* textMember(const json* value, const char* key) {
  const json* found = member(value, key);
  return found ? found->get_ptr<const std::string*>() : nullptr;
}

bool readInteger(const json& value, int64_t& out) {
  if (const auto* flag = value.get_ptr<const bool*>()) return out = *flag, true;
  if (const auto* natural = value.get_ptr<const uint64_t*>()) {
    if (*natural > static_cast<uint64_t>(INT64_MAX)) return false;
    return out = static_cast<int64_t>(*natural), true;
  }
  if (const auto* integer = value.get_ptr<const int64_t*>()) return out = *integer, true;
  return false;
}

}  // namespace dtranspile::pir
