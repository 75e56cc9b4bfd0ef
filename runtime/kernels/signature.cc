#include "runtime/kernels/signature.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "runtime/base/status.h"

namespace dtranspile::kernels {
namespace {

// The words of the notation for kinds of attributes (signature.h).
constexpr std::pair<std::string_view, AttributeKind> kKinds[] = {
    {"bool", AttributeKind::kBool},   {"int", AttributeKind::kInt},
    {"ints", AttributeKind::kInts},   {"real", AttributeKind::kReal},
    {"reals", AttributeKind::kReals}, {"text", AttributeKind::kText},
    {"texts", AttributeKind::kTexts}};

// Without blanks at both ends.
std::string_view Trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Whether the text ends with the mark, which is then gone.
bool Consume(std::string_view& text, char mark) {
  if (text.empty() || text.back() != mark) return false;
  text.remove_suffix(1);
  return true;
}

// Names of calls, slots and attributes; `@` marks gradients and what the lowering fills in.
bool IsName(std::string_view name) {
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '_' && c != '@') return false;
  return !name.empty();
}

// Apart by commas; empty ones do not count.
std::vector<std::string_view> Parts(std::string_view list) {
  std::vector<std::string_view> parts;
  for (const auto part : absl::StrSplit(absl::string_view(list.data(), list.size()), ','))
    if (const auto name = Trimmed({part.data(), part.size()}); !name.empty()) parts.push_back(name);
  return parts;
}

// A number, or 2^N.
bool LimitOf(std::string_view text, int64_t& limit) {
  const bool power = text.starts_with("2^");
  if (power) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), limit);
  if (error != std::errc() || end != text.data() + text.size() || limit < 0) return false;
  if (power && limit > 62) return false;
  if (power) limit = int64_t{1} << limit;
  return true;
}

absl::Status Wrong(std::string_view line, const std::string& what) {
  return absl::InvalidArgumentError(absl::StrCat("'", std::string(line), "': ", what));
}

}  // namespace

// One signature, NAME(INPUTS; ATTRIBUTES) -> OUTPUTS, in the notation of signature.h. A slot is
// NAME[?][*][:DEMANDS][=SHARED]; what its demands say (ParseDemands) may name slots after it, so
// they are read at the end.
absl::StatusOr<Signature> ParseSignature(std::string_view family, std::string_view line) {
  const size_t open = line.find('('), close = line.find(") ->");
  if (open == std::string_view::npos || close == std::string_view::npos || close < open)
    return Wrong(line, "expected NAME(INPUTS; ATTRIBUTES) -> OUTPUTS");
  Signature signature;
  signature.name = std::string(Trimmed(line.substr(0, open)));
  signature.family = std::string(family);
  const std::string_view inner = line.substr(open + 1, close - open - 1);
  const size_t semicolon = std::min(inner.find(';'), inner.size());
  std::set<std::string_view> names;
  std::vector<std::string> demands;
  const auto slots = [&](std::string_view list, std::vector<SlotSpec>& slots) -> absl::Status {
    for (std::string_view part : Parts(list)) {
      SlotSpec slot;
      const size_t equals = std::min(part.find('='), part.size());
      slot.shares = std::string(Trimmed(part.substr(std::min(equals + 1, part.size()))));
      part = Trimmed(part.substr(0, equals));
      const size_t colon = std::min(part.find(':'), part.size());
      demands.emplace_back(part.substr(std::min(colon + 1, part.size())));
      part = part.substr(0, colon);
      slot.list = Consume(part, '*');
      slot.optional = Consume(part, '?');
      slot.name = std::string(part);
      if (!IsName(part) || !names.insert(part).second)
        return Wrong(line, absl::StrCat("slot '", slot.name, "' is no name, or is there twice"));
      slots.push_back(std::move(slot));
    }
    return absl::OkStatus();
  };
  DT_RETURN_IF_ERROR(slots(inner.substr(0, semicolon), signature.inputs));
  DT_RETURN_IF_ERROR(slots(line.substr(close + 4), signature.outputs));
  for (std::string_view part : Parts(inner.substr(std::min(semicolon + 1, inner.size())))) {
    AttributeSpec attribute;
    const std::string_view whole = part;
    if (const size_t limit = part.find("<="); limit != std::string_view::npos) {
      if (!LimitOf(part.substr(limit + 2), attribute.most))
        return Wrong(line, absl::StrCat("attribute '", std::string(part), "': no limit"));
      part = part.substr(0, limit);
    }
    attribute.optional = Consume(part, '?');
    const size_t colon = std::min(part.find(':'), part.size());
    attribute.name = std::string(part.substr(0, colon));
    const std::string_view kind = part.substr(std::min(colon + 1, part.size()));
    const auto* known = std::find_if(std::begin(kKinds), std::end(kKinds),
                                     [&](const auto& row) { return row.first == kind; });
    if (known == std::end(kKinds) || !IsName(attribute.name) ||
        !names.insert(part.substr(0, colon)).second)
      return Wrong(line, absl::StrCat("attribute '", std::string(whole),
                                      "' is no NAME:KIND, or is there twice"));
    attribute.kind = known->second;
    if (attribute.most != std::numeric_limits<int64_t>::max() &&
        attribute.kind != AttributeKind::kInt && attribute.kind != AttributeKind::kInts)
      return Wrong(line, absl::StrCat("attribute '", std::string(whole), "' is no integer"));
    signature.attributes.push_back(std::move(attribute));
  }
  const auto isInput = [&](const std::string& name) {
    return std::any_of(signature.inputs.begin(), signature.inputs.end(),
                       [&](const SlotSpec& input) { return input.name == name; });
  };
  for (const SlotSpec& input : signature.inputs)
    if (!input.shares.empty()) return Wrong(line, "an input shares no memory: outputs do");
  for (const SlotSpec& output : signature.outputs)
    if (!output.shares.empty() && !isInput(output.shares))
      return Wrong(line, absl::StrCat("'", output.shares, "' is no input"));
  if (!IsName(signature.name)) return Wrong(line, "the call has no name");
  const absl::Status typed = ParseDemands(demands, signature);
  if (!typed.ok()) return Wrong(line, std::string(typed.message()));
  return signature;
}

// A line that begins with a blank goes on with the signature before it.
absl::StatusOr<std::vector<Signature>> ParseSignatures(std::string_view family,
                                                       std::string_view text) {
  std::vector<std::string> lines;
  for (const auto piece : absl::StrSplit(absl::string_view(text.data(), text.size()), '\n')) {
    const std::string_view line = Trimmed({piece.data(), piece.size()});
    if (line.empty() || line.front() == '#') continue;
    if (piece.front() == ' ' && !lines.empty())
      absl::StrAppend(&lines.back(), " ", std::string(line));
    else lines.emplace_back(line);
  }
  std::vector<Signature> signatures;
  std::set<std::string> names;
  for (const std::string& line : lines) {
    DT_ASSIGN_OR_RETURN(Signature signature, ParseSignature(family, line));
    if (!names.insert(signature.name).second) return Wrong(line, "is stated before");
    signatures.push_back(std::move(signature));
  }
  return signatures;
}

}  // namespace dtranspile::kernels
