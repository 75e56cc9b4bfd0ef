#include "runtime/trial/trial.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/kernels/cpu/random/generator.h"
#include "runtime/launch/meeting.h"
#include "runtime/trial/compare.h"
#include "runtime/trial/judge.h"
#include "runtime/trial/probe.h"
#include "runtime/trial/snapshot.h"

namespace dtranspile::trial {
namespace {

using random::Generator;
using Watch =
    std::function<absl::Status(int64_t, const exec::WorkerConfig&, const exec::Executor&)>;

// Where a rank stands for its random numbers: nowhere in particular, where all are to draw alike.
exec::Position DrawsAt(const exec::Position& position, bool equal_draws) {
  if (!equal_draws) return position;
  exec::Position alike;
  for (const auto& [axis, size] : position.mesh) alike.mesh[axis] = 1, alike.coordinates[axis] = 0;
  return alike;
}

// Ranks are threads of this process, and generators are those of the process: each thread says
// where it stands before it draws (Generator::Process is of the thread where one was given).
exec::WorkerLinks WithDraws(const exec::WorkerLinks& links, bool equal_draws) {
  exec::WorkerLinks own = links;
  own.seed = [equal_draws](const exec::WorkerConfig& config) {
    const exec::Position at = DrawsAt({config.coordinates, config.mesh}, equal_draws);
    Generator::Process().SetSeed(static_cast<uint64_t>(config.seed));
    Generator::Process().SetRank(at.coordinates, at.mesh);
  };
  own.begin_step = [](int64_t step) { Generator::Process().SetStep(step); };
  own.stand = [equal_draws](const exec::Position& position) {
    const exec::Position at = DrawsAt(position, equal_draws);
    Generator::Process().SetRank(at.coordinates, at.mesh);
  };
  return own;
}

// One rank on this thread.
exec::RankEnd RunHere(const exec::WorkerConfig& config, const exec::WorkerLinks& links) {
  Generator generator(0);
  const Generator::OfThread mine(generator);
  return exec::RunRank(config, links);
}

// All ranks at once, over shared memory. Who failed by itself stands before those who waited for
// it.
std::vector<Stop> RunRanks(std::vector<exec::WorkerConfig> ranks, const exec::WorkerLinks& links,
                           double wait_seconds) {
  launch::Meeting meeting;
  std::vector<exec::WorkerConfig*> configs;
  for (exec::WorkerConfig& rank : ranks) configs.push_back(&rank);
  launch::MeetingOptions options;
  options.timeout_seconds = wait_seconds;
  if (const absl::Status met = meeting.Begin(options, configs); !met.ok())
    return {{"", 0, "", std::string(met.message()), -1, true}};
  std::vector<exec::RankEnd> ends(ranks.size());
  std::vector<std::thread> threads;
  for (size_t i = 0; i < ranks.size(); ++i)
    threads.emplace_back([&, i] { ends[i] = RunHere(ranks[i], links); });
  for (std::thread& thread : threads) thread.join();
  std::vector<Stop> stops;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (!ends[i].status.ok())
      stops.push_back({ranks[i].role, ranks[i].rank, ends[i].op,
                       std::string(ends[i].status.message()), ends[i].step, ends[i].waiting});
  std::stable_sort(stops.begin(), stops.end(),
                   [](const Stop& a, const Stop& b) { return a.waiting < b.waiting; });
  return stops;
}

// What the single-device program has after start-up and after every step, all copied: the job is
// compared while it runs.
absl::StatusOr<Course> RunReference(const exec::WorkerConfig& config, exec::WorkerLinks links) {
  Course course;
  links.watch = [&](int64_t, const exec::WorkerConfig& rank,
                    const exec::Executor& executor) -> absl::Status {
    DT_ASSIGN_OR_RETURN(Snapshot taken, Take(rank, executor));
    course.push_back(std::move(taken));
    return absl::OkStatus();
  };
  const exec::RankEnd end = RunHere(config, links);
  if (end.status.ok()) return course;
  return absl::Status(
      end.status.code(),
      absl::StrCat("the reference stops", end.step < 0 ? "" : absl::StrCat(" in step ", end.step),
                   ": ", end.status.message()));
}

// A value of a course that is no finite number.
std::optional<std::string> WildOf(const Course& course) {
  for (const Snapshot& one : course) {
    for (const auto& [name, tensor] : one.fetches)
      if (!IsFinite(tensor.view())) return name;
    for (const auto& [name, tensor] : one.variables)
      if (!IsFinite(tensor.view())) return name;
  }
  return std::nullopt;
}

// Parameters that end as they have begun.
std::vector<std::string> FrozenOf(const Course& course, const std::vector<std::string>& names) {
  std::vector<std::string> frozen;
  for (const std::string& name : names) {
    const auto begin = course.front().variables.find(name),
               end = course.back().variables.find(name);
    if (begin != course.front().variables.end() && end != course.back().variables.end() &&
        !Compare(end->second.view(), begin->second.view(), 1, 0))
      frozen.push_back(name);
  }
  return frozen;
}

// Every rank draws start-up values of its own, as processes of the framework do: ranks that are to
// have equal values must have shared them.
// In the trial itself ranks begin with one seed, so values that ought to have been shared are equal
// by themselves. Here start-up alone runs with a seed for each rank: whatever is still equal has
// been shared.
void CompareDraws(const Config& config, const exec::WorkerLinks& links, Result& result) {
  std::vector<exec::WorkerConfig> ranks = config.ranks;
  for (size_t i = 0; i < ranks.size(); ++i) {
    ranks[i].steps = 0;
    ranks[i].seed += static_cast<int64_t>(i);
  }
  std::vector<std::string> names;
  for (const Variable& one : config.variables)
    if (one.axes.empty() && one.scale == 1) names.push_back(one.name);
  std::mutex mutex;
  // By the reference's variable: the first rank's value, and who that is.
  std::map<std::string, std::pair<const exec::WorkerConfig*, Tensor>> first;
  exec::WorkerLinks own = links;
  std::vector<std::pair<const exec::WorkerConfig*, Snapshot>> seen;
  own.watch = [&](int64_t, const exec::WorkerConfig& rank,
                  const exec::Executor& executor) -> absl::Status {
    DT_ASSIGN_OR_RETURN(Snapshot taken, Take(rank, executor, &names));
    const std::lock_guard lock(mutex);
    for (const exec::Persistable& p : executor.plan().persistables)
      if (p.layout) taken.variables.erase(p.name);
    const size_t index =
        static_cast<size_t>(std::find_if(config.ranks.begin(), config.ranks.end(),
                                         [&](const exec::WorkerConfig& one) {
                                           return one.role == rank.role && one.rank == rank.rank;
                                         }) -
                            config.ranks.begin());
    seen.emplace_back(&config.ranks[index], std::move(taken));
    return absl::OkStatus();
  };
  if (!RunRanks(std::move(ranks), own, config.limits.wait_seconds).empty()) return;
  std::sort(seen.begin(), seen.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [rank, taken] : seen)
    for (auto& [name, tensor] : taken.variables) {
      const auto declared = std::find_if(
          config.variables.begin(), config.variables.end(),
          [&](const Variable& one) { return one.role == rank->role && one.name == name; });
      if (declared == config.variables.end()) continue;
      const auto [found, fresh] = first.try_emplace(declared->of);
      if (fresh) {
        found->second = {rank, std::move(tensor)};
        continue;
      }
      const auto apart = Compare(tensor.view(), found->second.second.view(), 1, config.tolerance);
      if (!apart) continue;
      result.differences.push_back({"draw", name, declared->of, rank->role, rank->rank, -1,
                                    apart->relative,
                                    absl::StrCat(apart->text, " as on ", found->second.first->role,
                                                 " ", found->second.first->rank)});
    }
}

}  // namespace

// The references first, each from feeds of its own; then the job, whose values are right where they
// agree with one of them. What the loss does not react to is looked at only where nothing else was
// found: it tells how much the agreement is worth.
Result Run(const Config& config, const exec::WorkerLinks& links) {
  Result result;
  const exec::WorkerLinks own = WithDraws(links, config.equal_draws);
  std::vector<Course> courses;
  for (const exec::WorkerConfig& reference : config.references) {
    auto course = RunReference(reference, own);
    if (!course.ok()) {
      result.failure = std::string(course.status().message());
      return result;
    }
    result.wild = WildOf(*course);
    if (result.wild) return result;
    courses.push_back(*std::move(course));
  }
  Judge judge(config, courses);
  exec::WorkerLinks watched = own;
  watched.watch = [&](int64_t step, const exec::WorkerConfig& rank,
                      const exec::Executor& executor) { return judge.See(step, rank, executor); };
  result.stops = RunRanks(config.ranks, watched, config.limits.wait_seconds);
  // What is put together of the values of all ranks takes all of them.
  if (result.stops.empty()) judge.CompareCombined();
  result.differences = judge.TakeDifferences();
  result.compared = judge.compared();
  if (!result.stops.empty() || !result.differences.empty()) return result;
  CompareDraws(config, own, result);
  result.frozen = FrozenOf(courses.front(), config.parameters);
  if (config.loss.empty()) return result;
  Generator generator(0);
  const Generator::OfThread mine(generator);
  auto reactions = Probe(config.references.front(), config.loss, config.parameters, own);
  if (!reactions.ok()) {
    result.failure = absl::StrCat("what the loss reacts to: ", reactions.status().message());
    return result;
  }
  result.unmoved = std::move(reactions->unmoved);
  result.unaffected = std::move(reactions->unaffected);
  return result;
}

}  // namespace dtranspile::trial
