#include "runtime/exec/plan.h"

#include <algorithm>
#include <set>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/json_reader.h"
#include "runtime/exec/plan_nodes.h"
#include "runtime/tensor/tensor.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kSchema = 1;
constexpr int64_t kAlignment = 64;
constexpr int64_t kMostBytes = int64_t{1} << 48;
constexpr int64_t kMostBuffers = int64_t{1} << 24;

constexpr std::pair<const char*, Space> kSpaces[] = {{"arena", Space::kArena},
                                                     {"persistent", Space::kPersistent},
                                                     {"constant", Space::kConstant},
                                                     {"value", Space::kValue}};
constexpr std::pair<const char*, Value::Kind> kKinds[] = {
    {"tensor", Value::Kind::kTensor}, {"rows", Value::Kind::kRows}, {"list", Value::Kind::kList}};

class PlanReader {
 public:
  PlanReader(Plan& plan, JsonErrors& errors) : plan_(plan), errors_(errors) {}

  void Read(const Json& json);

 private:
  void ReadTarget(JsonObject& root);
  void ReadComms(JsonObject& root);
  void ReadBuffers(JsonObject& root);
  Buffer ReadBuffer(JsonObject object);
  Buffer ReadValue(JsonObject& object, Buffer buffer);
  void ReadPersistables(JsonObject& root);
  void ReadProgram(const Json& value, const std::string& where, Program& program);
  FeedSlot ReadFeed(JsonObject object);
  FetchSlot ReadFetch(JsonObject object);
  DType ReadType(JsonObject& object);
  int BufferId(JsonObject& object);
  void CheckAgainstBuffer(JsonObject& object, int id);

  Plan& plan_;
  JsonErrors& errors_;
};

DType PlanReader::ReadType(JsonObject& object) {
  const std::string name = object.String("dtype");
  const auto type = DTypeFromName(name);
  if (!type && errors_.ok())
    errors_.Add(object.At("dtype"),
                absl::StrCat("unknown element type '", name.substr(0, 40), "'"));
  return type.value_or(DType::kFloat32);
}

int PlanReader::BufferId(JsonObject& object) {
  return static_cast<int>(object.Int("buffer", 0, static_cast<int64_t>(plan_.buffers.size()) - 1));
}

// Feeds and persistables repeat type and extents, for people; they must be those of the buffer.
void PlanReader::CheckAgainstBuffer(JsonObject& object, int id) {
  const DType type = ReadType(object);
  const auto dims = object.Ints("dims", -1);
  if (!errors_.ok()) return;
  const Buffer& buffer = plan_.buffers[static_cast<size_t>(id)];
  if (type != buffer.dtype || dims != buffer.dims)
    errors_.Add(object.where(),
                absl::StrCat(ShapeText(type, dims), " is not the ",
                             ShapeText(buffer.dtype, buffer.dims), " of buffer ", id));
}

void PlanReader::ReadTarget(JsonObject& root) {
  JsonObject target(root.Object("target"), root.At("target"), errors_);
  plan_.cpu = target.String("cpu");
  plan_.features = target.String("features");
  target.Done();
  if (root.Has("library")) plan_.library = root.String("library");
  if (plan_.library.find('/') != std::string::npos)
    errors_.Add(root.At("library"), "expected a file of the plan's own folder");
}

void PlanReader::ReadComms(JsonObject& root) {
  const Json& comms = root.Array("comms");
  for (size_t i = 0; i < comms.size(); ++i) {
    JsonObject object(comms[i], root.At("comms", i), errors_);
    const std::string name = object.String("name");
    plan_.comms.push_back({name, object.Strings("axes")});
    object.Done();
  }
}

Buffer PlanReader::ReadValue(JsonObject& object, Buffer buffer) {
  buffer.kind = ReadName(kKinds, object.String("kind"), object.At("kind"), errors_);
  buffer.dtype = ReadType(object);
  buffer.dims = object.Ints("dims", -1);
  buffer.lod_level = static_cast<int>(object.Int("lod_level", 0, 64));
  object.Done();
  return buffer;
}

