// Descriptions of data sets: JSON into Dataset, by a table of keys.
#include <functional>
#include <set>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "nlohmann/json.hpp"
#include "runtime/base/printable.h"
#include "runtime/base/status.h"
#include "runtime/data/dataset.h"
#include "runtime/io/json.h"

namespace dtranspile::data {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostBatch = int64_t{1} << 31, kMostEpochs = int64_t{1} << 31;
constexpr int64_t kMostPipeSeconds = 1'000'000;

// What was expected, where a value does not fit; empty where it does.
using Expected = std::string;

// A key of an object: how its value is taken into a T.
template <typename T>
struct Key {
  const char* name;
  bool required;
  std::function<Expected(const Json&, T&)> take;
};

Expected TakeText(const Json& value, std::string& out) {
  if (!value.is_string() || absl::StripAsciiWhitespace(value.get_ref<const std::string&>()).empty())
    return "a text";
  if (absl::StrContains(value.get_ref<const std::string&>(), '\0')) return "a text without NUL";
  out = value.get<std::string>();
  return "";
}

Expected TakeTruth(const Json& value, bool& out) {
  if (!value.is_boolean()) return "true or false";
  out = value.get<bool>();
  return "";
}

// From 1 to `most`. A JSON number above the signed range is compared as unsigned, lest it turn
// negative.
Expected TakeCount(const Json& value, int64_t most, int64_t& out) {
  if (!value.is_number_integer() ||
      (value.is_number_unsigned() ? value.get<uint64_t>() > static_cast<uint64_t>(most)
                                  : value.get<int64_t>() > most) ||
      value.get<int64_t>() < 1)
    return absl::StrCat("a whole number from 1 to ", most);
  out = value.get<int64_t>();
  return "";
}

// One of a few words.
template <typename T>
Expected TakeWord(const Json& value, std::initializer_list<std::pair<const char*, T>> words,
                  T& out) {
  for (const auto& [word, meaning] : words)
    if (value == word) return out = meaning, "";
  return absl::StrJoin(words, " or ", [](std::string* text, const auto& word) {
    absl::StrAppend(text, "\"", word.first, "\"");
  });
}

// Every key of an object, each once.
template <typename T>
absl::Status Take(const std::string& where, const Json& object, const std::vector<Key<T>>& keys,
                  T& out) {
  if (!object.is_object()) return absl::InvalidArgumentError(where + ": expected an object");
  std::set<std::string> seen;
  for (const auto& [name, value] : object.items()) {
    const Key<T>* found = nullptr;
    for (const Key<T>& key : keys)
      if (name == key.name) found = &key;
    if (!found)
      return absl::InvalidArgumentError(
          absl::StrCat(where, ": no key '", Printable(name), "'; known are ",
                       absl::StrJoin(keys, ", ", [](std::string* text, const Key<T>& key) {
                         absl::StrAppend(text, key.name);
                       })));
    if (const Expected expected = found->take(value, out); !expected.empty())
      return absl::InvalidArgumentError(absl::StrCat(where, ": '", name, "': expected ", expected));
    seen.insert(name);
  }
  for (const Key<T>& key : keys)
    if (key.required && !seen.count(key.name))
      return absl::InvalidArgumentError(absl::StrCat(where, ": '", key.name, "' is missing"));
  return absl::OkStatus();
}

// The product is bounded at each step: both factors are at most 2^31, so that it cannot overflow.
Expected TakeShape(const Json& value, Slot& slot) {
  const Expected expected = "a list of whole numbers from 1, of not more than 2^31 elements";
  if (!value.is_array()) return expected;
  int64_t elements = 1;
  for (const Json& extent : value) {
    int64_t one = 0;
    if (!TakeCount(extent, kMostBatch, one).empty()) return expected;
    elements *= one;
    if (elements > kMostBatch) return expected;
    slot.shape.push_back(one);
  }
  return "";
}

// A slot of a line: its feed, how its numbers are written, and whether it is dense (of a fixed
// shape) or a sequence.
const std::vector<Key<Slot>>& SlotKeys() {
  static const std::vector<Key<Slot>> keys = {
      {"name", true, [](const Json& v, Slot& s) { return TakeText(v, s.name); }},
      {"type", true,
       [](const Json& v, Slot& s) {
         return TakeWord<bool>(v, {{"uint64", true}, {"int64", true}, {"float", false}},
                               s.integers);
       }},
      {"dense", false, [](const Json& v, Slot& s) { return TakeTruth(v, s.dense); }},
      {"shape", false, TakeShape},
      {"used", false, [](const Json& v, Slot& s) { return TakeTruth(v, s.used); }},
  };
  return keys;
}

Expected TakeFiles(const Json& value, Dataset& out) {
  const Expected expected = "a list of names of files";
  if (!value.is_array() || value.empty()) return expected;
  for (const Json& file : value)
    if (!TakeText(file, out.files.emplace_back()).empty())
      return absl::StrCat(expected, ", each a text without NUL");
  return "";
}

Expected TakeSeed(const Json& value, Dataset& out) {
  if (!value.is_number_unsigned()) return "a whole number from 0";
  out.seed = value.get<uint64_t>();
  return "";
}

// A data set. Its slots are read afterwards, one by one, so that an error can name the slot.
const std::vector<Key<Dataset>>& DatasetKeys() {
  static const std::vector<Key<Dataset>> keys = {
      {"type", true,
       [](const Json& v, Dataset& d) {
         return TakeWord<bool>(v, {{"QueueDataset", false}, {"InMemoryDataset", true}},
                               d.in_memory);
       }},
      {"files", true, TakeFiles},
      {"slots", true,
       [](const Json& v, Dataset&) {
         return v.is_array() && !v.empty() ? "" : "a list of slots, in the order of a line";
       }},
      {"batch_size", true,
       [](const Json& v, Dataset& d) { return TakeCount(v, kMostBatch, d.batch_size); }},
      {"epochs", false,
       [](const Json& v, Dataset& d) { return TakeCount(v, kMostEpochs, d.epochs); }},
      {"shuffle", false,
       [](const Json& v, Dataset& d) {
         return TakeWord<Shuffle>(
             v,
             {{"none", Shuffle::kNone}, {"local", Shuffle::kLocal}, {"global", Shuffle::kGlobal}},
             d.shuffle);
       }},
      {"seed", false, TakeSeed},
      {"pipe_command", false,
       [](const Json& v, Dataset& d) { return TakeText(v, d.pipe_command); }},
      {"pipe_command_seconds", false,
       [](const Json& v, Dataset& d) {
         return TakeCount(v, kMostPipeSeconds, d.pipe_command_seconds);
       }},
  };
  return keys;
}

// What the table of keys cannot say: names occur once and can be names of files (feeds are written
// to a folder), and a shape is there just where the slot is dense.
absl::Status CheckSlot(const std::string& where, const Slot& slot, std::set<std::string>& names) {
  if (!names.insert(slot.name).second)
    return absl::InvalidArgumentError(
        absl::StrCat(where, ": there are two slots '", Printable(slot.name), "'"));
  if (slot.name.find('/') != std::string::npos || slot.name == "." || slot.name == "..")
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": '", Printable(slot.name), "' cannot be the name of a file; rename the feed"));
  if (slot.dense && slot.shape.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": a dense slot needs its 'shape', that of one sample (\"shape\": [1])"));
  if (!slot.dense && !slot.shape.empty())
    return absl::InvalidArgumentError(absl::StrCat(
        where, ": has a 'shape' and is not dense; add \"dense\": true, or leave out the shape"));
  return absl::OkStatus();
}

}  // namespace

