// Data sets: lines, descriptions, whose sample comes when, and what is said of bad ones.
#include "runtime/data/dataset.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>

#include "runtime/io/feed.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::data {
namespace {

using Catch::Contains;
using Catch::Equals;

const std::vector<Slot> kSlots = {
    {.name = "click", .integers = true, .dense = true, .shape = {1}},
    {.name = "skip", .integers = false, .used = false},
    {.name = "ids", .integers = true},
    {.name = "price", .integers = false, .dense = true, .shape = {2}},
};

std::string refusal(const std::string& line) {
  Samples samples;
  return std::string(ParseSample(kSlots, line, samples).message());
}

void write(const std::string& path, const std::string& text) { std::ofstream(path) << text; }

// Files of one-value samples: sample k of file f is 100 f + k.
std::string description(const test::TempFolder& folder, const std::vector<int>& counts,
                        const std::string& more) {
  std::string files;
  for (size_t f = 0; f < counts.size(); ++f) {
    std::string text;
    for (int k = 0; k < counts[f]; ++k)
      text += "1 " + std::to_string(100 * f + static_cast<size_t>(k)) + "\n";
    const std::string name = "part-" + std::to_string(f);
    write(folder.path() + "/" + name, text);
    files += (f ? ", \"" : "\"") + name + "\"";
  }
  const std::string path = folder.path() + "/data.json";
  write(path, "{\"files\": [" + files +
                  "], \"slots\": [{\"name\": \"x\", \"type\": \"uint64\", \"dense\": true, "
                  "\"shape\": [1]}], " +
                  more + "}");
  return path;
}

// The values of feed x per step.
std::vector<std::vector<int64_t>> fed(const std::string& path, int64_t trainers,
                                      std::vector<std::string>* notes = nullptr) {
  const test::TempFolder out;
  auto dataset = ReadDataset(path);
  REQUIRE(dataset.ok());
  auto result = WriteFeeds(*dataset, trainers, 2, out.path());
  INFO(result.status().message());
  REQUIRE(result.ok());
  if (notes) *notes = result->notes;
  auto feed = io::Feed::Open(out.path(), "x");
  REQUIRE(feed.ok());
  CHECK(feed->steps() == result->steps);
  std::vector<std::vector<int64_t>> steps;
  for (int64_t step = 0; step < feed->steps(); ++step) {
    auto value = feed->Read(step);
    REQUIRE(value.ok());
    const auto* data = reinterpret_cast<const int64_t*>(value->bytes.data());
    steps.emplace_back(data, data + value->dims[0]);
  }
  return steps;
}

}  // namespace

TEST_CASE("a line is, for each slot, the number of its values and the values") {
  Samples samples;
  REQUIRE(
      ParseSample(kSlots, "1 1 2 0.5 7 3 5 18446744073709551615 -3\t2 1e-3 nan\r", samples).ok());
  CHECK(samples.count == 1);
  CHECK(samples.columns[0].integers == std::vector<int64_t>{1});
  CHECK(samples.columns[1].numbers.empty());
  CHECK(samples.columns[2].integers == std::vector<int64_t>{5, -1, -3});
  CHECK(samples.columns[3].numbers[0] == 1e-3F);
  CHECK(std::isnan(samples.columns[3].numbers[1]));
}

TEST_CASE("what a line lacks or has too much of is said of the slot") {
  CHECK_THAT(refusal(""), Equals("the line ends before slot 'click', the 1. of 4"));
  CHECK_THAT(refusal("1 1 1 0"), Equals("the line ends before slot 'ids', the 3. of 4"));
  CHECK_THAT(refusal("x 1"), Equals("slot 'click': the number of its values is 'x'; expected a "
                                    "whole number"));
  CHECK_THAT(refusal("2 1 1"), Equals("slot 'click' has 2 values; it is dense, with 1"));
  CHECK_THAT(refusal("0"), Equals("slot 'click' has no value; write one that stands for none"));
  CHECK_THAT(refusal("-1"), Contains("expected a whole number"));
  CHECK_THAT(refusal("1 1.5"), Equals("slot 'click': value 1, '1.5', is no integer of 64 bits"));
  CHECK_THAT(refusal("1 18446744073709551616"), Contains("is no integer of 64 bits"));
  CHECK_THAT(refusal("1 1 1 z"), Equals("slot 'skip': value 1, 'z', is no number"));
  CHECK_THAT(refusal("1 1 1 0 3 7 8"), Equals("slot 'ids' says 3 values, the line has 2"));
  CHECK_THAT(refusal("1 1 1 0 1 7 2 0 0 9"),
             Equals("the line goes on with '9' after the last slot, 'price'"));
  CHECK_THAT(refusal("999999999999 1"), Contains("it is dense, with 1"));
}