Buffer PlanReader::ReadBuffer(JsonObject object) {
  Buffer buffer;
  buffer.name = object.String("name");
  buffer.space = ReadName(kSpaces, object.String("space"), object.At("space"), errors_);
  if (buffer.space == Space::kValue) return ReadValue(object, std::move(buffer));
  buffer.offset = object.Int("offset", 0, kMostBytes);
  buffer.bytes = object.Int("bytes", 0, kMostBytes);
  buffer.dtype = ReadType(object);
  buffer.dims = object.Ints("dims", 0);
  if (object.Int("lod_level", 0) != 0)
    errors_.Add(object.At("lod_level"),
                absl::StrCat("'", buffer.name,
                             "' is ragged (LoD), which only buffers of space 'value' can be"));
  const bool constant = buffer.space == Space::kConstant;
  if (constant) {
    const std::string hex = object.String("data");
    if (hex.size() != 2 * static_cast<size_t>(buffer.bytes) ||
        hex.find_first_not_of("0123456789abcdefABCDEF") != std::string::npos)
      errors_.Add(object.At("data"),
                  absl::StrCat("expected ", 2 * buffer.bytes, " hexadecimal digits"));
    else buffer.data = absl::HexStringToBytes(hex);
  }
  object.Done();
  if (!errors_.ok()) return buffer;
  const auto bytes = ByteCount(buffer.dtype, buffer.dims);
  if (!bytes.ok()) errors_.Add(object.where(), std::string(bytes.status().message()));
  else if (*bytes != buffer.bytes)
    errors_.Add(object.At("bytes"),
                absl::StrCat("'", buffer.name, "' is ", ShapeText(buffer.dtype, buffer.dims), ", ",
                             *bytes, " bytes, not ", buffer.bytes));
  if (buffer.offset % kAlignment != 0)
    errors_.Add(object.At("offset"), absl::StrCat("not a multiple of ", kAlignment));
  const int64_t block = buffer.space == Space::kArena ? plan_.arena_bytes : plan_.persistent_bytes;
  if (!constant && buffer.offset + buffer.bytes > block)
    errors_.Add(object.where(),
                absl::StrCat("'", buffer.name, "' ends at byte ", buffer.offset + buffer.bytes,
                             " of a block of ", block));
  return buffer;
}

void PlanReader::ReadBuffers(JsonObject& root) {
  plan_.arena_bytes = root.Int("arena_bytes", 0, kMostBytes);
  plan_.persistent_bytes = root.Int("persistent_bytes", 0, kMostBytes);
  const Json& buffers = root.Array("buffers");
  if (static_cast<int64_t>(buffers.size()) > kMostBuffers)
    return errors_.Add("buffers", "too many");
  for (size_t i = 0; errors_.ok() && i < buffers.size(); ++i) {
    plan_.buffers.push_back(ReadBuffer(JsonObject(buffers[i], root.At("buffers", i), errors_)));
    const Buffer& buffer = plan_.buffers.back();
    if (buffer.space == Space::kConstant)
      plan_.constant_bytes = std::max(plan_.constant_bytes, buffer.offset + buffer.bytes);
  }
}

void PlanReader::ReadPersistables(JsonObject& root) {
  const Json& array = root.Array("persistables");
  std::set<std::string> names;
  for (size_t i = 0; errors_.ok() && i < array.size(); ++i) {
    JsonObject object(array[i], root.At("persistables", i), errors_);
    Persistable p;
    p.name = object.String("name");
    p.buffer = BufferId(object);
    p.parameter = object.Bool("parameter");
    CheckAgainstBuffer(object, p.buffer);
    if (object.Has("slice"))
      errors_.Add(object.At("slice"),
                  absl::StrCat("'", p.name, "' is sliced; this runtime has whole variables only"));
    object.Object("relation");
    object.Done();
    if (!names.insert(p.name).second)
      errors_.Add(object.At("name"), absl::StrCat("'", p.name, "' occurs twice"));
    if (errors_.ok() && plan_.buffers[static_cast<size_t>(p.buffer)].space != Space::kPersistent)
      errors_.Add(object.where(), absl::StrCat("'", p.name, "' is not in persistent memory"));
    plan_.persistables.push_back(std::move(p));
  }
}

