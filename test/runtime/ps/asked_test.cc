// Pulls and lookups that programs of a server answer: what a program is told, once per pull
// whatever its messages, what each trainer gets, and how a failure ends. The protocol by itself.
#include "runtime/ps/asked.h"

#include <catch2/catch.hpp>
#include <cstring>

#include "runtime/ps/single_push.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {
namespace {

using exec::Turn;
using exec::When;
using Reading = Protocol::Reading;

exec::Table TableOf(const std::string& name, std::vector<int64_t> dims,
                    std::vector<float>& values) {
  exec::Table table;
  table.name = name;
  table.dims = std::move(dims);
  table.data = reinterpret_cast<std::byte*>(values.data());
  return table;
}

// What one request was answered with.
struct Word {
  bool given = false;
  absl::Status status;
  std::vector<float> values;
  Reply Take() {
    return [this](const absl::StatusOr<Served>& served) {
      CHECK(!given);
      given = true, status = served.status();
      if (!served.ok()) return;
      values.resize(static_cast<size_t>(served->bytes) / sizeof(float));
      std::memcpy(values.data(), served->memory.get() + served->begin,
                  static_cast<size_t>(served->bytes));
    };
  }
};

int64_t NumberIn(const Turn& turn, size_t at = 0) {
  int64_t number = -1;
  std::memcpy(&number, turn.arguments[0].data + at * sizeof(number), sizeof(number));
  return number;
}

const std::vector<exec::Rounds::Handler> kHandlers = {{When::kPull, "w"}, {When::kLookup, "t"}};

}  // namespace

TEST_CASE("a pull is answered when its program has run, each trainer's by itself") {
  std::vector<float> w = {1, 2}, t = {3, 4};
  Protocol protocol({"server 0", "trainer", 2, 60}, {TableOf("w", {2}, w), TableOf("t", {2, 1}, t)},
                    kHandlers);
  for (int trainer : {0, 1}) REQUIRE(protocol.Join(trainer).ok());
  const exec::Table& table = *protocol.Find("w");
  REQUIRE(protocol.Asks(table));
  Word words[2];
  for (int trainer : {1, 0})
    protocol.Ask(trainer, kStartUp, table, Reading::kPull, 0, {}, words[trainer].Take());
  for (int trainer : {1, 0}) {
    const auto turn = protocol.Next();
    REQUIRE(turn.ok());
    CHECK(turn->when == When::kPull);
    CHECK(turn->table == "w");
    CHECK(NumberIn(*turn) == trainer);
    CHECK(!words[trainer].given);
    w[0] += 10;
    protocol.Finish(absl::OkStatus());
    CHECK((words[trainer].given && words[trainer].status.ok()));
  }
  // The program of the second one changes nothing that the first one has.
  CHECK(words[1].values == std::vector<float>{11, 2});
  CHECK(words[0].values == std::vector<float>{21, 2});
}

TEST_CASE("the messages of one pull have one program, the next pull another one") {
  const auto count = static_cast<size_t>(kChunkBytes) / sizeof(float) + 1;
  std::vector<float> w(count, 1), t = {3, 4};
  Protocol protocol({"server 0", "trainer", 1, 60},
                    {TableOf("w", {static_cast<int64_t>(count)}, w), TableOf("t", {2, 1}, t)},
                    kHandlers);
  REQUIRE(protocol.Join(0).ok());
  const exec::Table& table = *protocol.Find("w");
  for (float value : {2.0F, 3.0F}) {
    Word first, second;
    protocol.Ask(0, kStartUp, table, Reading::kPull, 1, {}, first.Take());
    REQUIRE(protocol.Next().ok());
    w.assign(count, value);
    protocol.Finish(absl::OkStatus());
    w.assign(count, 7);  // of a later program: this pull does not see it
    protocol.Ask(0, kStartUp, table, Reading::kPull, 0, {}, second.Take());
    CHECK(first.values == std::vector<float>{value});
    REQUIRE(second.given);
    CHECK(second.values == std::vector<float>(count - 1, value));
  }
}

