#include "runtime/data/multislot.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "runtime/base/printable.h"
#include "runtime/base/status.h"
#include "runtime/data/shell.h"
#include "runtime/io/bytes.h"
#include "runtime/io/json.h"

namespace dtranspile::data {
namespace {

constexpr size_t kMostShown = 32;  // characters of a word in a message

std::string Shown(absl::string_view word) {
  return absl::StrCat("'", Printable(std::string(word.substr(0, kMostShown))),
                      word.size() > kMostShown ? "…'" : "'");
}

constexpr int64_t kMostBytes = int64_t{1} << 36;  // of one file, which is held in memory

// Words between blanks, front to back.
// No copy is made of a word: files of samples are large, and words are short.
class Words {
 public:
  explicit Words(absl::string_view line) : rest_(line) {}
  // Empty at the end.
  absl::string_view Next() {
    while (!rest_.empty() && absl::ascii_isspace(static_cast<unsigned char>(rest_.front())))
      rest_.remove_prefix(1);
    size_t length = 0;
    while (length < rest_.size() && !absl::ascii_isspace(static_cast<unsigned char>(rest_[length])))
      ++length;
    absl::string_view word = rest_.substr(0, length);
    rest_.remove_prefix(length);
    return word;
  }

 private:
  absl::string_view rest_;
};

template <typename T>
bool Whole(absl::string_view word, T& value) {
  const char* end = word.data() + word.size();
  const auto [at, error] = std::from_chars(word.data(), end, value);
  return error == std::errc() && at == end;
}

// As the framework reads it: an unsigned number of 64 bits, or its negative.
bool ReadInteger(absl::string_view word, int64_t& value) {
  if (Whole(word, value)) return true;
  uint64_t bits = 0;
  if (!Whole(word, bits)) return false;
  value = static_cast<int64_t>(bits);
  return true;
}

// from_chars of a float fails where the number is out of range, strtof (the framework's) gives zero
// or infinity.
bool ReadNumber(absl::string_view word, float& value) {
  if (!word.empty() && word.front() == '+') word.remove_prefix(1);
  if (Whole(word, value)) return true;
  // Too small for a normal number, or too large: what strtof makes of it.
  double wide = 0;
  if (!Whole(word, wide)) return false;
  value = static_cast<float>(wide);
  return true;
}

// Values of slots that are not used are read (their number must be right) and dropped.
absl::Status ReadValues(const Slot& slot, Words& words, int64_t count, Column& column) {
  for (int64_t i = 0; i < count; ++i) {
    const absl::string_view word = words.Next();
    if (word.empty())
      return absl::InvalidArgumentError(absl::StrCat("slot '", Printable(slot.name), "' says ",
                                                     count, " values, the line has ", i));
    int64_t integer = 0;
    float number = 0;
    if (!(slot.integers ? ReadInteger(word, integer) : ReadNumber(word, number)))
      return absl::InvalidArgumentError(
          absl::StrCat("slot '", Printable(slot.name), "': value ", i + 1, ", ", Shown(word),
                       ", is no ", slot.integers ? "integer of 64 bits" : "number"));
    if (!slot.used) continue;
    if (slot.integers) column.integers.push_back(integer);
    else column.numbers.push_back(number);
  }
  if (slot.used) column.begins.push_back(column.begins.back() + count);
  return absl::OkStatus();
}

// Lines as they come, with their numbers.
class Lines {
 public:
  Lines(const std::vector<Slot>& slots, const std::string& file) : slots_(slots), file_(file) {}

  // What is before the last line feed of `text` is taken from it.
  absl::Status Take(absl::string_view& text) {
    for (size_t end = 0; (end = text.find('\n')) != absl::string_view::npos;) {
      DT_RETURN_IF_ERROR(TakeLine(text.substr(0, end)));
      text.remove_prefix(end + 1);
    }
    return absl::OkStatus();
  }

  absl::Status TakeLine(absl::string_view line) {
    ++number_;
    const absl::Status status = ParseSample(slots_, line, samples_);
    return status.ok() ? status : Wrong(number_, status.message());
  }

  absl::Status TooLong() const { return Wrong(number_ + 1, "the line has more than 256 MiB"); }

  Samples& samples() { return samples_; }

 private:
  absl::Status Wrong(int64_t number, absl::string_view what) const {
    return absl::InvalidArgumentError(absl::StrCat(Printable(file_), ":", number, ": ", what));
  }