FeedSlot PlanReader::ReadFeed(JsonObject object) {
  FeedSlot feed;
  feed.name = object.String("name");
  feed.buffer = BufferId(object);
  CheckAgainstBuffer(object, feed.buffer);
  feed.is_split = object.Has("split");
  if (feed.is_split) {
    JsonObject split(object.Object("split"), object.At("split"), errors_);
    feed.split.dim = static_cast<int>(split.Int("dim", 0, INT32_MAX));
    feed.split.axes = split.Strings("axes");
    split.Done();
  }
  object.Done();
  if (!errors_.ok()) return feed;
  const Buffer& buffer = plan_.buffers[static_cast<size_t>(feed.buffer)];
  if (buffer.space == Space::kConstant) errors_.Add(object.where(), "a constant cannot be fed");
  if (feed.is_split && feed.split.dim >= static_cast<int>(buffer.dims.size()))
    errors_.Add(object.At("split"),
                absl::StrCat("dimension ", feed.split.dim, " of ", buffer.dims.size()));
  return feed;
}

FetchSlot PlanReader::ReadFetch(JsonObject object) {
  constexpr std::pair<const char*, int> kCombines[] = {
      {"mean", 0}, {"same", 1}, {"sum", 2}, {"concat", 3}, {"list", 4}};
  FetchSlot fetch;
  fetch.name = object.String("name");
  fetch.buffer = BufferId(object);
  fetch.combine = object.String("combine");
  ReadName(kCombines, fetch.combine, object.At("combine"), errors_);
  object.Done();
  return fetch;
}

void PlanReader::ReadProgram(const Json& value, const std::string& where, Program& program) {
  JsonObject object(value, where, errors_);
  const Json& feeds = object.Array("feeds");
  for (size_t i = 0; i < feeds.size(); ++i)
    program.feeds.push_back(ReadFeed(JsonObject(feeds[i], object.At("feeds", i), errors_)));
  const Json& fetches = object.Array("fetches");
  for (size_t i = 0; i < fetches.size(); ++i)
    program.fetches.push_back(ReadFetch(JsonObject(fetches[i], object.At("fetches", i), errors_)));
  program.body = ReadNodes(object.Array("body"), object.At("body"), plan_, errors_);
  object.Done();
}

void PlanReader::Read(const Json& json) {
  JsonObject root(json, "", errors_);
  if (root.Int("schema") != kSchema && errors_.ok())
    return errors_.Add("schema", absl::StrCat("this runtime reads plans of schema ", kSchema,
                                              "; compile the job again"));
  plan_.class_name = root.String("class");
  plan_.digest = root.String("digest");
  ReadTarget(root);
  ReadComms(root);
  ReadBuffers(root);
  ReadPersistables(root);
  JsonObject programs(root.Object("programs"), "programs", errors_);
  plan_.has_startup = programs.Has("startup");
  if (plan_.has_startup)
    ReadProgram(programs.Object("startup"), programs.At("startup"), plan_.startup);
  ReadProgram(programs.Object("main"), programs.At("main"), plan_.main);
  programs.Done();
  root.Done();
}

}  // namespace

absl::StatusOr<Plan> ParsePlan(const std::string& name, const std::string& text) {
  DT_ASSIGN_OR_RETURN(const Json json, io::ParseJson<Json>(name, text));
  Plan plan;
  JsonErrors errors(name);
  PlanReader(plan, errors).Read(json);
  if (!errors.ok()) return errors.status();
  return plan;
}

absl::StatusOr<Plan> ReadPlan(const std::string& folder) {
  const std::string path = folder + "/plan.json";
  DT_ASSIGN_OR_RETURN(const Json json, io::ReadJson<Json>(path));
  Plan plan;
  plan.folder = folder;
  JsonErrors errors(path);
  PlanReader(plan, errors).Read(json);
  if (!errors.ok()) return errors.status();
  return plan;
}

}  // namespace dtranspile::exec
