// Rows that are made when they are first touched have the bits of the whole, whoever touches them
// in what order, and the others take nothing.
#include "runtime/exec/first_touch.h"

#include <catch2/catch.hpp>
#include <cstring>
#include <thread>

#include "runtime/exec/executor.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "test/runtime/exec/plan_builder.h"
#include "test/runtime/exec/test_calls.h"

namespace dtranspile::exec {
namespace {

constexpr int64_t kRows = 3001, kWidth = 3;  // chunks of 340 rows, the last one with less

// How a call draws [3001, 3]: with the attributes of its signature, seed 7, of a program of 1.8.
struct Draw {
  const char* callee;
  std::vector<int> slots;
  std::vector<std::string> attrs;
  std::vector<int64_t> ints;
  std::vector<double> reals;
};
const Draw kDraws[] = {
    {"dt_uniform_random",
     {0, 0, 0, 1},
     {"i2", "r1", "r1", "i1", "i1", "i1", "r1", "i1", "i0", "i0"},
     {kRows, kWidth, 7, 0, 0, 1008005},
     {-0.5, 2, 1}},
    {"dt_gaussian_random",
     {0, 0, 0, 1},
     {"i2", "r1", "r1", "i1", "i1", "i0", "i0"},
     {kRows, kWidth, 7, 1008005},
     {0.5, 3}},
    {"dt_truncated_gaussian_random",
     {0, 1},
     {"i2", "r1", "r1", "i1", "r1", "r1", "i1", "i0", "i0"},
     {kRows, kWidth, 7, 1008005},
     {0.5, 3, -2, 2}},
};

Json DrawJson(const Draw& draw, int to, int64_t seed = 7) {
  std::vector<int64_t> ints = draw.ints;
  ints[2] = seed;
  return {{"draw", draw.callee},
          {"to", to},
          {"layout", LayoutNodeJson("cyclic", "ps", {kRows, kWidth})},
          {"slots", draw.slots},
          {"attrs", draw.attrs},
          {"ints", ints},
          {"reals", draw.reals},
          {"op", "0:0 random"}};
}
Json CallJson(const Draw& draw, int to, int64_t seed = 7) {
  std::vector<int64_t> ints = draw.ints;
  ints[2] = seed;
  return {{"call", draw.callee}, {"args", {to}}, {"written", {0}},      {"slots", draw.slots},
          {"attrs", draw.attrs}, {"ints", ints}, {"reals", draw.reals}, {"op", "0:0 random"}};
}

int64_t RowsAt(int64_t at, int64_t of) { return (kRows - at + of - 1) / of; }

// A variable that lies by row numbers on `of` servers.
int TableOf(PlanBuilder& b, int64_t of, const char* name = "w") {
  const int id = b.Variable(name, "float32", {RowsAt(0, of), kWidth});
  b.variable()["layout"] = LayoutNodeJson("cyclic", "ps", {kRows, kWidth});
  return id;
}

absl::StatusOr<std::unique_ptr<Executor>> TryLoad(const PlanBuilder& b, int64_t at, int64_t of) {
  auto plan = ParsePlan("plan.json", b.json.dump());
  if (!plan.ok()) return plan.status();
  plan->folder = ".";
  plan->library.clear();
  ExecutorOptions options;
  options.find_function = FindTestFunction;
  options.position = {{{"ps", at}}, {{"ps", of}}};
  return Executor::Load(*std::move(plan), std::move(options));
}
std::unique_ptr<Executor> Load(const PlanBuilder& b, int64_t at = 0, int64_t of = 1) {
  auto executor = TryLoad(b, at, of);
  INFO(executor.status().ToString());
  REQUIRE(executor.ok());
  return *std::move(executor);
}
void Start(Executor& executor) {
  const absl::Status status = executor.RunStartup();
  INFO(status.ToString());
  REQUIRE(status.ok());
}

// All rows as one call draws them.
std::vector<float> Whole(const Draw& draw) {
  PlanBuilder b;
  const int w = b.Variable("w", "float32", {kRows, kWidth});
  b.startup() = Json::array({CallJson(draw, w)});
  const auto executor = Load(b);
  Start(*executor);
  const auto* data = reinterpret_cast<const float*>(executor->data(w));
  return {data, data + kRows * kWidth};
}

bool IsRow(const float* row, const std::vector<float>& whole, int64_t number) {
  return std::memcmp(row, whole.data() + number * kWidth, kWidth * sizeof(float)) == 0;
}
bool IsZero(const float* row) { return row[0] == 0 && row[1] == 0 && row[2] == 0; }

}  // namespace

TEST_CASE("rows that are touched have the bits of the whole") {
  for (const Draw& draw : kDraws) {
    const std::vector<float> whole = Whole(draw);
    for (const auto& [at, of] : {std::pair<int64_t, int64_t>{0, 1}, {0, 3}, {2, 3}, {19, 20}}) {
      INFO(draw.callee << " on server " << at << " of " << of);
      PlanBuilder b;
      const int w = TableOf(b, of);
      b.startup() = Json::array({DrawJson(draw, w)});
      const auto executor = Load(b, at, of);
      FirstTouch& rows = *executor->untouched(w);
      CHECK(rows.left() == 0);
      Start(*executor);
      const int64_t count = RowsAt(at, of);
      CHECK(rows.left() == count);
      const auto* data = reinterpret_cast<const float*>(executor->data(w));
      const auto row = [&](int64_t i) { return data + i * kWidth; };
      // In any order, some twice; numbers that are not there are nobody's.
      const std::vector<int64_t> touched = {count - 1, 5, 5, 0, 4, count, -1};
      CHECK(rows.Touch(touched.data(), static_cast<int64_t>(touched.size())).ok());
      CHECK(rows.left() == count - 4);
      for (const int64_t i : {count - 1, int64_t{5}, int64_t{0}, int64_t{4}})
        CHECK(IsRow(row(i), whole, i * of + at));
      CHECK(IsZero(row(1)));
      CHECK(IsZero(row(count - 2)));
      // What is read without being made, between a row that has been written since.
      const_cast<float*>(row(5))[0] = 77;
      std::vector<float> read(static_cast<size_t>(count * kWidth));
      CHECK(rows.Read(0, count, reinterpret_cast<std::byte*>(read.data())).ok());
      for (int64_t i = 0; i < count; ++i)
        if (i != 5) CHECK(IsRow(read.data() + i * kWidth, whole, i * of + at));
      CHECK(read[5 * kWidth] == 77);
      CHECK(rows.left() == count - 4);
      CHECK(rows.TouchAll().ok());
      CHECK(rows.left() == 0);
      for (int64_t i = 0; i < count; ++i)
        if (i != 5) CHECK(IsRow(row(i), whole, i * of + at));
      CHECK(row(5)[0] == 77);
    }
  }
}

TEST_CASE("several threads touch rows") {
  const std::vector<float> whole = Whole(kDraws[0]);
  PlanBuilder b;
  const int w = TableOf(b, 1);
  b.startup() = Json::array({DrawJson(kDraws[0], w)});
  const auto executor = Load(b);
  Start(*executor);
  FirstTouch& rows = *executor->untouched(w);
  const auto* data = reinterpret_cast<const float*>(executor->data(w));
  std::atomic<int> wrong{0};
  const auto work = [&](int64_t first) {
    for (int64_t i = first; i < kRows; i += 2) {
      const int64_t number = (i * 1009) % kRows;
      if (!rows.Touch(&number, 1).ok() || !IsRow(data + number * kWidth, whole, number)) ++wrong;
    }
  };
  std::thread one(work, 0), other(work, 1), third(work, 0);
  one.join(), other.join(), third.join();
  CHECK(wrong == 0);
  CHECK(rows.left() == 0);
}

TEST_CASE("constants, and rows that are given in place of them") {
  PlanBuilder b;
  const int w = TableOf(b, 1);
  b.startup() = Json::array({{{"draw", kConstantRows},
                              {"to", w},
                              {"layout", LayoutNodeJson("cyclic", "ps", {kRows, kWidth})},
                              {"reals", {0.1}},
                              {"op", "0:0 fill_constant"}}});
  const auto executor = Load(b);
  Start(*executor);
  FirstTouch& rows = *executor->untouched(w);
  auto* data = reinterpret_cast<float*>(executor->data(w));
  const int64_t touched = kRows - 1;
  CHECK(rows.Touch(&touched, 1).ok());
  CHECK(data[kRows * kWidth - 1] == 0.1f);
  CHECK(data[0] == 0);
  data[0] = 5;
  rows.Overwritten();
  CHECK(rows.left() == 0);
  CHECK(rows.TouchAll().ok());
  CHECK(data[0] == 5);
  CHECK(data[1] == 0);
}

// Ops behind it draw what they would draw if it had drawn the whole.
TEST_CASE("what is not drawn is passed over") {
  for (const Draw& draw : kDraws) {
    float next[2];
    for (const bool touch : {false, true}) {
      PlanBuilder b;
      const int w = touch ? TableOf(b, 1) : b.Variable("w", "float32", {kRows, kWidth});
      const int v = b.Variable("v", "float32", {kRows, kWidth});
      b.startup() =
          Json::array({touch ? DrawJson(draw, w, 0) : CallJson(draw, w, 0), CallJson(draw, v, 0)});
      random::Generator generator(11);
      const random::Generator::OfThread here(generator);
      const auto executor = Load(b);
      Start(*executor);
      next[touch] = *reinterpret_cast<const float*>(executor->data(v));
    }
    CHECK(next[0] == next[1]);
  }
}

TEST_CASE("an update by rows touches those of its gradient, any other node all") {
  const std::vector<float> whole = Whole(kDraws[0]);
  for (const bool by_rows : {true, false}) {
    PlanBuilder b;
    const int w = TableOf(b, 1), rate = b.Variable("rate", "float32", {1}), g = b.Rows("g");
    const int copy = b.Arena("copy", "float32", {kRows, kWidth});
    b.json["buffers"][static_cast<size_t>(g)]["dims"] = {-1, kWidth};
    b.startup() = Json::array({DrawJson(kDraws[0], w)});
    b.body() = Json::array({by_rows ? Json{{"call", "dt_sgd_rows"},
                                           {"args", {w, g, rate, w}},
                                           {"written", {3}},
                                           {"slots", {0, 1, 2, 3, 4}},
                                           {"op", "0:1 sgd"}}
                                    : CopyNodeJson(w, copy)});
    const auto executor = Load(b);
    Start(*executor);
    *reinterpret_cast<float*>(executor->data(rate)) = 1;
    Value& gradient = *executor->value(g);
    gradient.height = kRows;
    gradient.rows = {17, 2000, 17};
    REQUIRE(gradient.Resize({3, kWidth}).ok());
    std::fill_n(gradient.as<float>(), 3 * kWidth, 0.25f);
    const absl::Status status = executor->RunMain();
    INFO(status.ToString());
    REQUIRE(status.ok());
    CHECK(executor->untouched(w)->left() == (by_rows ? kRows - 2 : 0));
    const auto* data = reinterpret_cast<const float*>(executor->data(w));
    if (by_rows) {
      CHECK(data[2000 * kWidth] == whole[2000 * kWidth] - 0.25f);
      CHECK(data[17 * kWidth] == Approx(whole[17 * kWidth] - 0.5f));
      CHECK(IsZero(data + 18 * kWidth));
    } else {
      CHECK(IsRow(data + 18 * kWidth, whole, 18));
      CHECK(std::memcmp(executor->data(copy), whole.data(), whole.size() * sizeof(float)) == 0);
    }
  }
}

TEST_CASE("draws that do not fit are refused") {
  const auto error = [](auto change) {
    PlanBuilder b;
    const int w = TableOf(b, 2);
    b.startup() = Json::array({DrawJson(kDraws[0], w)});
    change(b, b.startup()[0]);
    return std::string(TryLoad(b, 0, 2).status().message());
  };
  using Catch::Contains;
  CHECK(error([](PlanBuilder&, Json&) {}) == "");
  CHECK_THAT(error([](PlanBuilder& b, Json& draw) {
               b.body() = Json::array({draw});
               b.startup() = Json::array();
             }),
             Contains("op 0:0 random: rows are drawn at the top of start-up only"));
  CHECK_THAT(error([](PlanBuilder&, Json& draw) { draw["draw"] = "dt_none"; }),
             Contains("op 0:0 random: this runtime has no call 'dt_none'"));
  CHECK_THAT(error([](PlanBuilder& b, Json&) {
               b.json["persistables"][0].erase("layout");
               b.json["buffers"][0]["dims"] = {2, kWidth}, b.json["buffers"][0]["bytes"] = 24;
             }),
             Contains("op 0:0 random: 'w' is not cut like its rows are made"));
  CHECK_THAT(error([](PlanBuilder&, Json& draw) { draw["layout"]["kind"] = "even"; }),
             Contains("body[0].layout: rows that are made one by one lie by their numbers"));
  CHECK_THAT(error([](PlanBuilder&, Json& draw) { draw["attrs"].erase(9); }),
             Contains("body[0].attrs: expected the extents first and nothing in the last two"));
  CHECK_THAT(error([](PlanBuilder&, Json& draw) { draw["slots"] = {0, 1, 1}; }),
             Contains("body[0].slots: expected one argument, in the last slot"));
  CHECK_THAT(error([](PlanBuilder&, Json& draw) { draw["draw"] = kConstantRows; }),
             Contains("body[0].reals: expected one number"));
  CHECK_THAT(error([](PlanBuilder& b, Json&) { b.json["buffers"][0]["dtype"] = "int32"; }),
             Contains("body[0].to: 'w' is no variable of floats"));
}

// Engines of 2.x have a state of 2.5 KB.
TEST_CASE("an engine that cannot begin anywhere is refused") {
  PlanBuilder b;
  const int w = TableOf(b, 1);
  b.startup() = Json::array({DrawJson(kDraws[1], w)});
  b.startup()[0]["ints"][3] = 2006002;
  const auto executor = Load(b);
  CHECK_THAT(std::string(executor->RunStartup().message()),
             Catch::Contains("dt_random_state: the engine has a state of more than a number"));
}

}  // namespace dtranspile::exec