TEST_CASE("each trainer has files of its own, and the step the batches of all") {
  const test::TempFolder folder;
  const std::string path =
      description(folder, {3, 2, 5}, R"("type": "QueueDataset", "batch_size": 2)");
  std::vector<std::string> notes;
  CHECK(fed(path, 2, &notes) ==
        std::vector<std::vector<int64_t>>{{0, 1, 200, 201}, {2, 100, 202, 203}});
  CHECK(notes == std::vector<std::string>{
                     "trainer 0: 1 samples after step 2 are left out: they make no whole batch",
                     "trainer 1: 1 samples after step 2 are left out: they make no whole batch"});
  CHECK(fed(path, 1, &notes).size() == 5);
  CHECK(notes.empty());
}

TEST_CASE("whole batches that other trainers do not have are left out and counted") {
  const test::TempFolder folder;
  std::vector<std::string> notes;
  CHECK(fed(description(folder, {2, 7}, R"("type": "QueueDataset", "batch_size": 2)"), 2, &notes)
            .size() == 1);
  CHECK(notes ==
        std::vector<std::string>{
            "trainer 1: 5 samples after step 1 are left out: another trainer has no batch"});
}

TEST_CASE("epochs go through the files again; batches go on over the end of a file") {
  const test::TempFolder folder;
  CHECK(fed(description(folder, {3}, R"("type": "QueueDataset", "batch_size": 2, "epochs": 2)"),
            1) == std::vector<std::vector<int64_t>>{{0, 1}, {2, 0}, {1, 2}});
}

TEST_CASE("shuffles are permutations, the same in every run, others in every epoch") {
  const test::TempFolder folder;
  const auto sorted = [](std::vector<std::vector<int64_t>> steps, size_t from, size_t to) {
    std::vector<int64_t> all;
    for (size_t s = from; s < to; ++s) all.insert(all.end(), steps[s].begin(), steps[s].end());
    std::sort(all.begin(), all.end());
    return all;
  };
  const std::string local =
      R"("type": "InMemoryDataset", "batch_size": 3, "shuffle": "local", "epochs": 2, "seed": 7)";
  const auto first = fed(description(folder, {6, 6}, local), 2);
  REQUIRE(first.size() == 4);
  CHECK(first == fed(folder.path() + "/data.json", 2));
  CHECK(sorted(first, 0, 2) ==
        std::vector<int64_t>{0, 1, 2, 3, 4, 5, 100, 101, 102, 103, 104, 105});
  CHECK(sorted(first, 2, 4) == sorted(first, 0, 2));
  CHECK(std::vector(first.begin(), first.begin() + 2) !=
        std::vector(first.begin() + 2, first.end()));
  for (const auto& step : first) {
    CHECK(step[0] < 100);  // its own samples only
    CHECK(step[3] >= 100);
  }
  // All samples to all trainers, also with fewer files.
  const auto global = fed(
      description(folder, {12},
                  R"("type": "InMemoryDataset", "batch_size": 3, "shuffle": "global", "seed": 1)"),
      2);
  CHECK(sorted(global, 0, 2) == std::vector<int64_t>{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11});
  CHECK(global !=
        fed(description(
                folder, {12},
                R"("type": "InMemoryDataset", "batch_size": 3, "shuffle": "global", "seed": 2)"),
            2));
}

TEST_CASE("ragged slots become sequences") {
  const test::TempFolder folder, out;
  write(folder.path() + "/a", "2 7 8\n1 9\n3 1 2 3\n1 4\n");
  write(folder.path() + "/d.json",
        R"({"type": "QueueDataset", "files": ["a"], "batch_size": 2,
            "slots": [{"name": "ids", "type": "uint64"}]})");
  auto result = WriteFeeds(*ReadDataset(folder.path() + "/d.json"), 1, 1, out.path());
  REQUIRE(result.ok());
  auto feed = io::Feed::Open(out.path(), "ids");
  REQUIRE(feed.ok());
  REQUIRE(feed->steps() == 2);
  auto value = feed->Read(1);
  CHECK(value->dims == std::vector<int64_t>{4, 1});
  CHECK(value->lod == Lod{{0, 3, 4}});
}

