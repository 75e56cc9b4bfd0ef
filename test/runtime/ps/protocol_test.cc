// A server's protocol by itself: what trainers may ask when, what each mistake is called, who is
// waited for, and the bits of a round.
#include "runtime/ps/protocol.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <thread>

#include "runtime/comm/half.h"
#include "runtime/comm/patience.h"

namespace dtranspile::ps {
namespace {

using exec::Merge;
using exec::Phase;

exec::Table Dense(const std::string& name, DType dtype, std::vector<int64_t> dims) {
  exec::Table table;
  table.name = name;
  table.dtype = dtype;
  table.dims = std::move(dims);
  return table;
}

Payload PayloadOf(const void* data, size_t bytes) { return {{grpc::Slice(data, bytes)}, 0}; }

template <typename T>
std::vector<T> Filled(size_t count, T value) {
  return std::vector<T>(count, value);
}

// What was answered, and whether.
struct Word {
  bool given = false;
  absl::Status status;
  Protocol::Answer Take() {
    return [this](const absl::Status& s) {
      CHECK(!given);
      given = true, status = s;
    };
  }
  std::string message() const { return std::string(status.message()); }
};

// Trainers of a server with tables w [4] and ids int64 [2].
struct Job {
  explicit Job(int trainers, double seconds = 60,
               std::vector<exec::Table> tables = {Dense("w", DType::kFloat32, {4}),
                                                  Dense("ids", DType::kInt64, {2})})
      : protocol({"server 0", "trainer", trainers, seconds,
                  [this](const std::string& why) { failures.push_back(why); }},
                 std::move(tables)) {
    for (int t = 0; t < trainers; ++t) REQUIRE(protocol.Join(t).ok());
  }

  absl::Status Push(int trainer, int64_t round, const std::string& table, std::vector<float> values,
                    Merge merge = Merge::kMean) {
    Payload payload = PayloadOf(values.data(), values.size() * sizeof(float));
    return protocol.Push(trainer, round, table, {merge, DType::kFloat32, 0, false, 0, 0}, payload);
  }
  std::string Wrong(int trainer, int64_t round, const std::string& table,
                    std::vector<float> values = {1, 1, 1, 1}, Merge merge = Merge::kMean) {
    return std::string(Push(trainer, round, table, std::move(values), merge).message());
  }

  // All trainers end a phase.
  void End(int trainers, int64_t round, Phase phase) {
    std::vector<Word> words(static_cast<size_t>(trainers));
    for (int t = 0; t < trainers; ++t) {
      for (int before = 0; before < t; ++before) CHECK(!words[static_cast<size_t>(before)].given);
      protocol.EndPhase(t, round, phase, words[static_cast<size_t>(t)].Take());
    }
    for (const Word& word : words) CHECK((word.given && word.status.ok()));
  }

