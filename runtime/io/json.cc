#include "runtime/io/json.h"

#include <unordered_set>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/io/bytes.h"

namespace dtranspile::io {
namespace {

using Document = nlohmann::json;

constexpr size_t kShown = 80;  // most of a key that a message has

// Follows a document without keeping it: a few bytes may ask for gigabytes of objects.
class Meter : public nlohmann::json_sax<Document> {
 public:
  explicit Meter(const JsonLimits& limits) : limits_(limits) {}

  bool null() override { return Count(); }
  bool boolean(bool) override { return Count(); }
  bool number_integer(number_integer_t) override { return Count(); }
  bool number_unsigned(number_unsigned_t) override { return Count(); }
  bool number_float(number_float_t, const string_t&) override { return Count(); }
  bool string(string_t&) override { return Count(); }
  bool binary(binary_t&) override { return Count(); }
  bool key(string_t& name) override {
    if (!keys_[depth_].insert(name).second)
      return Refuse(absl::StrCat("has the key '", name.substr(0, kShown), "' twice in one object"));
    return Count();
  }
  bool start_object(std::size_t) override { return Enter(); }
  bool start_array(std::size_t) override { return Enter(); }
  bool end_object() override { return Leave(); }
  bool end_array() override { return Leave(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception&) override {
    return Refuse(absl::StrCat("is no legal JSON at byte ", position));
  }

  std::string defect;

 private:
  bool Refuse(std::string why) {
    defect = std::move(why);
    return false;
  }
  bool Count() {
    return ++values_ <= limits_.values ||
           Refuse(absl::StrCat("holds more than ", limits_.values, " JSON values"));
  }
  bool Enter() {
    if (++depth_ > static_cast<size_t>(limits_.depth))
      return Refuse(absl::StrCat("nests JSON more than ", limits_.depth, " deep"));
    if (keys_.size() <= depth_) keys_.resize(depth_ + 1);
    keys_[depth_].clear();
    return Count();
  }
  bool Leave() {
    --depth_;
    return true;
  }

  const JsonLimits& limits_;
  int64_t values_ = 0;
  size_t depth_ = 0;
  std::vector<std::unordered_set<std::string>> keys_{1};  // of the objects that are open, by depth
};

}  // namespace

std::string JsonDefect(const char* begin, const char* end, const JsonLimits& limits) {
  if (end - begin > limits.bytes)
    return absl::StrCat("has ", end - begin, " bytes; at most ", limits.bytes, " are read");
  Meter meter(limits);
  if (Document::sax_parse(begin, end, &meter)) return "";
  return meter.defect.empty() ? "is no legal JSON" : meter.defect;
}

absl::StatusOr<std::string> ReadText(const std::string& path, int64_t most_bytes) {
  DT_ASSIGN_OR_RETURN(const std::unique_ptr<ByteSource> source, OpenFile(path));
  if (source->size() > most_bytes)
    return absl::InvalidArgumentError(
        absl::StrCat(path, ": has ", source->size(), " bytes; at most ", most_bytes, " are read"));
  std::string text(static_cast<size_t>(source->size()), '\0');
  DT_RETURN_IF_ERROR(source->ReadAt(0, source->size(), text.data()));
  return text;
}

}  // namespace dtranspile::io
