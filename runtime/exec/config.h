// CONFIG of a worker (docs/file-formats.md): written by the launcher (runtime/launch), read by the
// worker (worker.h). One struct and both directions here, so that they cannot drift apart.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "runtime/comm/communicator.h"
#include "runtime/exec/json_reader.h"

namespace dtranspile::exec {

// Of a rank.
constexpr int kMostThreads = 1024;
// Of a run, and before it.
constexpr int64_t kMostSteps = int64_t{1} << 40;

// A communicator of the plan as one rank joins it.
struct CommConfig {
  std::string name;   // in the plan
  std::string group;  // equal on all members
  int rank = 0;
  int size = 1;
};

// How a rank meets the servers of a role, or a server those who ask it (server_link.h). Server k
// is at addresses[k]; where none are given it leaves its address in the job's store
// (runtime/comm/gloo/store.h) at "KEY.k". Whoever connects proves to know the token of the
// rendezvous.
struct RpcConfig {
  std::string role;                         // of the servers
  std::string sender_role;                  // of those who ask
  std::string store;                        // "host:port"; empty where addresses are given
  std::string key;                          // of the job and the role
  std::vector<std::string> addresses = {};  // "host:port" by server; empty: in the store
  // Axes of the servers' mesh with their sizes, first one major: server k has the digits of k as
  // its coordinates.
  std::vector<std::pair<std::string, int64_t>> mesh;
  int servers = 1, senders = 1;
  int number = 0;  // of this rank: among the senders, of a server among the servers
};

struct FeedConfig {
  std::string name;
  std::string file;  // .npy: [steps, global extents...]
};

// Where persistables come from instead of the start-up program: a folder with a file each, or one
// combined file.
struct InitConfig {
  std::string folder;
  std::string combined;
  std::vector<std::string> names;  // of the combined file
};

// Checkpoints of the job (checkpoint.h), and what of them this rank writes.
struct CheckpointConfig {
  std::string folder;  // shared by all who write
  int64_t every = 1;   // rounds, or steps; 0: when a user asks for one
  int keep = 2;        // how many stay
  std::string member;  // this rank among `members`, the ranks that write something; empty: none
  std::vector<std::string> members;
  std::vector<std::string> names;       // of variables that it writes whole
  std::vector<std::string> part_names;  // and its part of
};

struct WorkerConfig {
  std::string plan;    // folder
  std::string digest;  // of the job, which the plan has to be of; empty: any
  std::string role, class_name;
  int rank = 0;
  std::map<std::string, int64_t> coordinates, mesh;
  std::vector<CommConfig> comms;  // that this rank is a member of
  comm::Rendezvous rendezvous;
  std::vector<RpcConfig> servers;   // that this rank asks
  std::optional<RpcConfig> serves;  // of a server
  std::vector<FeedConfig> feeds;
  std::optional<InitConfig> init;
  std::map<std::string, std::vector<double>> per_step;
  int64_t steps = 0;
  int64_t first_step = 0;  // the number of the first one, for random numbers
  int64_t skip = 0;        // steps of feeds and per-step values that were used before
  std::vector<std::string> fetch;
  int threads = 1;
  bool spin = false;
  int64_t seed = 0;
  std::optional<CheckpointConfig> checkpoint;
  std::string save;  // folder; empty: nothing is saved
  std::vector<std::string> save_names;
  std::string save_parts;  // folder: of cut variables, the part of this rank; empty: none
  std::vector<std::string> part_names;
  std::string save_fetches;  // folder; empty: none
  std::string trace;         // file; empty: none
  int control_fd = -1;
  int flight_fd = -1;  // of a memory file for the flight recorder; -1: nothing is recorded
};

absl::StatusOr<WorkerConfig> ReadConfig(const std::string& path);
absl::StatusOr<WorkerConfig> ParseConfig(const std::string& name, const std::string& text);
Json ToJson(const WorkerConfig& config);

// Whether the rank decides when a checkpoint that a user asks for is written (checkpoint.h): the
// only one that writes, or the first of those who ask servers, where none of the others writes.
bool DecidesOnRequests(const WorkerConfig& config);

}  // namespace dtranspile::exec
