// Reading: protobuf's own parser over a descriptor that also has the older spellings, then these
// are moved to where they belong. Errors of the parser get the position of the name, not of what
// follows it, and a suggestion.
#include "compiler/strategy/file.h"

#include <map>
#include <regex>

#include "compiler/strategy/file_descriptor.h"
#include "google/protobuf/dynamic_message.h"
#include "google/protobuf/io/tokenizer.h"
#include "google/protobuf/io/zero_copy_stream_impl_lite.h"
#include "google/protobuf/text_format.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

namespace dtranspile {
namespace {

namespace pb = google::protobuf;
using Tree = pb::TextFormat::ParseInfoTree;

constexpr size_t kMostBytes = size_t{1} << 20;
constexpr int kDeepest = 32;  // the message has five levels

// Where every word of the text stands: the parser reports a name at the token after it.
class Words : public pb::io::ErrorCollector {
 public:
  explicit Words(llvm::StringRef text) {
    pb::io::ArrayInputStream stream(text.data(), static_cast<int>(text.size()));
    pb::io::Tokenizer tokens(&stream, this);
    tokens.set_comment_style(pb::io::Tokenizer::SH_COMMENT_STYLE);
    while (tokens.Next())
      if (tokens.current().type == pb::io::Tokenizer::TYPE_IDENTIFIER)
        words_.push_back(
            {tokens.current().text, {tokens.current().line + 1, tokens.current().column + 1}});
  }
  void AddError(int, int, const std::string&) override {}  // the parser says it

  // The last `word` before a position.
  Place before(llvm::StringRef word, Place end) const {
    auto at = llvm::partition_point(words_, [&](const auto& each) {
      return std::pair(each.second.line, each.second.column) < std::pair(end.line, end.column);
    });
    while (at != words_.begin())
      if ((--at)->first == word) return at->second;
    return end;
  }

 private:
  std::vector<std::pair<std::string, Place>> words_;
};

// "; it is a field of lars_configs", "; did you mean 'lars'?", or nothing.
std::string suggestion(llvm::StringRef message, llvm::StringRef name) {
  const EntryRow* nearest = nullptr;
  unsigned least = static_cast<unsigned>(name.size()) / 3 + 1;
  for (const EntryRow& row : entryRows()) {
    if (row.name == name && row.message == kStrategyMessage)
      return "; it is a field of " + kStrategyMessage.str() + " itself";
    for (const EntryRow& holder : entryRows())
      if (row.name == name && holder.type == row.message)
        return "; it is a field of " + holder.name.str();
    if (row.message != message) continue;
    const unsigned distance = name.edit_distance(row.name, /*AllowReplacements=*/true, least);
    if (distance < least) nearest = &row, least = distance;
  }
  return nearest ? "; did you mean '" + nearest->name.str() + "'?" : "";
}

class Collector : public pb::io::ErrorCollector {
 public:
  Collector(llvm::StringRef text, Findings& findings) : text_(text), findings_(findings) {}

  void AddError(int line, int column, const std::string& message) override {
    add({line + 1, column + 1}, message);
  }
  // Fields that the message lacks, which are skipped so that all of them are found.
  void AddWarning(int line, int column, const std::string& message) override {
    static const std::regex kUnknown(
        "Message type \"(?:.*\\.)?(\\w+)\" has no field named \"(.*)\"\\.");
    const Place end = {line + 1, column + 1};
    std::smatch match;
    if (!std::regex_match(message, match, kUnknown)) return add(end, message);
    if (!words_) words_.emplace(text_);
    add(words_->before(match[2].str(), end), match[1].str() + " has no field '" + match[2].str() +
                                                 "'" + suggestion(match[1].str(), match[2].str()));
  }

 private:
  void add(Place place, std::string message) {
    findings_.push_back({Finding::Level::Error, std::move(message), place, {}});
  }