  std::vector<std::string> failures;
  Protocol protocol;
};

std::vector<float> MergedOf(Protocol& protocol, const std::string& table, int64_t block,
                            std::vector<int64_t> dims) {
  int64_t count = 1;
  for (int64_t d : dims) count *= d;
  std::vector<float> out(static_cast<size_t>(count));
  const absl::Status status = protocol.Merged(
      table, block, {DType::kFloat32, dims, reinterpret_cast<std::byte*>(out.data())});
  INFO(status.message());
  REQUIRE(status.ok());
  return out;
}

}  // namespace

TEST_CASE("rounds: pulls of the start-up, pushes, the round, its pulls, the end") {
  Job job(2);
  Word early;
  job.protocol.Read(0, kStartUp, "w", Protocol::Reading::kPull, early.Take());
  CHECK((early.given && early.status.ok()));
  job.End(2, kStartUp, Phase::kPull);
  for (int64_t round = 0; round < 3; ++round) {
    // Whoever comes first.
    const int first = static_cast<int>(round % 2);
    const auto value = [&](int t) { return static_cast<float>(t + 1 + 10 * round); };
    for (const int t : {first, 1 - first})
      REQUIRE(job.Push(t, round, "w", Filled(4, value(t))).ok());
    job.End(2, round, Phase::kPush);
    const auto turn = job.protocol.Next();
    REQUIRE(turn.ok());
    CHECK(turn->kind == exec::Turn::Kind::kProgram);
    CHECK(turn->when == exec::When::kRound);
    CHECK(turn->round == round);
    Word pull, lookup;
    job.protocol.Read(1, round, "w", Protocol::Reading::kPull, pull.Take());
    job.protocol.Read(0, round, "w", Protocol::Reading::kLookup, lookup.Take());
    CHECK(!pull.given);
    CHECK(!lookup.given);
    CHECK(MergedOf(job.protocol, "w", -1, {4}) == Filled(4, (value(0) + value(1)) / 2));
    job.protocol.Finish(absl::OkStatus());
    CHECK((pull.given && pull.status.ok()));
    CHECK((lookup.given && lookup.status.ok()));
    job.End(2, round, Phase::kPull);
    Word beside;
    job.protocol.Read(0, round + 1, "w", Protocol::Reading::kLookup, beside.Take());
    CHECK((beside.given && beside.status.ok()));
  }
  job.protocol.Leave(0);
  job.protocol.Leave(1);
  const auto end = job.protocol.Next();
  REQUIRE(end.ok());
  CHECK(end->kind == exec::Turn::Kind::kEnd);
  job.protocol.Lost(1);
  CHECK(job.failures.empty());
}

TEST_CASE("a checkpoint that a trainer asks for is that of one round") {
  Job job(2);
  job.End(2, kStartUp, Phase::kPull);
  // Too early, and of another round: nobody's.
  job.protocol.CheckpointAfter(kStartUp);
  job.protocol.CheckpointAfter(1);
  for (int64_t round = 0; round < 3; ++round) {
    for (const int t : {0, 1}) REQUIRE(job.Push(t, round, "w", Filled(4, 1.0F)).ok());
    if (round == 1) job.protocol.CheckpointAfter(round);
    job.End(2, round, Phase::kPush);
    const auto turn = job.protocol.Next();
    REQUIRE(turn.ok());
    CHECK(turn->asked == (round == 1));
    job.protocol.Finish(absl::OkStatus());
    job.End(2, round, Phase::kPull);
  }
}

TEST_CASE("a trainer that has left is not waited for, and the mean is that of the others") {
  Job job(3);
  job.End(3, kStartUp, Phase::kPull);
  job.protocol.Leave(1);
  for (const int t : {2, 0}) REQUIRE(job.Push(t, 0, "w", Filled(4, static_cast<float>(t))).ok());
  std::vector<Word> words(2);
  job.protocol.EndPhase(2, 0, Phase::kPush, words[0].Take());
  job.protocol.EndPhase(0, 0, Phase::kPush, words[1].Take());
  REQUIRE(words[0].given);
  REQUIRE(job.protocol.Next().ok());
  CHECK(MergedOf(job.protocol, "w", -1, {4}) == Filled(4, 1.0F));
  job.protocol.Finish(absl::OkStatus());
  // The last one that is waited for leaves.
  Word pulled;
  job.protocol.EndPhase(0, 0, Phase::kPull, pulled.Take());
  CHECK(!pulled.given);
  job.protocol.Leave(2);
  CHECK((pulled.given && pulled.status.ok()));
  REQUIRE(job.Push(0, 1, "w", Filled(4, 1.0F)).ok());
  job.protocol.Leave(0);
  CHECK(job.protocol.Next().status().message() ==
        "trainer 0 leaves in the middle of the pushes of round 1");
}

TEST_CASE("what is out of turn, twice, missing or of the wrong kind ends the job by name") {
  struct Case {
    const char* what;
    std::function<std::string(Job&)> make;
    std::string message;
  };
  const auto pull = [](Job& job, int trainer, int64_t round, const char* table) {
    Word word;
    job.protocol.Read(trainer, round, table, Protocol::Reading::kPull, word.Take());
    CHECK(word.given);
    return word.message();
  };
  const auto end = [](Job& job, int trainer, int64_t round, Phase phase) {
    Word word;
    job.protocol.EndPhase(trainer, round, phase, word.Take());
    CHECK(word.given);
    return word.message();
  };
  const Case cases[] = {
      {"table", [](Job& j) { return j.Wrong(1, 0, "v"); },
       "trainer 1's push of table 'v' in round 0 is for none of the tables of server 0"},
      {"early", [](Job& j) { return j.Wrong(1, 1, "w"); },
       "trainer 1's push of table 'w' in round 1 comes too early: server 0 is in the pushes of "
       "round 0"},
      {"late", [](Job& j) { return j.Wrong(1, -1, "w"); },
       "trainer 1's push of table 'w' in the start-up comes late: server 0 is in the pushes of "
       "round 0"},
      {"after the end",
       [](Job& j) {
         Word word;
         j.protocol.EndPhase(1, 0, Phase::kPush, word.Take());
         return j.Wrong(1, 0, "w");
       },
       "trainer 1's push of table 'w' in round 0 comes late: it has ended its pushes of that "
       "round"},
      {"twice",
       [](Job& j) {
         REQUIRE(j.Push(1, 0, "w", {1, 1, 1, 1}).ok());
         return j.Wrong(1, 0, "w");
       },
       "trainer 1's push of table 'w' in round 0 has come twice"},
      {"size", [](Job& j) { return j.Wrong(0, 0, "w", {1, 2, 3}); },
       "trainer 0's push of table 'w' in round 0 has 12 bytes in message 0, not 16"},
      {"type", [](Job& j) { return j.Wrong(0, 0, "ids", {1, 2, 3, 4}, Merge::kSum); },
       "trainer 0's push of table 'ids' in round 0 is float32, and the table int64"},
      {"mean of integers", [](Job& j) { return j.Wrong(0, 0, "ids"); },
       "trainer 0's push of table 'ids' in round 0 is int64, of which there is no mean"},
      {"each", [](Job& j) { return j.Wrong(0, 0, "w", {1, 1, 1, 1}, Merge::kEach); },
       "trainer 0's push of table 'w' in round 0 is merged each by itself, which synchronous "
       "rounds do not do; push the mean or the sum"},
      {"merge",
       [](Job& j) {
         REQUIRE(j.Push(1, 0, "w", {1, 1, 1, 1}).ok());
         return j.Wrong(0, 0, "w", {1, 1, 1, 1}, Merge::kSum);
       },
       "trainer 0's push of table 'w' in round 0 is for the sum, that of trainer 1 for the mean"},
      {"kind",
       [](Job& j) {
         REQUIRE(j.Push(1, 0, "w", {1, 1, 1, 1}).ok());
         Payload payload;
         return std::string(
             j.protocol.Push(0, 0, "w", {Merge::kMean, DType::kFloat32, 0, true, 0, 0}, payload)
                 .message());
       },
       "trainer 0's push of table 'w' in round 0 is SelectedRows, that of trainer 1 dense"},
      {"missing",
       [](Job& j) {
         REQUIRE(j.Push(1, 0, "w", {1, 1, 1, 1}).ok());
         std::vector<Word> words(2);
         for (int t = 0; t < 2; ++t)
           j.protocol.EndPhase(t, 0, Phase::kPush, words[static_cast<size_t>(t)].Take());
         CHECK(words[0].message() == words[1].message());
         return words[1].message();
       },
       "trainer 0 has pushed nothing for table 'w' in round 0, and trainer 1 has"},
      {"pull among pushes", [&](Job& j) { return pull(j, 1, 0, "w"); },
       "trainer 1's pull of table 'w' in round 0 comes too early: server 0 is in the pushes of "
       "round 0"},
      {"pull of an old round", [&](Job& j) { return pull(j, 1, -1, "w"); },
       "trainer 1's pull of table 'w' in the start-up comes too late: server 0 is in the pushes "
       "of round 0"},
      {"pull of nothing", [&](Job& j) { return pull(j, 1, 0, "v"); },
       "trainer 1's pull of table 'v' in round 0 is for none of the tables of server 0"},
      {"wrong phase", [&](Job& j) { return end(j, 0, 0, Phase::kPull); },
       "trainer 0 ends its pulls of round 0 out of turn: server 0 is in the pushes of round 0"},
      {"phase twice",
       [&](Job& j) {
         Word word;
         j.protocol.EndPhase(0, 0, Phase::kPush, word.Take());
         return end(j, 0, 0, Phase::kPush);
       },
       "trainer 0 ends its pushes of round 0 twice"},
      {"death",
       [](Job& j) {
         j.protocol.Lost(1);
         return std::string(j.protocol.failure().message());
       },
       "trainer 1 is dead, or gives no sign of life: its connection to server 0 was lost, and it "
       "had not left"},
  };
  for (const Case& one : cases) {
    INFO(one.what);
    Job job(2);
    job.End(2, kStartUp, Phase::kPull);
    CHECK(one.make(job) == one.message);
    // Everybody is told the same, from then on.
    REQUIRE(job.failures == std::vector<std::string>{one.message});
    CHECK(job.protocol.Next().status().message() == one.message);
    CHECK(job.Wrong(0, 0, "w") == one.message);
    CHECK(pull(job, 0, 0, "w") == one.message);
    CHECK(end(job, 1, 0, Phase::kPush) == one.message);
    CHECK(job.protocol.Join(0).message() == one.message);
  }
}

TEST_CASE("who comes twice, or is none of the job, is turned away") {
  Job job(2);
  CHECK(absl::IsAlreadyExists(job.protocol.Join(1)));
  CHECK(job.protocol.Join(2).message() == "trainer 2 is none of the 2 that server 0 has");
  CHECK(!job.protocol.Join(-1).ok());
  CHECK(job.failures.empty());
}

TEST_CASE("waits end at the deadline and name who is missing") {
  constexpr double kSeconds = 0.3;
  const auto wait = [&](Protocol& protocol) {
    const int64_t begin = comm::NowNs();
    const std::string message(protocol.Next().status().message());
    const double took = static_cast<double>(comm::NowNs() - begin) * 1e-9;
    CHECK(took > kSeconds * 0.8);
    CHECK(took < kSeconds * 10);
    return message;
  };
  {
    Protocol protocol({"server 1", "trainer", 3, kSeconds, nullptr}, {});
    REQUIRE(protocol.Join(1).ok());
    CHECK(wait(protocol) == "trainers 0, 2 have not come to server 1 within 0.3 s");
  }
  Job job(3, kSeconds);
  // Nobody waits, so that there is no deadline.
  std::thread later([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(500));
    job.End(3, kStartUp, Phase::kPull);
    for (int t = 0; t < 3; ++t) REQUIRE(job.Push(t, 0, "w", Filled(4, 1.0F)).ok());
    job.End(3, 0, Phase::kPush);
  });
  REQUIRE(job.protocol.Next().ok());
  later.join();
  // What the server computes is not waited for.
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  job.protocol.Finish(absl::OkStatus());
  std::vector<Word> words(2);
  job.protocol.EndPhase(2, 0, Phase::kPull, words[0].Take());
  job.protocol.EndPhase(0, 0, Phase::kPull, words[1].Take());
  CHECK(wait(job.protocol) ==
        "trainer 1 has not ended the pulls of round 0 within 0.3 s, and trainers 0, 2 wait");
  CHECK(words[1].message() == job.failures.at(0));
}