TEST_CASE("a program of lookups gets the numbers that rows have in the whole table") {
  std::vector<float> w = {1, 2}, t = {3, 4, 5, 6};
  exec::Table table = TableOf("t", {2, 2}, t);
  table.layout.emplace();
  table.layout->kind = exec::LayoutKind::kCyclic;
  table.layout->axes = {"ps"};
  table.layout->extent = 4;
  table.layout->whole = {4, 2};
  table.place = {1, 2};
  Protocol protocol({"server 1", "trainer", 1, 60}, {TableOf("w", {2}, w), table}, kHandlers);
  REQUIRE(protocol.Join(0).ok());
  Word word, pull;
  protocol.Ask(0, kStartUp, *protocol.Find("t"), Reading::kLookup, 0, {1, 0, 1}, word.Take());
  // No program of its own: answered on the way, and not while the other one runs.
  protocol.Ask(0, kStartUp, *protocol.Find("t"), Reading::kPull, 0, {}, pull.Take());
  const auto turn = protocol.Next();
  REQUIRE(turn.ok());
  CHECK(turn->when == When::kLookup);
  CHECK(turn->arguments[0].dims == std::vector<int64_t>{3, 1});
  CHECK(NumberIn(*turn, 0) == 3);
  CHECK(NumberIn(*turn, 1) == 1);
  CHECK(!pull.given);
  t[2] = 50;
  protocol.Finish(absl::OkStatus());
  CHECK(word.values == std::vector<float>{50, 6, 3, 4, 50, 6});
  protocol.Leave(0);
  CHECK(protocol.Next()->kind == Turn::Kind::kEnd);
  CHECK(pull.values == std::vector<float>{3, 4, 50, 6});
}

TEST_CASE("a request out of turn, and a program that fails, end the protocol by name") {
  std::vector<float> w = {1, 2}, t = {3, 4};
  Protocol protocol({"server 0", "trainer", 2, 60}, {TableOf("w", {2}, w), TableOf("t", {2, 1}, t)},
                    kHandlers);
  for (int trainer : {0, 1}) REQUIRE(protocol.Join(trainer).ok());
  Word running, waiting, early;
  protocol.Ask(0, kStartUp, *protocol.Find("w"), Reading::kPull, 0, {}, running.Take());
  protocol.Ask(1, kStartUp, *protocol.Find("t"), Reading::kLookup, 0, {0}, waiting.Take());
  REQUIRE(protocol.Next().ok());
  SECTION("a program fails") {
    protocol.Finish(absl::InternalError("no room"));
    const std::string why =
        "server 0 failed when it answered trainer 0's pull of table 'w': no room";
    CHECK(running.status.message() == why);
    CHECK(waiting.status.message() == why);
    CHECK(protocol.Next().status().message() == why);
  }
  SECTION("a trainer dies while the program runs") {
    protocol.Lost(1);
    protocol.Finish(absl::OkStatus());
    CHECK((running.given && waiting.given));
    CHECK(!waiting.status.ok());
  }
  SECTION("a pull of another round") {
    protocol.Ask(1, 3, *protocol.Find("w"), Reading::kPull, 0, {}, early.Take());
    CHECK(std::string(early.status.message()).find("comes too early") != std::string::npos);
    protocol.Finish(absl::OkStatus());
    CHECK((running.given && !running.status.ok()));
  }
}

TEST_CASE("without rounds a pull sees the trainer's pushes, and programs take turns") {
  std::vector<float> w = {0}, t = {0};
  SinglePushes protocol({"server 0", "trainer", 1, 60},
                        {TableOf("w", {1}, w), TableOf("t", {1, 1}, t)}, {"w"}, {"w"}, kHandlers);
  REQUIRE(protocol.Join(0).ok());
  float one = 1;
  Payload payload({grpc::Slice(&one, sizeof(one))}, 0);
  REQUIRE(protocol.Push(0, 0, "w", {exec::Merge::kEach, DType::kFloat32, 0, false, 0, 0}, payload)
              .ok());
  Word word;
  // After one push of its own.
  protocol.Ask(0, 1, *protocol.Find("w"), Reading::kPull, 0, {}, word.Take());
  REQUIRE(protocol.Next()->when == When::kPush);
  w[0] = 1;
  protocol.Finish(absl::OkStatus());
  CHECK(!word.given);
  REQUIRE(protocol.Next()->when == When::kPull);
  w[0] += 10;
  protocol.Finish(absl::OkStatus());
  CHECK(word.values == std::vector<float>{11});
}

}  // namespace dtranspile::ps
