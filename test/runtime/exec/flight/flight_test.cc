// Flight recorders: what they keep, what is read of one whose rank was killed, and what several of
// them say together.
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <functional>
#include <random>

#include "runtime/exec/flight/divergence.h"
#include "runtime/exec/flight/layout.h"
#include "runtime/exec/flight/recorder.h"

namespace dtranspile::flight {
namespace {

using Kind = Channel::Kind;

// A memory file and what lies in it.
class Memory {
 public:
  Memory() : fd(memfd_create("flight_test", 0)) { REQUIRE(fd >= 0); }
  ~Memory() { close(fd); }

  std::string Bytes() const {
    struct stat info = {};
    REQUIRE(fstat(fd, &info) == 0);
    std::string bytes(static_cast<size_t>(info.st_size), 0);
    REQUIRE(pread(fd, bytes.data(), bytes.size(), 0) == info.st_size);
    return bytes;
  }
  absl::StatusOr<Recording> Read() const {
    const std::string bytes = Bytes();
    return ReadRecording(bytes.data(), bytes.size());
  }

  const int fd;
};

Recording Self(int rank) {
  Recording self;
  self.role = "trainer";
  self.class_name = "trainer";
  self.digest = "sha256:0";
  self.rank = rank;
  self.comms = {{"dp", "dp.0", rank, 2, "trainer"}};
  return self;
}

void Do(Recorder& recorder, Point point, int times) {
  for (int i = 0; i < times; ++i) {
    const uint64_t number = recorder.Begin(point);
    recorder.Wait(number);
    recorder.End(number);
  }
}

TEST_CASE("a recorder keeps its last events, and counts all of them") {
  Memory memory;
  Recorder recorder(memory.fd, Self(1), 8);
  CHECK(recorder.Begin({}) == 0);  // nothing is recorded yet
  const Point sum = recorder.AddPoint("all_reduce of g", "dp", Kind::kGroup);
  const Point send = recorder.AddPoint("send of h", "dp", Kind::kTo, 0);
  CHECK(recorder.AddPoint("send of h", "dp", Kind::kTo, 0).channel == send.channel);
  CHECK(absl::IsNotFound(memory.Read().status()));
  REQUIRE(recorder.Publish().ok());
  recorder.BeginStep(4);
  Do(recorder, sum, 20);
  const uint64_t open = recorder.Begin(send);
  recorder.Wait(open);
  recorder.End(open - 8);  // long overwritten: says nothing of the one in its place
  const auto read = memory.Read();
  INFO(read.status().ToString());
  REQUIRE(read.ok());
  CHECK(read->name() == "trainer 1");
  REQUIRE(read->events.size() == 8);
  CHECK(read->events.front().number == 13);
  CHECK(read->events.back().number == 20);
  CHECK(read->events.back().step == 4);
  CHECK(read->events.back().sequence == 0);
  CHECK(read->events.back().waits());
  CHECK(read->ops[read->events.back().op] == "send of h");
  CHECK(!read->events.front().waits());
  CHECK(read->events.front().sequence == 13);
  CHECK(read->channels[sum.channel].started == 20);
  CHECK(read->channels[send.channel].started == 1);
  const std::string text = TextOf(*read);
  const auto again = ParseRecording("again", text);
  REQUIRE(again.ok());
  CHECK(TextOf(*again) == text);
}

TEST_CASE("times are those of the steady clock, in the order in which things happen") {
  Memory memory;
  Recorder recorder(memory.fd, Self(0), 8);
  const Point sum = recorder.AddPoint("all_reduce of g", "dp", Kind::kGroup);
  REQUIRE(recorder.Publish().ok());
  const int64_t before = SteadyNs();
  const uint64_t started = recorder.Begin(sum);
  usleep(20000);
  recorder.Wait(started);
  usleep(20000);
  recorder.End(started);
  recorder.End(recorder.BeginAndWait(sum));
  const int64_t after = SteadyNs();
  const auto read = memory.Read();
  REQUIRE(read.ok());
  REQUIRE(read->events.size() == 2);
  const Event &first = read->events[0], &second = read->events[1];
  constexpr int64_t kSlack =
      1000000;  // between the reads of a pair the rank may have been preempted
  CHECK(first.begin_ns > before - kSlack);
  CHECK(first.wait_ns - first.begin_ns > 20000000 - kSlack);
  CHECK(first.end_ns - first.wait_ns > 20000000 - kSlack);
  CHECK(second.begin_ns >= first.end_ns);
  CHECK(second.wait_ns == second.begin_ns);
  CHECK(second.end_ns < after + kSlack);
  CHECK(!second.waits());
}

TEST_CASE("a time beside both pairs is held to the nearer one") {
  const ClockPair first = {100, 1000}, last = {200, 3000};
  CHECK(NsOf(0, first, last) == 0);
  CHECK(NsOf(150, first, last) == 2000);
  CHECK(NsOf(50, first, last) == 1000);
  CHECK(NsOf(INT64_MAX, first, last) == 3000);
  CHECK(NsOf(INT64_MIN, first, last) == 1000);
  CHECK(NsOf(150, last, first) == 3000);
}

TEST_CASE("what a killed rank has recorded is there") {
  Memory memory;
  const pid_t rank = fork();
  if (rank == 0) {
    Recorder recorder(memory.fd, Self(0), 64);
    const Point sum = recorder.AddPoint("all_reduce of g", "dp", Kind::kGroup);
    if (!recorder.Publish().ok()) _exit(1);
    Do(recorder, sum, 5);
    recorder.Begin(sum);
    kill(getpid(), SIGKILL);
  }
  int status = 0;
  REQUIRE(waitpid(rank, &status, 0) == rank);
  REQUIRE(WIFSIGNALED(status));
  const auto read = memory.Read();
  REQUIRE(read.ok());
  REQUIRE(read->events.size() == 6);
  CHECK(read->events.back().end_ns == 0);
}

TEST_CASE("memory that no recorder has written, or not whole, is refused or read in part") {
  Memory memory;
  Recorder recorder(memory.fd, Self(0), 16);
  const Point sum = recorder.AddPoint("all_reduce of g", "dp", Kind::kGroup);
  REQUIRE(recorder.Publish().ok());
  Do(recorder, sum, 10);
  const std::string good = memory.Bytes();
  for (size_t size = 0; size < good.size(); ++size) {
    const std::string cut = good.substr(0, size);
    CHECK(!ReadRecording(cut.data(), cut.size()).ok());
  }
  std::mt19937 random(7);
  for (int i = 0; i < 20000; ++i) {
    std::string bad = good;
    for (int k = 0; k < 3; ++k) bad[random() % bad.size()] = static_cast<char>(random());
    const auto read = ReadRecording(bad.data(), bad.size());
    if (!read.ok()) continue;
    for (const Event& event : read->events) {
      CHECK(event.op < read->ops.size());
      CHECK(event.channel < read->channels.size());
    }
    (void)LinesOf(DivergenceOf({*read, *read}), {*read, *read});
  }
}

TEST_CASE("memory says why it is none of a recorder") {
  Memory memory;
  Recorder recorder(memory.fd, Self(0), 16);
  recorder.AddPoint("all_reduce of g", "dp", Kind::kGroup);
  REQUIRE(recorder.Publish().ok());
  const std::string right = memory.Bytes();
  struct Row {
    const char *what, *says;
    std::function<void(std::string&)> change;
  };
  const auto field = [](size_t at, uint64_t value) {
    return [=](std::string& bytes) { std::memcpy(bytes.data() + at, &value, sizeof value); };
  };
  const Row rows[] = {
      {"shorter than its header", "nothing has been recorded",
       [](std::string& bytes) { bytes.resize(sizeof(MemoryHeader) - 1); }},
      {"of another build", "nothing has been recorded",
       field(offsetof(MemoryHeader, magic), kMagic + 1)},
      {"of no events", "is no flight recording", field(offsetof(MemoryHeader, capacity), 0)},
      {"of more events than fit", "is no flight recording",
       field(offsetof(MemoryHeader, capacity), kMostEvents)},
      {"of more channels than a job has", "is no flight recording",
       field(offsetof(MemoryHeader, channels), kMostChannels + 1)},
      {"of more text than there is", "is no flight recording",
       field(offsetof(MemoryHeader, text_bytes), kMostText + 1)},
  };
  for (const Row& row : rows) {
    INFO(row.what);
    std::string bytes = right;
    row.change(bytes);
    const auto read = ReadRecording(bytes.data(), bytes.size());
    REQUIRE_FALSE(read.ok());
    CHECK_THAT(std::string(read.status().message()), Catch::Contains(row.says));
  }
}

TEST_CASE("files that are no recordings are refused with their place") {
  const auto message = [](const std::string& text) {
    return std::string(ParseRecording("a.flight.json", text).status().message());
  };
  CHECK(message("[]").find("a.flight.json") != std::string::npos);
  CHECK(message("{").find("is no legal JSON") != std::string::npos);
  const std::string good = TextOf(Self(0));
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = good;
    text.replace(text.find(from), from.size(), to);
    return message(text);
  };
  CHECK(changed("\"version\":1", "\"version\":2").find("version") != std::string::npos);
  CHECK(
      changed("\"channels\":[]", R"("channels":[{"comm":"dp","kind":"ring","peer":0,"started":0}])")
          .find("no kind of channel is called 'ring'") != std::string::npos);
  CHECK(changed("\"events\":[]",
                R"("events":[{"number":0,"sequence":0,"step":0,"begin_ns":0,"wait_ns":0,)"
                R"("end_ns":0,"op":0,"channel":0}])")
            .find("events[0].op") != std::string::npos);
}

// A rank of a made-up job: operations that have ended, and one that is waited for.
struct Rank {
  Recording recording;