TEST_CASE("a round fails with the server's program, and where nothing was pushed") {
  Job job(1);
  job.End(1, kStartUp, Phase::kPull);
  float out[4];
  const exec::TensorRoom room = {DType::kFloat32, {4}, reinterpret_cast<std::byte*>(out)};
  CHECK(job.protocol.Merged("w", -1, room).message() ==
        "nothing is merged now: server 0 is in the pushes of round 0");
  job.End(1, 0, Phase::kPush);
  REQUIRE(job.protocol.Next().ok());
  const absl::Status missing = job.protocol.Merged("w", -1, room);
  CHECK(absl::IsFailedPrecondition(missing));
  CHECK(missing.message() == "trainer 0 has pushed nothing for table 'w' in round 0");
  CHECK(absl::IsNotFound(job.protocol.Merged("v", -1, room)));
  Word pull;
  job.protocol.Read(0, 0, "w", Protocol::Reading::kPull, pull.Take());
  job.protocol.Finish(missing);
  CHECK(pull.message() ==
        "server 0 failed in round 0: trainer 0 has pushed nothing for table 'w' in round 0");
}

TEST_CASE("a push of several messages, in any order") {
  constexpr int64_t kCount = 3 * kChunkBytes / 4 + 5;
  Job job(1, 60, {Dense("large", DType::kFloat32, {kCount})});
  job.End(1, kStartUp, Phase::kPull);
  std::vector<float> values(kCount);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i % 1000);
  const auto push = [&](int64_t chunk, int64_t bytes) {
    Payload payload = PayloadOf(reinterpret_cast<const char*>(values.data()) + chunk * kChunkBytes,
                                static_cast<size_t>(bytes));
    return job.protocol.Push(0, 0, "large", {Merge::kSum, DType::kFloat32, chunk, false, 0, 0},
                             payload);
  };
  for (const int64_t chunk : {2, 0, 3}) REQUIRE(push(chunk, chunk == 3 ? 20 : kChunkBytes).ok());
  SECTION("all of them") {
    REQUIRE(push(1, kChunkBytes).ok());
    job.End(1, 0, Phase::kPush);
    REQUIRE(job.protocol.Next().ok());
    CHECK(MergedOf(job.protocol, "large", -1, {kCount}) == values);
  }
  SECTION("one is missing") {
    Word word;
    job.protocol.EndPhase(0, 0, Phase::kPush, word.Take());
    CHECK(word.message() ==
          "trainer 0's push of table 'large' in round 0 lacks some of its messages, and it has "
          "ended its pushes");
  }
  SECTION("one is none") {
    CHECK(push(4, 0).message() ==
          "trainer 0's push of table 'large' in round 0 has a message 4 of 4");
  }
}

