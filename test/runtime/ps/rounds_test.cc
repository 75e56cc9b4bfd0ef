// Trainers and servers as processes: synchronous rounds over sockets have the bits of the same
// rounds by hand, however tables are cut.
#include <catch2/catch.hpp>
#include <cmath>
#include <cstring>
#include <set>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/table.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps::test {
namespace {

using exec::LayoutKind;
using exec::Merge;
using exec::Phase;

constexpr float kRate = 0.125F;
constexpr int kRounds = 4;

// Values whose sum depends on the order.
float GradientAt(int trainer, int round, size_t variable, size_t i) {
  const auto mixed = static_cast<uint32_t>((i + 1) * 2654435761U + variable * 40503U +
                                           static_cast<uint32_t>(trainer * 977 + round * 13));
  return std::ldexp(static_cast<float>(mixed % 4093) / 4093.0F - 0.5F, trainer % 3 - 4);
}

std::vector<float> GradientOf(int trainer, int round, size_t variable, int64_t count) {
  std::vector<float> values(static_cast<size_t>(count));
  for (size_t i = 0; i < values.size(); ++i) values[i] = GradientAt(trainer, round, variable, i);
  return values;
}

std::vector<std::vector<float>> InitialOf(const std::vector<Variable>& variables) {
  std::vector<std::vector<float>> initial;
  for (size_t v = 0; v < variables.size(); ++v)
    initial.push_back(GradientOf(7, 0, v, variables[v].count()));
  return initial;
}

bool IsSum(size_t variable) { return variable % 2 == 1; }

// A round by hand.
void Descend(std::vector<float>& whole, size_t variable, int round, int trainers) {
  for (size_t i = 0; i < whole.size(); ++i) {
    float sum = GradientAt(0, round, variable, i);
    for (int t = 1; t < trainers; ++t) sum += GradientAt(t, round, variable, i);
    if (!IsSum(variable)) sum *= static_cast<float>(1.0 / trainers);
    whole[i] -= kRate * sum;
  }
}

TensorView ViewOf(const Variable& variable, const std::vector<float>& values) {
  return {DType::kFloat32, variable.dims, reinterpret_cast<const std::byte*>(values.data())};
}

exec::TensorRoom RoomOf(const Variable& variable, std::vector<float>& values) {
  return {DType::kFloat32, variable.dims, reinterpret_cast<std::byte*>(values.data())};
}

// Pulls all variables and compares them with what they should be, bit by bit.
absl::Status PullAndCompare(Client& client, const std::vector<Variable>& variables,
                            const std::vector<std::vector<float>>& expected) {
  for (size_t v = 0; v < variables.size(); ++v) {
    std::vector<float> values(expected[v].size(), NAN);
    DT_RETURN_IF_ERROR(client.Pull(variables[v].request(), RoomOf(variables[v], values)));
    if (std::memcmp(values.data(), expected[v].data(), values.size() * sizeof(float)) != 0)
      return absl::InternalError("'" + variables[v].name + "' is not what it should be");
  }
  return absl::OkStatus();
}

absl::Status Train(const ClientOptions& options, const std::vector<Variable>& variables,
                   bool pulls_first) {
  DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(options));
  auto expected = InitialOf(variables);
  if (pulls_first) {
    DT_RETURN_IF_ERROR(PullAndCompare(*client, variables, expected));
    DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPull));
  }
  for (int round = 0; round < kRounds; ++round) {
    for (size_t v = 0; v < variables.size(); ++v) {
      std::vector<float> gradient =
          GradientOf(options.rank, round, v, static_cast<int64_t>(expected[v].size()));
      DT_RETURN_IF_ERROR(client->Push(variables[v].request(), IsSum(v) ? Merge::kSum : Merge::kMean,
                                      ViewOf(variables[v], gradient)));
      // May be written again at once.
      std::fill(gradient.begin(), gradient.end(), NAN);
    }
    DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPush));
    for (size_t v = 0; v < variables.size(); ++v) Descend(expected[v], v, round, options.ranks);
    DT_RETURN_IF_ERROR(PullAndCompare(*client, variables, expected));
    DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPull));
  }
  return client->Leave();
}

