// Starts the ranks of a compiled job as processes of this machine, all or some of them, and stays
// with them to the end: what the command `run` calls. No MLIR here; what it needs to know of a job
// is in the plans.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/exec/config.h"
#include "runtime/launch/report.h"

namespace dtranspile::launch {

// A set of ranks on a mesh of their own.
struct Role {
  std::string name = "trainer";
  std::vector<std::pair<std::string, int64_t>>
      mesh;  // axes with sizes, first one major; empty: one rank
  // Plan folder per rank (that of its class), or one for all. "" for a rank that is not started
  // here; none at all where no rank of the role is.
  std::vector<std::string> plans;
  double compile_ms = 0;                  // for the report
  std::vector<std::string> classes = {};  // the class that each of the plans is of; empty: any
  int threads = 0;                        // of each of its ranks; 0: those of the job
  std::string device = "cpu";
  // By role of servers the ranks of this one that ask it, where not all of them have a plan; else
  // it stands in the plans.
  std::map<std::string, std::vector<int>> asks = {};
  std::set<std::string> variables = {};  // its persistables, where no rank of it is started here
};

// Which ranks of a job are started here, where others are on other machines or come by hand.
struct Part {
  std::string role;
  int first = 0, count = 1;  // numbers of ranks

  bool has(const std::string& other, int64_t rank) const {
    return other == role && rank >= first && rank < first + count;
  }
};

// Checkpoints (docs/parameter-server.md): every so many rounds, or steps of jobs without servers;
// 0: at the request of a user only.
struct JobCheckpoints {
  std::string folder;
  int64_t every = 1;
  int keep = 2;
};

struct JobSpec {
  std::string digest;  // for the report
  std::vector<Role> roles;
  std::optional<Part> part;  // none: all ranks are started here
  // By role of servers where each listens, "host:port"; of roles that are not there at free ports
  // of this machine. With a part all of them have to be there.
  std::map<std::string, std::vector<std::string>> endpoints;
  std::string token;  // of the job (runtime/comm/token.h); "": a new one
  std::vector<exec::FeedConfig> feeds;
  std::optional<exec::InitConfig> init;
  bool resumes = false;  // `init` is a checkpoint, with which every rank is to go on exactly
  std::map<std::string, std::vector<double>> per_step;
  int64_t steps = 1;       // of ranks that no server is; servers run until the others have left
  int64_t first_step = 0;  // see WorkerConfig
  int64_t skip = 0;
  std::optional<JobCheckpoints> checkpoints;
  std::vector<std::string> fetch;
  int threads = 0;  // per rank; 0: what is left of the processors, shared (processors.h)
  int64_t seed = 0;
  std::string save;          // folder for whole persistables (saving.h); empty: none
  std::string save_fetches;  // folder: NAME.npy combined, and <rank>/NAME.npy as each rank had it;
                             // empty: none
  std::string trace;         // folder: <role>.<rank>.json; empty: none
  bool records = true;       // flight recorders (runtime/exec/flight)
  std::string flight;  // folder for what they hold when the job fails: <role>.<rank>.flight.json;
                       // empty: none
  std::string backend = "shm";
  std::string interface;        // of Gloo
  double timeout_seconds = 60;  // of every wait between ranks, and of silence of a rank
  std::string worker;           // binary; empty: dtranspile-worker beside this program
};

// Whether `file`, relative to the folder, is one that save_fetches makes for the fetch `name`, of
// any rank and step; and that trace makes for a rank of `role`.
bool IsFetchFile(std::string_view file, std::string_view name);
bool IsTraceFile(std::string_view file, std::string_view role);

// Blocks until every process of the job has ended. A job that fails while running is a report with
// `ok` false and the rank, op, step and reason; a status is returned for what is wrong before
// anything is started (plans, mesh, feeds, initial values, per-step values, worker binary). What
// io::kEndingSignals names ends the job while this runs, but SIGUSR1, which asks for a checkpoint,
// and SIGPIPE; one call at a time in a process.
absl::StatusOr<Report> RunJob(const JobSpec& spec);

}  // namespace dtranspile::launch
