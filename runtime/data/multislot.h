// The framework's MultiSlot text format (its class MultiSlotDataFeed): a
// sample per line, for every slot in turn the number of its values and the values, between blanks:
//
//     1 0 3 1206 607 98          slot click: 0; slot ids: 1206, 607, 98
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace dtranspile::data {

struct Slot {
  std::string name;  // of the feed
  // int64 (`uint64` in the framework's files, of which only the bits count) or float32.
  bool integers = true;
  // Dense: every sample has as many values as `shape` has elements. Otherwise one or more, which
  // become a sequence (LoD level 1) of rows with one element.
  bool dense = false;
  std::vector<int64_t> shape;
  bool used = true;  // other slots are read over

  int64_t width() const;  // elements of a dense sample
};

// What samples have in one slot: sample i the values [begins[i], begins[i + 1]).
struct Column {
  std::vector<int64_t> begins = {0};
  std::vector<int64_t> integers;  // one of these two
  std::vector<float> numbers;

  int64_t count(int64_t sample) const {
    return begins[static_cast<size_t>(sample) + 1] - begins[static_cast<size_t>(sample)];
  }
};

struct Samples {
  std::vector<Column> columns;  // one per slot; of slots that are not used empty
  int64_t count = 0;
};

// Adds the sample of one line. kInvalidArgument says what is wrong with which slot (not where the
// line is); `samples` is then of no use.
absl::Status ParseSample(const std::vector<Slot>& slots, absl::string_view line, Samples& samples);

// A command through which a file goes, and how long it may be silent; none where there are no
// words.
struct Pipe {
  std::string words;
  int64_t limit_seconds = 0;
};

// All lines of a file. With a command its standard output, the file being its standard input.
// kInvalidArgument names file and line; kNotFound, kUnavailable, kDeadlineExceeded: of the file or
// the command.
absl::StatusOr<Samples> ReadSamples(const std::vector<Slot>& slots, const std::string& file,
                                    const Pipe& pipe);

}  // namespace dtranspile::data
