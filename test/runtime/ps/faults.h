// Jobs of one table that somebody disturbs: trainers and servers that do what they are told in the
// middle of their rounds, and what is required of all others.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps::test {

// The table: w [8, 2], blocks of two rows, 1 everywhere; every round subtracts the sum of the
// trainers' ranks.
const std::vector<Variable>& Variables();
std::vector<std::vector<float>> Initial();

// Where a process does what it is told to.
enum class At { kBegin, kPushed, kPushesEnded, kPulled, kEnd };
using Disturb = std::function<void(int round, At at)>;
// Does it at one place of one round.
Disturb Do(int round, At at, const std::function<void()>& what);

// Rounds of a trainer; `disturb` is called at every place of every round.
absl::Status Train(const ClientOptions& options, int rounds, const Disturb& disturb = nullptr);

// A server; `before` is called before every round.
absl::Status ServeDisturbed(const ServerOptions& options, const std::function<void(int)>& before);
std::string ServeText(const ServerOptions& options);

// What the processes of a job that fails have to say.
struct Failure {
  std::vector<int> lost = {};         // processes that do not report: trainers, then servers
  double at_least = 0, at_most = 10;  // seconds
  std::vector<std::string> says;      // one of them stands in every message
};
void RequireFailure(const TestJob& job, const Failure& failure,
                    const std::function<std::string(int)>& trainer,
                    const std::function<std::string(int)>& server);

}  // namespace dtranspile::ps::test
