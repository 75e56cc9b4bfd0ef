#include "runtime/exec/json_reader.h"

#include "absl/strings/str_cat.h"

namespace dtranspile::exec {
namespace {

const Json kEmptyArray = Json::array();
const Json kEmptyObject = Json::object();

}  // namespace

// The first error is kept: those after it often follow from it.
void JsonErrors::Add(const std::string& where, const std::string& what) {
  if (!status_.ok()) return;
  status_ = absl::InvalidArgumentError(
      absl::StrCat(document_, ": ", where.empty() ? "" : absl::StrCat(where, ": "), what));
}

// A value of another type is read as an empty object, so that a reader needs no check of its own:
// it finds nothing, and the error is there already.
JsonObject::JsonObject(const Json& value, std::string where, JsonErrors& errors)
    : value_(value.is_object() ? value : kEmptyObject), where_(std::move(where)), errors_(errors) {
  if (!value.is_object())
    errors_.Add(where_, absl::StrCat("expected an object, got ", value.type_name()));
}

const Json* JsonObject::Find(const char* key) {
  known_.insert(key);
  const auto found = value_.find(key);
  if (found != value_.end()) return &*found;
  errors_.Add(where_, absl::StrCat("key '", key, "' is missing"));
  return nullptr;
}

const Json* JsonObject::Find(const char* key, bool (Json::*is)() const noexcept, const char* type) {
  const Json* value = Find(key);
  if (value == nullptr || (value->*is)()) return value;
  errors_.Add(At(key), absl::StrCat("expected ", type, ", got ", value->type_name()));
  return nullptr;
}

// Null counts as absent.
bool JsonObject::Has(const char* key) {
  known_.insert(key);
  const auto found = value_.find(key);
  return found != value_.end() && !found->is_null();
}

std::string JsonObject::String(const char* key) {
  const Json* value = Find(key, &Json::is_string, "a string");
  return value ? value->get<std::string>() : "";
}

bool JsonObject::Bool(const char* key) {
  const Json* value = Find(key, &Json::is_boolean, "true or false");
  return value && value->get<bool>();
}

double JsonObject::Real(const char* key) {
  const Json* value = Find(key, &Json::is_number, "a number");
  return value ? value->get<double>() : 0;
}

namespace {

// The value as an int64 within bounds; an error otherwise.
int64_t ReadInt(const Json& value, const std::string& where, int64_t least, int64_t most,
                JsonErrors& errors) {
  const bool too_large = value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX;
  if (!value.is_number_integer() || too_large || value.get<int64_t>() < least ||
      value.get<int64_t>() > most) {
    std::string range = least == INT64_MIN ? "" : absl::StrCat(" of at least ", least);
    if (most != INT64_MAX)
      absl::StrAppend(&range, range.empty() ? " of" : " and", " at most ", most);
    errors.Add(where,
               absl::StrCat("expected an integer", range, ", got ", value.dump().substr(0, 40)));
    return 0;
  }
  return value.get<int64_t>();
}

}  // namespace

int64_t JsonObject::Int(const char* key, int64_t least, int64_t most) {
  const Json* value = Find(key);
  return value ? ReadInt(*value, At(key), least, most, errors_) : 0;
}

const Json& JsonObject::Array(const char* key) {
  const Json* value = Find(key, &Json::is_array, "an array");
  return value ? *value : kEmptyArray;
}

const Json& JsonObject::Object(const char* key) {
  const Json* value = Find(key, &Json::is_object, "an object");
  return value ? *value : kEmptyObject;
}

std::vector<int64_t> JsonObject::Ints(const char* key, int64_t least, int64_t most) {
  std::vector<int64_t> result;
  const Json& array = Array(key);
  for (size_t i = 0; i < array.size(); ++i)
    result.push_back(ReadInt(array[i], At(key, i), least, most, errors_));
  return result;
}

std::vector<double> JsonObject::Reals(const char* key) {
  std::vector<double> result;
  const Json& array = Array(key);
  for (size_t i = 0; i < array.size(); ++i) {
    if (array[i].is_number()) result.push_back(array[i].get<double>());
    else errors_.Add(At(key, i), absl::StrCat("expected a number, got ", array[i].type_name()));
  }
  return result;
}

std::vector<std::string> JsonObject::Strings(const char* key) {
  std::vector<std::string> result;
  const Json& array = Array(key);
  for (size_t i = 0; i < array.size(); ++i) {
    if (array[i].is_string()) result.push_back(array[i].get<std::string>());
    else errors_.Add(At(key, i), absl::StrCat("expected a string, got ", array[i].type_name()));
  }
  return result;
}

// What was asked for is what is known; only so can no key be read and not be known.
void JsonObject::Done() {
  for (const auto& [key, value] : value_.items())
    if (known_.count(key) == 0)
      return errors_.Add(where_, absl::StrCat("unknown key '", key.substr(0, 80),
                                              "'; was this written by a newer version?"));
}

}  // namespace dtranspile::exec
