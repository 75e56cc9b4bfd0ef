#include "compiler/import/pir/json.h"

namespace dtranspile::pir {
namespace {

// Counts what a document would cost before any of it is kept: a few bytes may ask for gigabytes of
// objects.
class Meter : public nlohmann::json_sax<json> {
 public:
  explicit Meter(const Budget& budget) : budget_(budget) {}

  bool null() override { return count(); }
  bool boolean(bool) override { return count(); }
  bool number_integer(number_integer_t) override { return count(); }
  bool number_unsigned(number_unsigned_t) override { return count(); }
  bool number_float(number_float_t, const string_t&) override { return count(); }
  bool string(string_t&) override { return count(); }
  bool binary(binary_t&) override { return count(); }
  bool key(string_t&) override { return count(); }
  bool start_object(std::size_t) override { return enter(); }
  bool start_array(std::size_t) override { return enter(); }
  bool end_object() override { return leave(); }
  bool end_array() override { return leave(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    error = "is no legal JSON at byte " + std::to_string(position);
    return false;
  }

  std::string error;

 private:
  bool count() {
    if (++values_ <= budget_.maxValues) return true;
    error = "holds more than " + std::to_string(budget_.maxValues) + " JSON values";
    return false;
  }
  bool enter() {
    if (++depth_ > budget_.maxDepth) {
      error = "nests JSON more than " + std::to_string(budget_.maxDepth) + " deep";
      return false;
    }
    return count();
  }
  bool leave() {
    --depth_;
    return true;
  }

  const Budget& budget_;
  int64_t values_ = 0;
  int depth_ = 0;
};

}  // namespace

std::string parseJson(llvm::StringRef bytes, const Budget& budget, json& out) {
  if (static_cast<int64_t>(bytes.size()) > budget.maxBytes)
    return "has " + std::to_string(bytes.size()) + " bytes; PIR programs are read up to " +
           std::to_string(budget.maxBytes);
  Meter meter(budget);
  if (!json::sax_parse(bytes.begin(), bytes.end(), &meter))
    return meter.error.empty() ? "is no legal JSON" : meter.error;
  out = json::parse(bytes.begin(), bytes.end(), nullptr, /*allow_exceptions=*/false);
  return out.is_discarded() ? "is no legal JSON" : "";
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