TEST_CASE("blocks of a part are merged by themselves; the room of even parts has a pad") {
  exec::Layout layout;
  layout.kind = exec::LayoutKind::kBlocks;
  layout.axes = {"ps"};
  layout.extent = 5;
  layout.per = 2;
  layout.whole = {5, 2};
  exec::Table table = Dense("m", DType::kFloat32, {3, 2});  // rows 0, 1, 4
  table.layout = layout;
  table.place = {0, 2};
  exec::Table nothing = Dense("n", DType::kFloat32, {0, 2});
  Job job(2, 60, {table, nothing});
  job.End(2, kStartUp, Phase::kPull);
  REQUIRE(job.Push(1, 0, "m", {10, 20, 30, 40, 50, 60}, Merge::kSum).ok());
  REQUIRE(job.Push(0, 0, "m", {1, 2, 3, 4, 5, 6}, Merge::kSum).ok());
  job.End(2, 0, Phase::kPush);
  REQUIRE(job.protocol.Next().ok());
  CHECK(MergedOf(job.protocol, "m", 0, {2, 2}) == std::vector<float>{11, 22, 33, 44});
  CHECK(MergedOf(job.protocol, "m", 2, {1, 2}) == std::vector<float>{55, 66});
  CHECK(MergedOf(job.protocol, "m", -1, {3, 2}) == std::vector<float>{11, 22, 33, 44, 55, 66});
  CHECK(MergedOf(job.protocol, "m", -1, {4, 2}) ==
        std::vector<float>{11, 22, 33, 44, 55, 66, 0, 0});
  CHECK(MergedOf(job.protocol, "n", -1, {1, 2}) == std::vector<float>{0, 0});
  float out[8];
  const auto merged = [&](int64_t block, std::vector<int64_t> dims) {
    return std::string(
        job.protocol.Merged("m", block, {DType::kFloat32, dims, reinterpret_cast<std::byte*>(out)})
            .message());
  };
  CHECK(merged(1, {2, 2}) == "block 1 of table 'm' is not on server 0");
  CHECK(merged(3, {2, 2}) == "block 3 of table 'm' is not on server 0");
  CHECK(merged(2, {2, 2}) == "what is merged of table 'm' is float32[1, 2], not float32[2, 2]");
}