  llvm::StringRef text_;
  Findings& findings_;
  std::optional<Words> words_;
};

Place placeOf(const Tree* tree, const pb::FieldDescriptor* field, int index) {
  if (!tree) return {};
  pb::TextFormat::ParseLocation found = tree->GetLocation(field, index);
  // Elements of `[a, b]` have one place together.
  if (found.line < 0 && index > 0) found = tree->GetLocation(field, 0);
  return {found.line + 1, found.column + 1};
}

std::string valueText(const pb::Message& message, const pb::FieldDescriptor* field, int index) {
  const pb::Reflection& reflection = *message.GetReflection();
  if (field->cpp_type() == pb::FieldDescriptor::CPPTYPE_STRING)
    return index < 0 ? reflection.GetString(message, field)
                     : reflection.GetRepeatedString(message, field, index);
  std::string text;
  pb::TextFormat::PrintFieldValueToString(message, field, index, &text);
  return text;
}

// Walks a message beside the places of its fields.
class Walk {
 public:
  Walk(std::vector<Said>& said, Findings& findings) : said_(said), findings_(findings) {}

  // Moves what an older spelling set to the entry of its meaning.
  void normalise(pb::Message& message, const Tree* tree, const std::string& path) {
    for (const OldRow& row : oldRows())
      if (row.message == message.GetDescriptor()->name()) move(message, row, tree, path);
    const pb::Reflection& reflection = *message.GetReflection();
    forEachPart(message, [&](const pb::FieldDescriptor* field, int index) {
      pb::Message* part = index < 0 ? reflection.MutableMessage(&message, field)
                                    : reflection.MutableRepeatedMessage(&message, field, index);
      normalise(*part, partOf(tree, field, index), pathOf(path, field, index) + ".");
    });
  }

  // Flattens the message into a list of what the file says: path of the field, values as text, and
  // where it stands.
  void collect(const pb::Message& message, const Tree* tree, const std::string& path) {
    const pb::Reflection& reflection = *message.GetReflection();
    std::vector<const pb::FieldDescriptor*> fields;
    reflection.ListFields(message, &fields);
    for (const pb::FieldDescriptor* field : fields) {
      const int count = field->is_repeated() ? reflection.FieldSize(message, field) : -1;
      if (field->message_type()) {
        for (int i = count < 0 ? -1 : 0; i < std::max(count, 0); ++i) {
          const std::string partPath = pathOf(path, field, i);
          said_.push_back({rowOf(field), partPath, {}, placeOf(tree, field, i)});
          const pb::Message& part = i < 0 ? reflection.GetMessage(message, field)
                                          : reflection.GetRepeatedMessage(message, field, i);
          collect(part, partOf(tree, field, i), partPath + ".");
        }
        continue;
      }
      const auto moved = moved_.find({&message, field});
      const Place place =
          moved != moved_.end() ? moved->second : placeOf(tree, field, count < 0 ? -1 : 0);
      Said each = {rowOf(field), path + field->name(), {}, place};
      for (int i = count < 0 ? -1 : 0; i < std::max(count, 0); ++i)
        each.values.push_back(valueText(message, field, i));
      said_.push_back(std::move(each));
    }
  }

 private:
  static std::string pathOf(const std::string& path, const pb::FieldDescriptor* field, int index) {
    return path + field->name() + (index < 0 ? "" : "[" + std::to_string(index) + "]");
  }
  static const Tree* partOf(const Tree* tree, const pb::FieldDescriptor* field, int index) {
    return tree ? tree->GetTreeForNested(field, index) : nullptr;
  }

  static void forEachPart(const pb::Message& message,
                          llvm::function_ref<void(const pb::FieldDescriptor*, int)> visit) {
    std::vector<const pb::FieldDescriptor*> fields;
    message.GetReflection()->ListFields(message, &fields);
    for (const pb::FieldDescriptor* field : fields) {
      if (!field->message_type()) continue;
      if (!field->is_repeated()) visit(field, -1);
      else
        for (int i = 0; i < message.GetReflection()->FieldSize(message, field); ++i)
          visit(field, i);
    }
  }