  Rank(const std::string& role, int number, std::vector<Comm> comms) {
    recording.role = recording.class_name = role;
    recording.rank = number;
    recording.comms = std::move(comms);
  }
  Rank& Did(const std::string& op, const std::string& comm, Kind kind, int peer = 0) {
    return Add(op, comm, kind, peer, 2);
  }
  Rank& Waits(const std::string& op, const std::string& comm, Kind kind, int peer = 0) {
    return Add(op, comm, kind, peer, 0);
  }

 private:
  Rank& Add(const std::string& op, const std::string& comm, Kind kind, int peer, int64_t end) {
    Recording& r = recording;
    size_t channel = 0;
    while (channel < r.channels.size() &&
           !(r.channels[channel].comm == comm && r.channels[channel].kind == kind &&
             r.channels[channel].peer == peer))
      ++channel;
    if (channel == r.channels.size()) r.channels.push_back({comm, kind, peer, 0});
    r.ops.push_back(op);
    r.events.push_back({r.events.size(), r.channels[channel].started++, 3, 1, 1, end,
                        static_cast<uint32_t>(r.ops.size() - 1), static_cast<uint32_t>(channel)});
    return *this;
  }
};

std::vector<std::string> Say(const std::vector<Rank>& ranks) {
  std::vector<Recording> recordings;
  for (const Rank& rank : ranks) recordings.push_back(rank.recording);
  return LinesOf(DivergenceOf(recordings), recordings);
}

std::vector<Comm> Dp(int member, int size) { return {{"dp", "dp.0", member, size, "trainer"}}; }

TEST_CASE("the rank that has not come to a collective is named") {
  std::vector<Rank> ranks;
  for (int i = 0; i < 3; ++i) {
    ranks.emplace_back("trainer", i, Dp(i, 3)).Did("all_reduce of a", "dp", Kind::kGroup);
    if (i != 1) ranks.back().Waits("all_reduce of b", "dp", Kind::kGroup);
  }
  CHECK(Say(ranks) == std::vector<std::string>{
                          "trainer 1 stopped before event 1: all_reduce of b; its last one, in "
                          "step 3, was all_reduce of a; trainer 0, 2 wait for it"});
}

TEST_CASE("ranks that wait for one that waits itself are not blamed, nor is that one") {
  // 0 waits for 1 in a sum, 1 for 2 in a transfer; 2 stands still.
  std::vector<Rank> ranks;
  const std::vector<Comm> both = {{"pp", "pp.0", 0, 2, "trainer"}};
  ranks.emplace_back("trainer", 0, Dp(0, 2)).Waits("all_reduce of g", "dp", Kind::kGroup);
  std::vector<Comm> comms = Dp(1, 2);
  comms.push_back({"pp", "pp.1", 0, 2, "trainer"});
  ranks.emplace_back("trainer", 1, comms).Waits("recv of d", "pp", Kind::kFrom, 1);
  ranks.emplace_back("trainer", 2, std::vector<Comm>{{"pp", "pp.1", 1, 2, "trainer"}});
  CHECK(Say(ranks) == std::vector<std::string>{
                          "trainer 2 stopped before event 0: recv of d; trainer 1 waits for it"});
}

TEST_CASE("a circle of transfers is shown") {
  std::vector<Rank> ranks;
  for (int i = 0; i < 2; ++i)
    ranks.emplace_back("trainer", i, std::vector<Comm>{{"pp", "pp.0", i, 2, "trainer"}})
        .Waits("send of x", "pp", Kind::kTo, 1 - i);
  CHECK(Say(ranks) ==
        std::vector<std::string>{"each waits for the next and the last for the first: trainer 0 in "
                                 "send of x, trainer 1 in send of x"});
}

TEST_CASE("operations of one communicator that differ are named, the first of them") {
  std::vector<Rank> ranks;
  for (int i = 0; i < 2; ++i) {
    ranks.emplace_back("trainer", i, Dp(i, 2))
        .Did("all_reduce of a", "dp", Kind::kGroup)
        .Did(i == 0 ? "all_reduce of b" : "broadcast of c", "dp", Kind::kGroup)
        .Did(i == 0 ? "broadcast of c" : "all_reduce of b", "dp", Kind::kGroup);
  }
  CHECK(Say(ranks) == std::vector<std::string>{"operation 1 of communicator 'dp' is all_reduce of "
                                               "b on trainer 0, broadcast of c on trainer 1"});
}

TEST_CASE("servers: of those that wait for each other the trainer that does not ask is named") {
  const std::vector<Comm> asks = {{"ps", "", 0, 2, "server"}};
  const std::vector<Comm> serves = {{"requests", "", 0, 1, "trainer"}};
  std::vector<Rank> ranks;
  ranks.emplace_back("trainer", 0, asks).Waits("pull of w", "ps", Kind::kServers);
  ranks.emplace_back("trainer", 1, asks).Did("push of g", "ps", Kind::kServers);
  ranks.emplace_back("server", 0, serves)
      .Waits("the wait for requests", "requests", Kind::kClients);
  CHECK(Say(ranks) ==
        std::vector<std::string>{
            "trainer 1 stopped before event 1: the wait for requests; its last one, in step 3, was "
            "push of g; server 0 waits for it"});
  // A server that answers nobody, and does not wait, is what the trainers wait for.
  ranks.pop_back();
  ranks.emplace_back("server", 0, serves);
  CHECK(Say(ranks) == std::vector<std::string>{
                          "server 0 stopped before event 0: pull of w; trainer 0 waits for it"});
}

TEST_CASE("members without a recording are named, and nothing is said of ranks that agree") {
  std::vector<Rank> ranks;
  ranks.emplace_back("trainer", 0, Dp(0, 2)).Waits("all_reduce of g", "dp", Kind::kGroup);
  CHECK(Say(ranks) == std::vector<std::string>{
                          "waited for, and without a recording: member 1 of communicator 'dp'"});
  ranks.clear();
  for (int i = 0; i < 2; ++i)
    ranks.emplace_back("trainer", i, Dp(i, 2)).Did("all_reduce of a", "dp", Kind::kGroup);
  CHECK(Say(ranks).empty());
  CHECK(DivergenceOf({}).empty());
}

}  // namespace
}  // namespace dtranspile::flight
