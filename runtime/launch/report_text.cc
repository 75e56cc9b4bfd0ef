// The report as text. Lists of a value per step are copied from the log, never held as a whole.
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/launch/report.h"

namespace dtranspile::launch {
namespace {

// Collects small pieces before it hands them on.
class Text {
 public:
  explicit Text(const Report::Sink& sink) : sink_(sink) {}

  absl::Status Add(absl::string_view piece) {
    constexpr size_t kPiece = size_t{64} << 10;
    text_.append(piece.data(), piece.size());
    return text_.size() < kPiece ? absl::OkStatus() : Flush();
  }
  absl::Status Flush() { return sink_(std::exchange(text_, {})); }

 private:
  const Report::Sink& sink_;
  std::string text_;
};

// Names may be anything, JSON is UTF-8.
std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string Key(const std::string& name) { return Dump(name) + ": "; }

absl::Status AddList(Text& text, const StepLog& log, size_t stream, const char* separator) {
  DT_RETURN_IF_ERROR(text.Add("["));
  StepLog::Reader reader(log, stream);
  for (bool first = true;; first = false) {
    const absl::StatusOr<std::string> line = reader.Next();
    if (absl::IsOutOfRange(line.status())) return text.Add("]");
    DT_RETURN_IF_ERROR(line.status());
    if (!first) DT_RETURN_IF_ERROR(text.Add(separator));
    DT_RETURN_IF_ERROR(text.Add(*line));
  }
}

absl::Status AddFetches(Text& text, const StepLog& log,
                        const std::map<std::string, size_t>& fetches, const char* margin) {
  DT_RETURN_IF_ERROR(text.Add("{"));
  const char* before = "";
  for (const auto& [name, stream] : fetches) {
    DT_RETURN_IF_ERROR(text.Add(absl::StrCat(std::exchange(before, ","), margin, Key(name))));
    DT_RETURN_IF_ERROR(AddList(text, log, stream, ", "));
  }
  return text.Add("}");
}

// JSON of one rank: facts, then the lists of fetches and of times per step.
absl::Status AddRank(Text& text, const StepLog& log, const Report::Rank& rank) {
  const RankRecord& record = rank.record;
  const Json facts = {{"role", rank.role},
                      {"class", rank.class_name},
                      {"rank", rank.rank},
                      {"device", rank.device},
                      {"threads", rank.threads},
                      {"compile_ms", rank.compile_ms},
                      {"load_ms", record.load_ms},
                      {"peak_rss_bytes", record.peak_rss_bytes},
                      {"bytes_sent", record.bytes_sent},
                      {"bytes_received", record.bytes_received}};
  DT_RETURN_IF_ERROR(text.Add("\n  {"));
  for (const auto& [name, value] : facts.items())
    DT_RETURN_IF_ERROR(text.Add(absl::StrCat(Key(name), Dump(value), ",\n   ")));
  DT_RETURN_IF_ERROR(text.Add(Key("fetch")));
  DT_RETURN_IF_ERROR(AddFetches(text, log, record.fetch, "\n    "));
  DT_RETURN_IF_ERROR(text.Add(absl::StrCat(",\n   ", Key("step_ms"))));
  DT_RETURN_IF_ERROR(AddList(text, log, record.times, ", "));
  return text.Add("}");
}

}  // namespace

absl::Status Report::Write(const Sink& sink) const {
  Text text(sink);
  const Json facts = {{"digest", digest}, {"ok", ok}, {"steps", steps}, {"error", error}};
  DT_RETURN_IF_ERROR(text.Add("{\n"));
  for (const auto& [name, value] : facts.items())
    DT_RETURN_IF_ERROR(text.Add(absl::StrCat(" ", Key(name), Dump(value), ",\n")));
  DT_RETURN_IF_ERROR(text.Add(absl::StrCat(" ", Key("fetch"))));
  DT_RETURN_IF_ERROR(AddFetches(text, log, fetch, "\n  "));
  DT_RETURN_IF_ERROR(text.Add(absl::StrCat(",\n ", Key("ranks"), "[")));
  for (size_t i = 0; i < ranks.size(); ++i) {
    if (i > 0) DT_RETURN_IF_ERROR(text.Add(","));
    DT_RETURN_IF_ERROR(AddRank(text, log, ranks[i]));
  }
  DT_RETURN_IF_ERROR(text.Add("]\n}\n"));
  return text.Flush();
}

absl::Status Report::WriteFetches(const Sink& sink) const {
  Text text(sink);
  for (const auto& [name, stream] : fetch) {
    DT_RETURN_IF_ERROR(text.Add(absl::StrCat(name, ": ")));
    DT_RETURN_IF_ERROR(AddList(text, log, stream, ","));
    DT_RETURN_IF_ERROR(text.Add("\n"));
  }
  return text.Flush();
}

}  // namespace dtranspile::launch
