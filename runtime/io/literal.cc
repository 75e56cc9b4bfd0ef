#include "runtime/io/literal.h"

#include <charconv>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::io {

LiteralCursor::LiteralCursor(std::string where, std::string text)
    : where_(std::move(where)), text_(std::move(text)) {}

void LiteralCursor::SkipBlanks() {
  while (at_ < text_.size() &&
         (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t' || text_[at_] == '\r')) {
    ++at_;
  }
}

bool LiteralCursor::Take(const std::string& token) {
  SkipBlanks();
  if (text_.compare(at_, token.size(), token) != 0) return false;
  at_ += token.size();
  return true;
}

absl::Status LiteralCursor::Expect(const std::string& token) {
  return Take(token) ? absl::OkStatus() : Error(absl::StrCat("'", token, "' expected"));
}

absl::StatusOr<int64_t> LiteralCursor::Integer() {
  SkipBlanks();
  int64_t value = 0;
  const char* begin = text_.data() + at_;
  const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (error != std::errc()) return Error("an integer below 2^63 expected");
  const char* const digits = begin + (*begin == '-');
  if (*digits == '0' && end - digits > 1) return Error("an integer that begins with 0");
  at_ += static_cast<size_t>(end - begin);
  return value;
}

absl::StatusOr<std::string> LiteralCursor::Quoted() {
  SkipBlanks();
  const char quote = at_ < text_.size() ? text_[at_] : '\0';
  if (quote != '\'' && quote != '"') return Error("a quoted text expected");
  const size_t end = text_.find(quote, at_ + 1);
  if (end == std::string::npos) return Error("a quoted text without an end");
  std::string value = text_.substr(at_ + 1, end - at_ - 1);
  at_ = end + 1;
  return value;
}

bool LiteralCursor::AtEnd() {
  SkipBlanks();
  return text_.find_first_not_of('\0', at_) == std::string::npos;
}

absl::Status LiteralCursor::Error(const std::string& message) const {
  return absl::InvalidArgumentError(absl::StrCat(where_, ": ", message, " at character ", at_));
}

}  // namespace dtranspile::io