// Files are relative to the description, not to where the tool was started. The framework's default
// pipe, `cat`, is the same as none.
absl::StatusOr<Dataset> ReadDataset(const std::string& path) {
  DT_ASSIGN_OR_RETURN(const Json json, io::ReadJson<Json>(path));
  const std::string where = Printable(path);
  Dataset dataset;
  DT_RETURN_IF_ERROR(Take(where, json, DatasetKeys(), dataset));
  std::set<std::string> names;
  for (const Json& entry : json["slots"]) {
    const std::string slot = absl::StrCat(where, ": slot ", dataset.slots.size() + 1);
    DT_RETURN_IF_ERROR(Take(slot, entry, SlotKeys(), dataset.slots.emplace_back()));
    DT_RETURN_IF_ERROR(CheckSlot(slot, dataset.slots.back(), names));
  }
  if (!dataset.in_memory && dataset.shuffle != Shuffle::kNone)
    return absl::InvalidArgumentError(
        where + ": a QueueDataset keeps the order of its files; use \"type\": \"InMemoryDataset\"");
  if (dataset.pipe_command == "cat") dataset.pipe_command.clear();
  const size_t slash = path.rfind('/');
  for (std::string& file : dataset.files)
    if (!absl::StartsWith(file, "/") && slash != std::string::npos)
      file = path.substr(0, slash + 1) + file;
  return dataset;
}

}  // namespace dtranspile::data
