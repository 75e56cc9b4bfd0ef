#include "runtime/exec/flight/recording.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/exec/flight/layout.h"
#include "runtime/exec/json_reader.h"
#include "runtime/io/json.h"

namespace dtranspile::flight {
namespace {

using exec::Json;
using exec::JsonErrors;
using exec::JsonObject;

constexpr int kVersion = 1;
const char* const kKinds[] = {"group", "to", "from", "servers", "clients"};
constexpr int kMostRanks = 0x7fffffff;

Channel::Kind KindOf(const std::string& word, JsonObject& object) {
  const auto found = std::find(std::begin(kKinds), std::end(kKinds), word);
  if (found == std::end(kKinds))
    object.errors().Add(object.At("kind"),
                        absl::StrCat("no kind of channel is called '", word, "'"));
  return static_cast<Channel::Kind>(found == std::end(kKinds) ? 0 : found - std::begin(kKinds));
}

Comm CommOf(const Json& json, const std::string& where, JsonErrors& errors) {
  JsonObject object(json, where, errors);
  Comm comm;
  comm.name = object.String("name");
  comm.group = object.String("group");
  comm.member = static_cast<int>(object.Int("member", 0, kMostRanks));
  comm.size = static_cast<int>(object.Int("size", 1, kMostRanks));
  comm.role = object.String("role");
  object.Done();
  return comm;
}

Channel ChannelOf(const Json& json, const std::string& where, JsonErrors& errors) {
  JsonObject object(json, where, errors);
  Channel channel;
  channel.comm = object.String("comm");
  channel.kind = KindOf(object.String("kind"), object);
  channel.peer = static_cast<int>(object.Int("peer", 0, kMostRanks));
  channel.started = static_cast<uint64_t>(object.Int("started", 0));
  object.Done();
  return channel;
}

// Indices are checked against the lists that they point into.
Event EventOf(const Json& json, const std::string& where, const Recording& recording,
              JsonErrors& errors) {
  JsonObject object(json, where, errors);
  Event event;
  event.number = static_cast<uint64_t>(object.Int("number", 0));
  event.sequence = static_cast<uint64_t>(object.Int("sequence", 0));
  event.step = object.Int("step", -1);
  event.begin_ns = object.Int("begin_ns", 0);
  event.wait_ns = object.Int("wait_ns", 0);
  event.end_ns = object.Int("end_ns", 0);
  const auto last = [](size_t count) { return static_cast<int64_t>(count) - 1; };
  event.op = static_cast<uint32_t>(object.Int("op", 0, last(recording.ops.size())));
  event.channel = static_cast<uint32_t>(object.Int("channel", 0, last(recording.channels.size())));
  object.Done();
  return event;
}

// In nanoseconds. `last`: now.
Event EventOf(const MemoryEvent& one, const ClockPair& first, const ClockPair& last) {
  const auto ns = [&](int64_t ticks) { return NsOf(ticks, first, last); };
  return {one.written.load(std::memory_order_acquire) - 1,
          one.sequence,
          one.step,
          ns(one.begin),
          ns(one.wait),
          ns(one.end),
          one.op,
          one.channel};
}

}  // namespace

const Comm* Recording::comm(const Channel& channel) const {
  const auto found = std::find_if(comms.begin(), comms.end(),
                                  [&](const Comm& one) { return one.name == channel.comm; });
  return found == comms.end() ? nullptr : &*found;
}

std::string TextOf(const Recording& recording) {
  Json json = {{"version", kVersion},
               {"role", recording.role},
               {"rank", recording.rank},
               {"class", recording.class_name},
               {"digest", recording.digest}};
  Json comms = Json::array(), channels = Json::array(), events = Json::array();
  for (const Comm& comm : recording.comms)
    comms.push_back({{"name", comm.name},
                     {"group", comm.group},
                     {"member", comm.member},
                     {"size", comm.size},
                     {"role", comm.role}});
  for (const Channel& channel : recording.channels)
    channels.push_back({{"comm", channel.comm},
                        {"kind", kKinds[static_cast<int>(channel.kind)]},
                        {"peer", channel.peer},
                        {"started", channel.started}});
  for (const Event& event : recording.events)
    events.push_back({{"number", event.number},
                      {"sequence", event.sequence},
                      {"step", event.step},
                      {"begin_ns", event.begin_ns},
                      {"wait_ns", event.wait_ns},
                      {"end_ns", event.end_ns},
                      {"op", event.op},
                      {"channel", event.channel}});
  json["comms"] = std::move(comms);
  json["channels"] = std::move(channels);
  json["ops"] = recording.ops;
  json["events"] = std::move(events);
  return io::JsonText(json) + "\n";
}

// The reverse of TextOf. Lists before the events that refer to them.
absl::StatusOr<Recording> ParseRecording(const std::string& name, const std::string& text) {
  DT_ASSIGN_OR_RETURN(const Json json, io::ParseJson<Json>(name, text));
  JsonErrors errors(name);
  JsonObject object(json, "", errors);
  Recording recording;
  object.Int("version", kVersion, kVersion);
  recording.role = object.String("role");
  recording.rank = static_cast<int>(object.Int("rank", 0, kMostRanks));
  recording.class_name = object.String("class");
  recording.digest = object.String("digest");
  const Json& comms = object.Array("comms");
  for (size_t i = 0; i < comms.size(); ++i)
    recording.comms.push_back(CommOf(comms[i], object.At("comms", i), errors));
  const Json& channels = object.Array("channels");
  for (size_t i = 0; i < channels.size(); ++i)
    recording.channels.push_back(ChannelOf(channels[i], object.At("channels", i), errors));
  recording.ops = object.Strings("ops");
  const Json& events = object.Array("events");
  for (size_t i = 0; i < events.size(); ++i)
    recording.events.push_back(EventOf(events[i], object.At("events", i), recording, errors));
  object.Done();
  if (!errors.ok()) return errors.status();
  return recording;
}

// The rank may have been killed while it wrote: what is not whole is left out, and every number is
// held against the size before it is used.
absl::StatusOr<Recording> ReadRecording(const void* memory, size_t size) {
  if (size < sizeof(MemoryHeader)) return absl::NotFoundError("nothing has been recorded");
  const auto* bytes = static_cast<const std::byte*>(memory);
  const auto* header = static_cast<const MemoryHeader*>(memory);
  if (header->magic.load(std::memory_order_acquire) != kMagic)
    return absl::NotFoundError("nothing has been recorded");
  const uint64_t capacity = header->capacity, channels = header->channels;
  const auto refuse = [] { return absl::InvalidArgumentError("is no flight recording"); };
  if (capacity == 0 || capacity > kMostEvents || channels > kMostChannels ||
      header->text_bytes > kMostText)
    return refuse();
  const MemoryLayout layout = MemoryLayout::Of(capacity, channels, header->text_bytes);
  if (layout.bytes > size) return refuse();
  const std::string text(reinterpret_cast<const char*>(bytes + layout.text), header->text_bytes);
  DT_ASSIGN_OR_RETURN(Recording recording, ParseRecording("flight recording", text));
  if (recording.channels.size() != channels) return refuse();
  const auto* started = reinterpret_cast<const std::atomic<uint64_t>*>(bytes + layout.started);
  for (size_t i = 0; i < channels; ++i) recording.channels[i].started = started[i].load();
  const auto* ring = reinterpret_cast<const MemoryEvent*>(bytes + layout.ring);
  const uint64_t begun = header->begun.load(std::memory_order_acquire);
  const ClockPair last = PairOf(Clock());
  // The one behind the last may be whole already, its count not yet.
  for (uint64_t number = begun > capacity ? begun - capacity : 0; number <= begun; ++number) {
    const MemoryEvent& one = ring[number % capacity];
    if (one.written.load(std::memory_order_acquire) == number + 1 &&
        one.op < recording.ops.size() && one.channel < recording.channels.size())
      recording.events.push_back(EventOf(one, header->first, last));
  }
  return recording;
}

}  // namespace dtranspile::flight
