// Reading and writing JSON: what every reader of ours refuses before it keeps anything (a document
// that is too large, nests too deeply, has too many values, or has a key twice in one object, of
// which readers would take different ones), and text for any value, with what is not UTF-8
// replaced. For both of nlohmann's types of documents.
#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "runtime/base/status.h"

namespace dtranspile::io {

struct JsonLimits {
  int64_t bytes = int64_t{1} << 30;
  int depth = 512;
  int64_t values = std::numeric_limits<int64_t>::max();
};

// Empty for a legal document within the limits, else what is wrong with it, as in "is no legal JSON
// at byte 12".
std::string JsonDefect(const char* begin, const char* end, const JsonLimits& limits = {});

// The text of a regular file within limits.bytes. Never blocks: pipes and devices are refused.
absl::StatusOr<std::string> ReadText(const std::string& path, int64_t most_bytes);

// kInvalidArgument names the document, which is what `name` says.
template <typename Json>
absl::StatusOr<Json> ParseJson(const std::string& name, std::string_view text,
                               const JsonLimits& limits = {}) {
  const char* const end = text.data() + text.size();
  if (std::string defect = JsonDefect(text.data(), end, limits); !defect.empty())
    return absl::InvalidArgumentError(name + ": " + defect);
  return Json::parse(text.data(), end, nullptr, /*allow_exceptions=*/false);
}

template <typename Json>
absl::StatusOr<Json> ReadJson(const std::string& path, const JsonLimits& limits = {}) {
  DT_ASSIGN_OR_RETURN(const std::string text, ReadText(path, limits.bytes));
  return ParseJson<Json>(path, text, limits);
}

// `indent` below 0: one line.
template <typename Json>
std::string JsonText(const Json& value, int indent = -1) {
  return value.dump(indent, ' ', /*ensure_ascii=*/false, Json::error_handler_t::replace);
}

}  // namespace dtranspile::io