  // Moves an older spelling to the field that has its meaning today, with a note; both in one file
  // contradict each other and are an error.
  void move(pb::Message& message, const OldRow& row, const Tree* tree, const std::string& path) {
    const pb::Reflection& reflection = *message.GetReflection();
    const pb::FieldDescriptor* old = message.GetDescriptor()->FindFieldByName(row.name.str());
    const pb::FieldDescriptor* becomes = message.GetDescriptor()->FindFieldByName(row.to.str());
    if (!reflection.HasField(message, old)) return;
    const Place place = placeOf(tree, old, -1);
    const std::string name = path + row.name.str();
    if (reflection.HasField(message, becomes)) {
      findings_.push_back({Finding::Level::Error,
                           name + ": an older spelling of " + row.to.str() +
                               ", which the file says too; keep one of them",
                           place,
                           {{placeOf(tree, becomes, -1), row.to.str() + " stands here"}}});
      return;
    }
    findings_.push_back(
        {Finding::Level::Note,
         name + ": an older spelling of " + row.to.str() + " (" + row.why.str() + ")",
         place,
         {}});
    if (row.sense == "inverted")
      reflection.SetBool(&message, becomes, !reflection.GetBool(message, old));
    else if (row.type == "float")
      reflection.SetFloat(&message, becomes, reflection.GetFloat(message, old));
    else reflection.SetInt32(&message, becomes, reflection.GetInt32(message, old));
    reflection.ClearField(&message, old);
    moved_[{&message, becomes}] = place;
  }

  std::vector<Said>& said_;
  Findings& findings_;
  std::map<std::pair<const pb::Message*, const pb::FieldDescriptor*>, Place> moved_;
};

}  // namespace

std::string Said::text() const {
  const bool quoted = row->type == "string";
  std::vector<std::string> words;
  for (const std::string& value : values) words.push_back(quoted ? "\"" + value + "\"" : value);
  return row->repeated ? "[" + llvm::join(words, ", ") + "]" : words.empty() ? "{…}" : words[0];
}

// Size and depth are bounded. Nothing is normalised unless the whole text was understood.
std::optional<StrategyFile> StrategyFile::read(llvm::StringRef text, Findings& findings) {
  if (text.size() > kMostBytes) {
    findings.push_back(
        {Finding::Level::Error,
         "has more than " + std::to_string(kMostBytes) + " bytes, which no strategy file has",
         {},
         {}});
    return std::nullopt;
  }
  StrategyFile file;
  file.message_ = newStrategyMessage();
  Findings found;
  Collector collector(text, found);
  Tree tree;
  pb::TextFormat::Parser parser;
  parser.RecordErrorsTo(&collector);
  parser.WriteLocationsTo(&tree);
  parser.AllowUnknownField(true);
  parser.SetRecursionLimit(kDeepest);
  const bool parsed = parser.ParseFromString(text.str(), file.message_.get());
  if (!parsed && found.empty())
    found.push_back({Finding::Level::Error, "is no strategy in protobuf text format", {}, {}});
  if (!hasError(found)) {
    Walk walk(file.said_, found);
    walk.normalise(*file.message_, &tree, "");
    walk.collect(*file.message_, &tree, "");
  }
  findings.insert(findings.end(), found.begin(), found.end());
  if (hasError(found)) return std::nullopt;
  return file;
}

const Said* StrategyFile::find(llvm::StringRef path) const {
  const auto found = llvm::find_if(said_, [&](const Said& each) { return each.path == path; });
  return found == said_.end() ? nullptr : &*found;
}

std::string StrategyFile::write() const {
  std::string text;
  pb::TextFormat::PrintToString(*message_, &text);
  return text;
}

}  // namespace dtranspile