std::vector<Variable> Variables() {
  const auto cut = [](const char* name, std::vector<int64_t> dims, LayoutKind kind, int dim,
                      int64_t per = 0, int64_t first = 0) {
    return Variable{name, DType::kFloat32, dims, LayoutOf(kind, dims, dim, per, first)};
  };
  return {cut("even", {7, 3}, LayoutKind::kEven, 0),
          cut("flat", {5, 5}, LayoutKind::kEven, -1),
          cut("columns", {3, 7}, LayoutKind::kEven, 1),
          cut("few", {1}, LayoutKind::kEven, 0),  // nothing for the other servers
          cut("blocks", {300, 4}, LayoutKind::kBlocks, 0, 70, 1),
          cut("flat blocks", {11}, LayoutKind::kBlocks, -1, 2),
          cut("hashed", {64, 2}, LayoutKind::kHashed, 0, 5),
          cut("cyclic", {50, 3}, LayoutKind::kCyclic, 0),
          cut("large", {1000, 1000}, LayoutKind::kBlocks, 0, 100),
          cut("rows", {600000}, LayoutKind::kCyclic, 0),
          {"whole", DType::kFloat32, {2, 3}, std::nullopt}};
}

}  // namespace

TEST_CASE("synchronous rounds over sockets have the bits of rounds by hand") {
  const std::vector<Variable> variables = Variables();
  const auto initial = InitialOf(variables);
  const std::pair<int, int> sizes[] = {{1, 1}, {2, 1}, {3, 2}, {2, 3}};
  for (const auto& [trainers, servers] : sizes) {
    const TestJob job{trainers, servers};
    job.Require(
        [&](int rank) { return Text(Train(job.ClientOf(rank), variables, true)); },
        [&](int rank) { return Text(Serve(job.ServerOf(rank), variables, initial, kRate)); });
  }
}

TEST_CASE("trainers that have their first values from elsewhere begin with a push") {
  const std::vector<Variable> variables = Variables();
  const auto initial = InitialOf(variables);
  const TestJob job{2, 2};
  job.Require([&](int rank) { return Text(Train(job.ClientOf(rank), variables, rank == 0)); },
              [&](int rank) { return Text(Serve(job.ServerOf(rank), variables, initial, kRate)); });
}

TEST_CASE("rows: lookups while others push, SelectedRows in the order of the trainers") {
  const std::vector<int64_t> dims = {1000, 300};
  const size_t width = 300;
  constexpr int kTrainers = 3;
  for (const auto kind :
       {LayoutKind::kEven, LayoutKind::kBlocks, LayoutKind::kHashed, LayoutKind::kCyclic}) {
    const std::vector<Variable> variables = {
        {"table", DType::kFloat32, dims, LayoutOf(kind, dims, 0, 64, 1)}};
    const auto initial = InitialOf(variables);
    const TestJob job{kTrainers, 2};
    // More rows than a message has, some of them several times; one trainer has none in some
    // rounds.
    const auto ids_of = [](int trainer, int round) {
      std::vector<int64_t> ids;
      for (int64_t i = 0; i < (trainer == 2 && round == 1 ? 0 : 2500); ++i)
        ids.push_back((i * 7919 + trainer * 31 + round) % 1000);
      return ids;
    };
    const auto train = [&](int rank) -> absl::Status {
      DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(job.ClientOf(rank)));
      std::vector<float> whole = initial[0];
      for (int round = 0; round < 3; ++round) {
        const std::vector<int64_t> ids = ids_of(rank, round);
        std::vector<float> rows(ids.size() * width, NAN);
        const auto count = static_cast<int64_t>(ids.size());
        // Every row comes once, and that of the padding not at all.
        exec::TableRequest request = variables[0].request();
        request.padding = 17;
        std::set<int64_t> distinct(ids.begin(), ids.end());
        distinct.erase(*request.padding);
        const int64_t before = client->bytes_received();
        DT_RETURN_IF_ERROR(client->Lookup(
            request, ids.data(), count,
            {DType::kFloat32, {count, 300}, reinterpret_cast<std::byte*>(rows.data())}));
        if (const int64_t came = client->bytes_received() - before;
            came != static_cast<int64_t>(distinct.size() * width * sizeof(float)))
          return absl::InternalError(std::to_string(came) + " bytes came");
        const std::vector<float> zeros(width);
        for (size_t i = 0; i < ids.size(); ++i)
          if (std::memcmp(rows.data() + i * width,
                          ids[i] == *request.padding
                              ? zeros.data()
                              : whole.data() + static_cast<size_t>(ids[i]) * width,
                          width * sizeof(float)) != 0)
            return absl::InternalError("row " + std::to_string(ids[i]) + " is not what it was");
        exec::Value value(exec::Value::Kind::kRows, DType::kFloat32);
        DT_RETURN_IF_ERROR(value.Resize({count, 300}));
        value.rows = ids;
        value.height = 1000;
        for (size_t i = 0; i < rows.size(); ++i)
          value.as<float>()[i] = GradientAt(rank, round, 0, i);
        DT_RETURN_IF_ERROR(client->PushRows(variables[0].request(), Merge::kMean, value));
        DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPush));
        std::vector<float> sum(whole.size());
        for (int t = 0; t < kTrainers; ++t) {
          const std::vector<int64_t> theirs = ids_of(t, round);
          for (size_t i = 0; i < theirs.size() * width; ++i)
            sum[static_cast<size_t>(theirs[i / width]) * width + i % width] +=
                GradientAt(t, round, 0, i);
        }
        for (size_t i = 0; i < sum.size(); ++i)
          whole[i] -= kRate * (sum[i] * static_cast<float>(1.0 / kTrainers));
        DT_RETURN_IF_ERROR(PullAndCompare(*client, variables, {whole}));
        DT_RETURN_IF_ERROR(client->EndPhase("", Phase::kPull));
      }
      return client->Leave();
    };
    job.Require(
        [&](int rank) { return Text(train(rank)); },
        [&](int rank) { return Text(Serve(job.ServerOf(rank), variables, initial, kRate)); });
  }
}