TEST_CASE("SelectedRows are merged in the order of the trainers, as rows and dense") {
  exec::Layout layout;
  layout.kind = exec::LayoutKind::kBlocks;
  layout.axes = {"ps"};
  layout.extent = 6;
  layout.per = 2;
  layout.whole = {6, 2};
  exec::Table table = Dense("t", DType::kFloat32, {4, 2});  // blocks 0 and 2
  table.layout = layout;
  table.place = {0, 2};
  Job job(3, 60, {table});
  job.End(3, kStartUp, Phase::kPull);
  const auto push = [&](int trainer, std::vector<int64_t> rows, std::vector<float> values) {
    std::string bytes(reinterpret_cast<const char*>(rows.data()), rows.size() * sizeof(int64_t));
    bytes.append(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(float));
    Payload payload = PayloadOf(bytes.data(), bytes.size());
    return job.protocol.Push(
        trainer, 0, "t",
        {Merge::kMean, DType::kFloat32, 0, true, static_cast<int64_t>(rows.size()), 0}, payload);
  };
  SECTION("merged") {
    REQUIRE(push(2, {3, 0, 3}, {3, 3, 6, 6, 9, 9}).ok());
    REQUIRE(push(0, {0, 2}, {30, 60, 3, 3}).ok());
    REQUIRE(push(1, {}, {}).ok());
    job.End(3, 0, Phase::kPush);
    REQUIRE(job.protocol.Next().ok());
    constexpr float kThird = static_cast<float>(1.0 / 3);
    exec::Value rows(exec::Value::Kind::kRows, DType::kFloat32);
    REQUIRE(job.protocol.MergedRows("t", -1, rows).ok());
    CHECK(rows.rows == std::vector<int64_t>{0, 2, 3, 0, 3});
    CHECK(rows.height == 4);
    CHECK(rows.dims == std::vector<int64_t>{5, 2});
    CHECK(rows.as<float>()[1] == 60 * kThird);
    // Block 2 begins at row 2 of the part.
    REQUIRE(job.protocol.MergedRows("t", 2, rows).ok());
    CHECK(rows.rows == std::vector<int64_t>{0, 1, 1});
    CHECK(rows.height == 2);
    CHECK(rows.as<float>()[4] == 9 * kThird);
    CHECK(MergedOf(job.protocol, "t", 0, {2, 2}) ==
          std::vector<float>{36 * kThird, 66 * kThird, 0, 0});
    CHECK(MergedOf(job.protocol, "t", 2, {2, 2}) ==
          std::vector<float>{3 * kThird, 3 * kThird, 12 * kThird, 12 * kThird});
  }
  SECTION("wrong rows") {
    CHECK(push(1, {4}, {1, 1}).message() ==
          "trainer 1's push of table 't' in round 0 has row 4, and the table here has 4");
  }
  SECTION("wrong size") {
    CHECK(push(1, {1, 2}, {1, 1}).message() ==
          "trainer 1's push of table 't' in round 0 has 24 bytes in message 0, not 32");
  }
  SECTION("a number of rows that nobody has memory for") {
    Payload payload;
    CHECK(
        job.protocol
            .Push(1, 0, "t", {Merge::kMean, DType::kFloat32, 0, true, int64_t{1} << 60, 0}, payload)
            .message() ==
        "trainer 1's push of table 't' in round 0 has 1152921504606846976 "
        "rows, and at most 4294967296 are taken");
  }
}