TEST_CASE("files and commands that fail are named") {
  const test::TempFolder folder, out;
  const auto failure = [&](const std::string& more, int64_t trainers) {
    auto dataset = ReadDataset(description(folder, {2, 2}, more));
    REQUIRE(dataset.ok());
    return std::string(WriteFeeds(*dataset, trainers, 2, out.path()).status().message());
  };
  const std::string queue = R"("type": "QueueDataset", "batch_size": 2)";
  CHECK_THAT(failure(queue, 3), Contains("2 files for 3 trainers") && Contains("part-0") &&
                                    Contains("\"shuffle\": \"global\""));
  CHECK_THAT(failure(R"("type": "QueueDataset", "batch_size": 9)", 2),
             Contains("no step: not every trainer has a batch of 9"));
  CHECK_THAT(failure(queue + R"(, "pipe_command": "sed s/1/x/")", 1),
             Contains("part-0:1: slot 'x': the number of its values is 'x'"));
  CHECK_THAT(failure(queue + R"(, "pipe_command": "exit 3")", 1),
             Contains("part-0: pipe_command 'exit 3' has ended with 3"));
  CHECK_THAT(failure(queue + R"(, "pipe_command": "kill -9 $$")", 1),
             Contains("part-0: pipe_command 'kill -9 $$' has ended with signal 9 (Killed)"));
  // Ended by us, with what they have begun.
  CHECK_THAT(failure(queue + R"(, "pipe_command": "yes")", 1),
             Contains("part-0:1: slot 'x': the number of its values is 'y'"));
  CHECK_THAT(failure(queue + R"(, "pipe_command": "sleep 1000 > /dev/null & exit 3")", 1),
             Contains("has ended with 3"));
  // Silent ones, stopped ones, and those that never end.
  const std::string second = queue + R"(, "pipe_command_seconds": 1, "pipe_command": )";
  for (const char* silent : {"sleep 1000", "kill -STOP $$", "cat; kill -STOP $PPID; sleep 1000"})
    CHECK_THAT(failure(second + "\"" + silent + "\"", 1),
               Contains("part-0: pipe_command '" + std::string(silent) +
                        "' has given nothing for 1 s; it hangs, or give it more "
                        "\"pipe_command_seconds\""));
  CHECK_THAT(failure(second + R"("cat; exec >&-; sleep 1000")", 1),
             Contains("has closed its output and has not ended for 1 s"));
  write(folder.path() + "/data.json",
        R"({"type": "QueueDataset", "files": ["none"], "batch_size": 1,
            "slots": [{"name": "x", "type": "float"}]})");
  CHECK_THAT(std::string(WriteFeeds(*ReadDataset(folder.path() + "/data.json"), 1, 1, out.path())
                             .status()
                             .message()),
             Contains(folder.path() + "/none"));
}

TEST_CASE("descriptions are refused by key") {
  const test::TempFolder folder;
  const std::string path = folder.path() + "/d.json";
  const auto refused = [&](const std::string& text) {
    write(path, text);
    return std::string(ReadDataset(path).status().message());
  };
  const std::string slots = R"("slots": [{"name": "x", "type": "float"}])";
  const std::string rest = R"("type": "QueueDataset", "files": ["a"], "batch_size": 1, )";
  CHECK_THAT(refused("[]"), Contains("expected an object"));
  CHECK_THAT(refused("{" + rest + slots + R"(, "thread": 2})"), Contains("no key 'thread'; known"));
  CHECK_THAT(refused("{" + slots + "}"), Contains("'type' is missing"));
  CHECK_THAT(refused(R"({"type": "Dataset"})"),
             Contains(R"('type': expected "QueueDataset" or "InMemoryDataset")"));
  CHECK_THAT(refused("{" + rest + slots + R"(, "epochs": 0})"), Contains("a whole number from 1"));
  CHECK_THAT(refused("{" + rest + slots + R"(, "epochs": -9223372036854775808})"),
             Contains("a whole number from 1"));
  CHECK_THAT(refused("{" + rest + slots + R"(, "epochs": 18446744073709551615})"),
             Contains("a whole number from 1"));
  CHECK_THAT(refused("{" + rest + slots + R"(, "seed": -1})"), Contains("a whole number from 0"));
  CHECK_THAT(refused("{" + rest + slots + R"(, "shuffle": "local"})"),
             Contains("a QueueDataset keeps the order"));
  CHECK_THAT(refused(R"({"type": "QueueDataset", "files": []})"),
             Contains("a list of names of files"));
  CHECK_THAT(refused("{" + rest + R"("slots": []})"), Contains("a list of slots"));
  CHECK_THAT(refused("{" + rest + R"("slots": [{"name": "../x", "type": "float"}]})"),
             Contains("slot 1: '../x' cannot be the name of a file"));
  CHECK_THAT(refused("{" + rest + R"("slots": [{"name": "x", "type": "float", "dense": true}]})"),
             Contains("a dense slot needs its 'shape'"));
  CHECK_THAT(refused("{" + rest + R"("slots": [{"name": "x", "type": "float", "shape": [2]}]})"),
             Contains("has a 'shape' and is not dense"));
  CHECK_THAT(
      refused(
          "{" + rest +
          R"("slots": [{"name": "x", "type": "float", "dense": true, "shape": [70000, 70000]}]})"),
      Contains("not more than 2^31 elements"));
  CHECK_THAT(refused("{" + rest + R"("slots": [{"name": "x", "type": "double"}]})"),
             Contains(R"(expected "uint64" or "int64" or "float")"));
  CHECK_THAT(
      refused("{" + rest +
              R"("slots": [{"name": "x", "type": "float"}, {"name": "x", "type": "float"}]})"),
      Contains("there are two slots 'x'"));
}

}  // namespace dtranspile::data