TEST_CASE("lookups in several tables at once give what each gives by itself") {
  // Small tables of which all rows fit one message, and one that takes several by itself.
  const std::vector<std::vector<int64_t>> dims = {{40, 3}, {9000, 128}, {7, 2}, {50, 1}};
  std::vector<Variable> variables;
  for (size_t i = 0; i < dims.size(); ++i)
    variables.push_back(
        {"table" + std::to_string(i), DType::kFloat32, dims[i],
         i == 2 ? std::nullopt
                : std::optional(LayoutOf(i == 3 ? LayoutKind::kCyclic : LayoutKind::kBlocks,
                                         dims[i], 0, 16))});
  variables[2].layout = LayoutOf(LayoutKind::kEven, dims[2], 0);
  const auto initial = InitialOf(variables);
  const TestJob job{2, 3};
  const auto train = [&](int rank) -> absl::Status {
    DT_ASSIGN_OR_RETURN(const auto client, Client::Connect(job.ClientOf(rank)));
    std::vector<exec::TableRequest> requests;
    std::vector<std::vector<int64_t>> ids;
    std::vector<std::vector<float>> rows;
    for (size_t i = 0; i < dims.size(); ++i) {
      requests.push_back(variables[i].request());
      ids.emplace_back();
      // Nothing at all of one.
      for (int64_t k = 0; k < (i == 1 ? 12000 : i == 2 && rank == 1 ? 0 : 30); ++k)
        ids[i].push_back((k * 7919 + rank) % dims[i][0]);
      rows.emplace_back(ids[i].size() * static_cast<size_t>(dims[i][1]), NAN);
    }
    requests[0].padding = 5;
    std::vector<Client::Wanted> all;
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto count = static_cast<int64_t>(ids[i].size());
      all.push_back(
          {&requests[i],
           ids[i].data(),
           count,
           {DType::kFloat32, {count, dims[i][1]}, reinterpret_cast<std::byte*>(rows[i].data())}});
    }
    DT_RETURN_IF_ERROR(client->Lookups(all));
    for (size_t i = 0; i < dims.size(); ++i) {
      const auto width = static_cast<size_t>(dims[i][1]);
      for (size_t k = 0; k < ids[i].size(); ++k)
        for (size_t c = 0; c < width; ++c) {
          const bool pad = requests[i].padding == ids[i][k];
          if (rows[i][k * width + c] !=
              (pad ? 0 : initial[i][static_cast<size_t>(ids[i][k]) * width + c]))
            return absl::InternalError(absl::StrCat("row ", ids[i][k], " of table ", i));
        }
    }
    // What is wrong with one of them is said by name, and nothing is asked for.
    std::vector<Client::Wanted> wrong = all;
    const int64_t none = 7;
    wrong[2].ids = &none, wrong[2].count = 1, wrong[2].to.dims = {1, 2};
    const absl::Status refused = client->Lookups(wrong);
    if (refused.message() != "the lookup in table 'table2': id 7 at 0, and it has 7 rows")
      return absl::InternalError(refused.ToString());
    return client->Leave();
  };
  job.Require([&](int rank) { return Text(train(rank)); },
              [&](int rank) { return Text(Serve(job.ServerOf(rank), variables, initial, kRate)); });
}