TEST_CASE("bits do not depend on who comes first; halves are rounded once") {
  // Sums in another order differ: the trainers' values have different magnitudes.
  constexpr int kTrainers = 5;
  const auto value = [](int t, size_t i) {
    return std::ldexp(1.0F + static_cast<float>((i * 37 + static_cast<size_t>(t) * 11) % 101) / 101,
                      (t * 7) % 5 - 10);
  };
  std::vector<std::vector<uint16_t>> halves(kTrainers, std::vector<uint16_t>(1000));
  std::vector<std::vector<float>> floats(kTrainers, std::vector<float>(1000));
  for (int t = 0; t < kTrainers; ++t) {
    auto& mine = floats[static_cast<size_t>(t)];
    for (size_t i = 0; i < mine.size(); ++i) mine[i] = value(t, i);
    comm::StoreFloat16(mine.data(),
                       reinterpret_cast<std::byte*>(halves[static_cast<size_t>(t)].data()), 1000);
  }
  std::vector<int> order = {0, 1, 2, 3, 4};
  std::vector<float> expected;
  do {
    Job job(kTrainers, 60,
            {Dense("f", DType::kFloat32, {1000}), Dense("h", DType::kFloat16, {10, 100})});
    job.End(kTrainers, kStartUp, Phase::kPull);
    for (const int t : order) {
      const auto at = static_cast<size_t>(t);
      REQUIRE(job.Push(t, 0, "f", floats[at]).ok());
      Payload payload = PayloadOf(halves[at].data(), 2000);
      REQUIRE(job.protocol.Push(t, 0, "h", {Merge::kMean, DType::kFloat16, 0, false, 0, 0}, payload)
                  .ok());
    }
    job.End(kTrainers, 0, Phase::kPush);
    REQUIRE(job.protocol.Next().ok());
    const std::vector<float> merged = MergedOf(job.protocol, "f", -1, {1000});
    if (expected.empty()) {
      expected.resize(1000);
      for (size_t i = 0; i < 1000; ++i) {
        float sum = floats[0][i];
        for (size_t t = 1; t < kTrainers; ++t) sum += floats[t][i];
        expected[i] = sum * static_cast<float>(1.0 / kTrainers);
      }
    }
    CHECK((merged == expected));
    std::vector<uint16_t> half(1000), right(1000);
    REQUIRE(job.protocol
                .Merged("h", -1,
                        {DType::kFloat16, {10, 100}, reinterpret_cast<std::byte*>(half.data())})
                .ok());
    std::vector<float> sum(1000), next(1000);
    for (size_t t = 0; t < kTrainers; ++t) {
      comm::LoadFloat16(reinterpret_cast<const std::byte*>(halves[t].data()), next.data(), 1000);
      for (size_t i = 0; i < 1000; ++i) sum[i] = t == 0 ? next[i] : sum[i] + next[i];
    }
    for (float& s : sum) s *= static_cast<float>(1.0 / kTrainers);
    comm::StoreFloat16(sum.data(), reinterpret_cast<std::byte*>(right.data()), 1000);
    CHECK((half == right));
  } while (std::next_permutation(order.begin(), order.end()));
}

}  // namespace dtranspile::ps
