// Strict reading of JSON documents (runtime/io/json.h): every key is expected or an error, every
// value has the type and range asked for, and a message names the place
// ("programs.main.body[3].args"). Used for plans, the worker's CONFIG, its lines and job manifests.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/io/json.h"

namespace dtranspile::exec {

using Json = nlohmann::json;

// The first error of a document, shared by its readers. After it they return empty values and say
// nothing more.
class JsonErrors {
 public:
  explicit JsonErrors(std::string document) : document_(std::move(document)) {}
  void Add(const std::string& where, const std::string& what);
  bool ok() const { return status_.ok(); }
  const absl::Status& status() const { return status_; }

 private:
  std::string document_;
  absl::Status status_;
};

// One object. The getters mark their key as known; Done() reports the others.
class JsonObject {
 public:
  // `where` is empty for the whole document. `value` and `errors` outlive the reader.
  JsonObject(const Json& value, std::string where, JsonErrors& errors);

  // Required.
  std::string String(const char* key);
  int64_t Int(const char* key, int64_t least = INT64_MIN, int64_t most = INT64_MAX);
  double Real(const char* key);
  bool Bool(const char* key);
  std::vector<int64_t> Ints(const char* key, int64_t least = INT64_MIN, int64_t most = INT64_MAX);
  std::vector<double> Reals(const char* key);
  std::vector<std::string> Strings(const char* key);
  const Json& Array(const char* key);
  const Json& Object(const char* key);

  // Whether the key is there and not null. Null stands for absence; Has marks the key as known.
  bool Has(const char* key);

  void Done();

  std::string At(const char* key) const { return where_.empty() ? key : where_ + "." + key; }
  std::string At(const char* key, size_t index) const {
    return At(key) + "[" + std::to_string(index) + "]";
  }
  const std::string& where() const { return where_; }
  JsonErrors& errors() const { return errors_; }

 private:
  const Json* Find(const char* key);
  const Json* Find(const char* key, bool (Json::*is)() const noexcept, const char* type);

  const Json& value_;
  const std::string where_;
  JsonErrors& errors_;
  std::set<std::string> known_;
};

}  // namespace dtranspile::exec