  const std::vector<Slot>& slots_;
  const std::string& file_;
  int64_t number_ = 0;
  Samples samples_;
};

absl::StatusOr<Samples> ParseText(const std::vector<Slot>& slots, const std::string& file,
                                  absl::string_view text) {
  Lines lines(slots, file);
  DT_RETURN_IF_ERROR(lines.Take(text));
  if (!text.empty()) DT_RETURN_IF_ERROR(lines.TakeLine(text));
  return std::move(lines.samples());
}

constexpr size_t kMostLine = size_t{256} << 20;

// The file through the shell, as the framework has it; the file is opened here first, so that a
// missing one is named by us and not by the shell. A command that gives what is wrong is ended at
// once: it may never end by itself.
absl::StatusOr<Samples> SamplesOf(const Pipe& pipe, const std::vector<Slot>& slots,
                                  const std::string& file) {
  DT_RETURN_IF_ERROR(io::OpenFile(file).status());
  const std::string words =
      absl::StrCat("{ ", pipe.words, "\n} < '", absl::StrReplaceAll(file, {{"'", "'\\''"}}), "'");
  absl::StatusOr<ShellCommand> shell = ShellCommand::Start(words, pipe.limit_seconds);
  if (!shell.ok())
    return absl::Status(shell.status().code(),
                        absl::StrCat(Printable(file), ": ", shell.status().message()));
  const auto named = [&](const absl::Status& status) {
    return absl::Status(status.code(),
                        absl::StrCat(Printable(file), ": pipe_command '", Printable(pipe.words),
                                     "' ", status.message(),
                                     absl::IsDeadlineExceeded(status)
                                         ? "; it hangs, or give it more \"pipe_command_seconds\""
                                         : ""));
  };
  Lines lines(slots, file);
  std::string kept;
  char buffer[1 << 16];
  for (;;) {
    const absl::StatusOr<size_t> got = shell->Read(buffer, sizeof buffer);
    if (!got.ok()) return named(got.status());
    if (*got == 0) break;
    const absl::string_view piece(buffer, *got);
    kept.append(buffer, *got);
    if (piece.find('\n') == absl::string_view::npos) {
      if (kept.size() > kMostLine) return lines.TooLong();
      continue;
    }
    absl::string_view text = kept;
    DT_RETURN_IF_ERROR(lines.Take(text));
    kept.erase(0, kept.size() - text.size());
  }
  const absl::StatusOr<std::string> end = shell->End();
  if (!end.ok()) return named(end.status());
  if (!end->empty()) return named(absl::UnavailableError("has ended with " + *end));
  if (!kept.empty()) DT_RETURN_IF_ERROR(lines.TakeLine(kept));
  return std::move(lines.samples());
}

}  // namespace

int64_t Slot::width() const {
  int64_t width = 1;
  for (int64_t extent : shape) width *= extent;
  return width;
}

// A line: for each slot the number of its values, then the values. Slots that no program reads are
// read over.
absl::Status ParseSample(const std::vector<Slot>& slots, absl::string_view line, Samples& samples) {
  samples.columns.resize(slots.size());
  Words words(line);
  for (size_t i = 0; i < slots.size(); ++i) {
    const Slot& slot = slots[i];
    const absl::string_view word = words.Next();
    int64_t count = 0;
    if (word.empty())
      return absl::InvalidArgumentError(absl::StrCat("the line ends before slot '",
                                                     Printable(slot.name), "', the ", i + 1,
                                                     ". of ", slots.size()));
    if (!Whole(word, count) || count < 0)
      return absl::InvalidArgumentError(absl::StrCat("slot '", Printable(slot.name),
                                                     "': the number of its values is ", Shown(word),
                                                     "; expected a whole number"));
    if (count == 0)
      return absl::InvalidArgumentError(absl::StrCat(
          "slot '", Printable(slot.name), "' has no value; write one that stands for none"));
    if (slot.dense && count != slot.width())
      return absl::InvalidArgumentError(absl::StrCat("slot '", Printable(slot.name), "' has ",
                                                     count, " values; it is dense, with ",
                                                     slot.width()));
    DT_RETURN_IF_ERROR(ReadValues(slot, words, count, samples.columns[i]));
  }
  if (const absl::string_view more = words.Next(); !more.empty())
    return absl::InvalidArgumentError(absl::StrCat("the line goes on with ", Shown(more),
                                                   " after the last slot, '",
                                                   Printable(slots.back().name), "'"));
  ++samples.count;
  return absl::OkStatus();
}

absl::StatusOr<Samples> ReadSamples(const std::vector<Slot>& slots, const std::string& file,
                                    const Pipe& pipe) {
  if (!pipe.words.empty()) return SamplesOf(pipe, slots, file);
  DT_ASSIGN_OR_RETURN(const std::string text, io::ReadText(file, kMostBytes));
  return ParseText(slots, file, text);
}

}  // namespace dtranspile::data