TEST_CASE("what a trainer asks and a server does not have is refused by name") {
  const std::vector<int64_t> dims = {6, 2};
  const std::vector<Variable> variables = {
      {"w", DType::kFloat32, dims, LayoutOf(LayoutKind::kBlocks, dims, 0, 3)},
      {"c", DType::kFloat32, dims, LayoutOf(LayoutKind::kEven, dims, 1)}};
  const auto initial = InitialOf(variables);
  struct Case {
    const char* says;
    std::function<absl::Status(Client&)> make;
  };
  std::vector<float> values(12);
  const Variable other{"w", DType::kFloat32, dims, LayoutOf(LayoutKind::kBlocks, dims, 0, 2)};
  const Variable unknown{"v", DType::kFloat32, dims, std::nullopt};
  Variable strange = variables[0];
  strange.layout->axes = {"mp"};
  const auto lookup = [&](Client& client, const Variable& variable, std::vector<int64_t> ids) {
    return client.Lookup(variable.request(), ids.data(), static_cast<int64_t>(ids.size()),
                         {DType::kFloat32,
                          {static_cast<int64_t>(ids.size()), 2},
                          reinterpret_cast<std::byte*>(values.data())});
  };
  const Case cases[] = {
      {"server 0 has no table 'v'",
       [&](Client& c) { return c.Pull(unknown.request(), RoomOf(unknown, values)); }},
      {"table 'w' is float32[3, 2] on server 0, and this trainer would have it float32[4, 2]",
       [&](Client& c) { return c.Push(other.request(), Merge::kMean, ViewOf(other, values)); }},
      {"table 'w' is float32[3, 2] on server 0, and this trainer would have it float64[3, 2]",
       [&](Client& c) {
         return c.Pull(variables[0].request(),
                       {DType::kFloat64, dims, reinterpret_cast<std::byte*>(values.data())});
       }},
      {"axis 'mp' is none of this rank's mesh",
       [&](Client& c) { return c.Pull(strange.request(), RoomOf(strange, values)); }},
      {"the lookup in table 'w': id 6 at 1, and it has 6 rows",
       [&](Client& c) { return lookup(c, variables[0], {0, 6}); }},
      {"the lookup in table 'w': id -1 at 0, and it has 6 rows",
       [&](Client& c) { return lookup(c, variables[0], {-1}); }},
      {"the lookup in table 'c': it is not cut along its rows",
       [&](Client& c) { return lookup(c, variables[1], {0}); }},
      {"the push of rows of table 'w': row 6 of a table of 6 rows",
       [&](Client& c) {
         exec::Value value(exec::Value::Kind::kRows, DType::kFloat32);
         DT_RETURN_IF_ERROR(value.Resize({1, 2}));
         value.rows = {6};
         value.height = 6;
         return c.PushRows(variables[0].request(), Merge::kMean, value);
       }},
      {"trainer 0's push of table 'w' in round 0 is merged each by itself",
       [&](Client& c) {
         DT_RETURN_IF_ERROR(
             c.Push(variables[0].request(), Merge::kEach, ViewOf(variables[0], values)));
         return c.EndPhase("", Phase::kPush);
       }},
      {"trainer 0's push of table 'w' in round 0 has come twice",
       [&](Client& c) {
         for (int i = 0; i < 2; ++i)
           DT_RETURN_IF_ERROR(
               c.Push(variables[0].request(), Merge::kMean, ViewOf(variables[0], values)));
         return c.EndPhase("", Phase::kPush);
       }},
  };
  for (const Case& one : cases) {
    INFO(one.says);
    const TestJob job{1, 2};
    const auto outcomes = job.Run(
        [&](int rank) {
          const auto client = Client::Connect(job.ClientOf(rank));
          if (!client.ok()) return Text(client.status());
          const absl::Status status = one.make(**client);
          (*client)->Abort(std::string(status.message()));
          return Text(status);
        },
        [&](int rank) { return Text(Serve(job.ServerOf(rank), variables, initial, kRate)); });
    for (const auto& outcome : outcomes) {
      INFO(outcome.text);
      CHECK_FALSE(outcome.late);
      CHECK(outcome.signal == 0);
      CHECK_THAT(outcome.text, Catch::Contains(one.says));
    }
  }
}

}  // namespace dtranspile::ps::test
