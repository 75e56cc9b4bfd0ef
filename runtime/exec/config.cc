#include "runtime/exec/config.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"

namespace dtranspile::exec {
namespace {

constexpr int kMostRanks = 1 << 24;

// {"axis": number} with numbers from `least` to the largest number of ranks.
std::map<std::string, int64_t> ReadSizes(JsonObject& root, const char* key, int64_t least) {
  std::map<std::string, int64_t> sizes;
  const Json& json = root.Object(key);
  JsonObject object(json, root.At(key), root.errors());
  for (const auto& [axis, unused] : json.items())
    sizes[axis] = object.Int(axis.c_str(), least, kMostRanks);
  return sizes;
}

// A group that this rank is a member of: its name, size, and the rank's place in it.
CommConfig ReadComm(JsonObject object) {
  CommConfig comm;
  comm.name = object.String("name");
  comm.group = object.String("group");
  comm.size = static_cast<int>(object.Int("size", 1, kMostRanks));
  comm.rank = static_cast<int>(object.Int("rank", 0, comm.size - 1));
  object.Done();
  return comm;
}

// How the members of a group find one another; `token` proves that who connects belongs to the job.
comm::Rendezvous ReadRendezvous(JsonObject object) {
  comm::Rendezvous r;
  r.backend = object.String("backend");
  r.job = object.String("job");
  r.store = object.String("store");
  r.interface = object.String("interface");
  r.token = object.String("token");
  r.timeout_seconds = object.Real("timeout_seconds");
  object.Done();
  return r;
}

// A role of servers and the ranks that ask them; the mesh of the senders' role is a list, since the
// order of the axes says how coordinates become a number.
RpcConfig ReadRpc(JsonObject object) {
  RpcConfig rpc;
  rpc.role = object.String("role");
  rpc.sender_role = object.String("sender_role");
  rpc.store = object.String("store");
  rpc.key = object.String("key");
  rpc.addresses = object.Strings("addresses");
  const Json& mesh = object.Array("mesh");
  for (size_t i = 0; i < mesh.size(); ++i) {
    JsonObject axis(mesh[i], object.At("mesh", i), object.errors());
    const std::string name = axis.String("axis");
    rpc.mesh.emplace_back(name, axis.Int("size", 1, kMostRanks));
    axis.Done();
  }
  rpc.servers = static_cast<int>(object.Int("servers", 1, kMostRanks));
  rpc.senders = static_cast<int>(object.Int("senders", 1, kMostRanks));
  rpc.number = static_cast<int>(object.Int("number", 0, kMostRanks));
  object.Done();
  return rpc;
}

Json ToJson(const RpcConfig& rpc) {
  Json mesh = Json::array();
  for (const auto& [axis, size] : rpc.mesh) mesh.push_back({{"axis", axis}, {"size", size}});
  return {{"role", rpc.role},       {"sender_role", rpc.sender_role}, {"store", rpc.store},
          {"key", rpc.key},         {"addresses", rpc.addresses},     {"mesh", mesh},
          {"servers", rpc.servers}, {"senders", rpc.senders},         {"number", rpc.number}};
}

// Where checkpoints go, how often and how many are kept; `members` are all ranks that write into
// one.
CheckpointConfig ReadCheckpoint(JsonObject object) {
  CheckpointConfig c;
  c.folder = object.String("folder");
  c.every = object.Int("every", 0, kMostSteps);
  c.keep = static_cast<int>(object.Int("keep", 1, INT32_MAX));
  c.member = object.String("member");
  c.members = object.Strings("members");
  c.names = object.Strings("names");
  c.part_names = object.Strings("part_names");
  object.Done();
  return c;
}

Json ToJson(const CheckpointConfig& c) {
  return {{"folder", c.folder},        {"every", c.every},     {"keep", c.keep},
          {"member", c.member},        {"members", c.members}, {"names", c.names},
          {"part_names", c.part_names}};
}

// Initial values come from a folder of a file per variable, or from one combined file, whose
// records have no names: these are listed then.
InitConfig ReadInit(JsonObject object) {
  InitConfig init;
  if (object.Has("folder")) {
    init.folder = object.String("folder");
  } else {
    init.combined = object.String("combined");
    init.names = object.Strings("names");
  }
  object.Done();
  return init;
}

// All of CONFIG, the file by which the launcher tells a rank what to do. Keys that nothing reads
// are errors (Done), and so are ones that lack: both ends are of one version.
WorkerConfig Read(const Json& json, JsonErrors& errors) {
  JsonObject root(json, "", errors);
  WorkerConfig c;
  c.plan = root.String("plan");
  c.digest = root.String("digest");
  c.role = root.String("role");
  c.class_name = root.String("class");
  c.rank = static_cast<int>(root.Int("rank", 0, kMostRanks));
  c.coordinates = ReadSizes(root, "coordinates", 0);
  c.mesh = ReadSizes(root, "mesh", 1);
  const Json& comms = root.Array("comms");
  for (size_t i = 0; i < comms.size(); ++i)
    c.comms.push_back(ReadComm(JsonObject(comms[i], root.At("comms", i), errors)));
  c.rendezvous = ReadRendezvous(JsonObject(root.Object("rendezvous"), "rendezvous", errors));
  const Json& servers = root.Array("servers");
  for (size_t i = 0; i < servers.size(); ++i)
    c.servers.push_back(ReadRpc(JsonObject(servers[i], root.At("servers", i), errors)));
  if (root.Has("serves")) c.serves = ReadRpc(JsonObject(root.Object("serves"), "serves", errors));
  const Json& feeds = root.Array("feeds");
  for (size_t i = 0; i < feeds.size(); ++i) {
    JsonObject feed(feeds[i], root.At("feeds", i), errors);
    c.feeds.push_back({feed.String("name"), feed.String("file")});
    feed.Done();
  }
  if (root.Has("init")) c.init = ReadInit(JsonObject(root.Object("init"), "init", errors));
  const Json& per_step = root.Object("per_step");
  JsonObject values(per_step, "per_step", errors);
  for (const auto& [name, unused] : per_step.items()) c.per_step[name] = values.Reals(name.c_str());
  c.steps = root.Int("steps", 0, kMostSteps);
  c.first_step = root.Int("first_step", 0, kMostSteps);
  c.skip = root.Int("skip", 0, kMostSteps);
  if (root.Has("checkpoint"))
    c.checkpoint = ReadCheckpoint(JsonObject(root.Object("checkpoint"), "checkpoint", errors));
  c.fetch = root.Strings("fetch");
  c.threads = static_cast<int>(root.Int("threads", 1, kMostThreads));
  c.spin = root.Bool("spin");
  c.seed = root.Int("seed");
  if (root.Has("save")) c.save = root.String("save");
  c.save_names = root.Strings("save_names");
  if (root.Has("save_parts")) c.save_parts = root.String("save_parts");
  c.part_names = root.Strings("part_names");
  if (root.Has("save_fetches")) c.save_fetches = root.String("save_fetches");
  if (root.Has("trace")) c.trace = root.String("trace");
  c.control_fd = static_cast<int>(root.Int("control_fd", 0, INT32_MAX));
  if (root.Has("flight_fd")) c.flight_fd = static_cast<int>(root.Int("flight_fd", 0, INT32_MAX));
  root.Done();
  for (const auto& [axis, at] : c.coordinates)
    if (c.mesh.count(axis) == 0 || at >= c.mesh.at(axis))
      errors.Add("coordinates", absl::StrCat("'", axis, "' is ", at, ", outside of the mesh"));
  return c;
}

// Paths that are not wanted are null in the file, and empty in the struct.
Json OrNull(const std::string& text) { return text.empty() ? Json() : Json(text); }

}  // namespace

absl::StatusOr<WorkerConfig> ParseConfig(const std::string& name, const std::string& text) {
  DT_ASSIGN_OR_RETURN(const Json json, io::ParseJson<Json>(name, text));
  JsonErrors errors(name);
  WorkerConfig config = Read(json, errors);
  if (!errors.ok()) return errors.status();
  return config;
}

absl::StatusOr<WorkerConfig> ReadConfig(const std::string& path) {
  DT_ASSIGN_OR_RETURN(const Json json, io::ReadJson<Json>(path));
  JsonErrors errors(path);
  WorkerConfig config = Read(json, errors);
  if (!errors.ok()) return errors.status();
  return config;
}

// What Read reads: a field that is added to one of them has to be added to the other.
Json ToJson(const WorkerConfig& c) {
  Json comms = Json::array(), servers = Json::array(), feeds = Json::array(), init;
  for (const CommConfig& comm : c.comms)
    comms.push_back(
        {{"name", comm.name}, {"group", comm.group}, {"rank", comm.rank}, {"size", comm.size}});
  for (const RpcConfig& rpc : c.servers) servers.push_back(ToJson(rpc));
  for (const FeedConfig& feed : c.feeds)
    feeds.push_back({{"name", feed.name}, {"file", feed.file}});
  if (c.init && !c.init->folder.empty()) init = {{"folder", c.init->folder}};
  else if (c.init) init = {{"combined", c.init->combined}, {"names", c.init->names}};
  const comm::Rendezvous& r = c.rendezvous;
  return {{"plan", c.plan},
          {"digest", c.digest},
          {"role", c.role},
          {"class", c.class_name},
          {"rank", c.rank},
          {"coordinates", c.coordinates},
          {"mesh", c.mesh},
          {"comms", comms},
          {"rendezvous",
           {{"backend", r.backend},
            {"job", r.job},
            {"store", r.store},
            {"interface", r.interface},
            {"token", r.token},
            {"timeout_seconds", r.timeout_seconds}}},
          {"servers", servers},
          {"serves", c.serves ? ToJson(*c.serves) : Json()},
          {"feeds", feeds},
          {"init", init},
          {"per_step", c.per_step},
          {"steps", c.steps},
          {"first_step", c.first_step},
          {"skip", c.skip},
          {"checkpoint", c.checkpoint ? ToJson(*c.checkpoint) : Json()},
          {"fetch", c.fetch},
          {"threads", c.threads},
          {"spin", c.spin},
          {"seed", c.seed},
          {"save", OrNull(c.save)},
          {"save_names", c.save_names},
          {"save_parts", OrNull(c.save_parts)},
          {"part_names", c.part_names},
          {"save_fetches", OrNull(c.save_fetches)},
          {"trace", OrNull(c.trace)},
          {"control_fd", c.control_fd},
          {"flight_fd", c.flight_fd < 0 ? Json() : Json(c.flight_fd)}};
}

// Servers are told by the rank that decides; others do not agree with it on a step, so that it has
// to be the only one of them that writes.
bool DecidesOnRequests(const WorkerConfig& config) {
  if (!config.checkpoint || config.serves) return false;
  const CheckpointConfig& c = *config.checkpoint;
  if (config.servers.empty()) return c.members.size() == 1 && c.member == c.members.front();
  const auto is_told = [&](const std::string& member) {
    return member == c.member ||
           std::any_of(config.servers.begin(), config.servers.end(), [&](const RpcConfig& rpc) {
             return member.substr(0, member.rfind('.')) == rpc.role;
           });
  };
  return std::all_of(c.members.begin(), c.members.end(), is_told) &&
         std::any_of(config.servers.begin(), config.servers.end(),
                     [](const RpcConfig& rpc) { return rpc.number == 0; });
}

}  // namespace dtranspile::exec
