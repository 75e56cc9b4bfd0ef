#include "tools/dtranspile/cli/placement.h"

#include <sys/stat.h>

#include <cstdlib>
#include <set>

#include "dialects/dist/settings.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "runtime/comm/token.h"
#include "runtime/io/json.h"

namespace dtranspile::cli {
namespace {

// A value and who has said it.
struct Given {
  std::string text, from;
  explicit operator bool() const { return !from.empty(); }
};

// Flags win over variables.
Given either(const std::string& flag, const char* name, const char* variable) {
  if (!flag.empty()) return {flag, std::string(name) + " " + flag};
  if (const char* value = std::getenv(variable); value && *value)
    return {value, std::string(variable) + "=" + value};
  return {};
}

std::string countText(size_t count, const char* what) {
  return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

class Finder {
 public:
  Finder(Tool& tool, Runnable& runnable, const PlacementFlags& flags)
      : tool_(tool), runnable_(runnable), flags_(flags), askers_(runnable.askers()) {}

  // What of the job runs here, by flags or by the variables that the framework's launcher sets
  // (TRAINING_ROLE, PADDLE_TRAINER_ID, PADDLE_PSERVERS_IP_PORT_LIST …); flags win. Jobs whose
  // processes are started apart need a token.
  mlir::FailureOr<Placement> find() {
    // A job without servers is started whole, whatever the variables of its surroundings say.
    role_ = askers_.empty() ? Given{flags_.role, flags_.role.empty() ? "" : "--role " + flags_.role}
                            : either(flags_.role, "--role", "TRAINING_ROLE");
    if (!findThreads() || !findDevices() || !findEndpoints() || !findToken())
      return mlir::failure();
    if (!flags_.trainers.empty() && !checkTrainers()) return mlir::failure();
    if (!role_) {
      for (const auto& [flag, value] :
           {std::pair{"--rank ", &flags_.rank}, {"--endpoint ", &flags_.endpoint}})
        if (!value->empty()) return fail(flag + *value + ": of which role? Add --role");
      return placement_;
    }
    if (!findRole() || !checkTrainers() || !findRank()) return mlir::failure();
    if (serves() && !checkOwnEndpoint()) return mlir::failure();
    if (!askers_.empty() && placement_.token.empty())
      return fail(role_.from +
                  ": processes that are started by hand know each other by the job's token, the "
                  "same one for all; make it with `openssl rand -hex 16 > token; chmod 600 token` "
                  "and give --token-file token, or set DTRANSPILE_TOKEN to its 32 digits");
    return placement_;
  }

 private:
  mlir::LogicalResult fail(const std::string& message) {
    tool_.error(message);
    return mlir::failure();
  }

  RunnableRole* findRoleNamed(llvm::StringRef name) {
    auto found = llvm::find_if(runnable_.roles, [&](RunnableRole& r) { return r.name == name; });
    return found == runnable_.roles.end() ? nullptr : &*found;
  }

  bool serves() const { return askers_.count(placement_.part->role) > 0; }

  bool findThreads() {
    for (const std::string& text : flags_.threads) {
      auto [role, number] = llvm::StringRef(text).split('=');
      int threads = 0;
      if (number.getAsInteger(10, threads) || threads < 1 || threads > exec::kMostThreads ||
          !findRoleNamed(role))
        return mlir::succeeded(fail("--role-threads " + text +
                                    ": expected ROLE=N with a role of the "
                                    "job and 1 to " +
                                    std::to_string(exec::kMostThreads)));
      placement_.threads[role.str()] = threads;
    }
    return true;
  }

  bool findDevices() {
    for (const std::string& text : flags_.devices) {
      auto [role, device] = llvm::StringRef(text).split('=');
      if (!findRoleNamed(role) || !llvm::is_contained(dist::kDevices, device))
        return mlir::succeeded(fail("--role-device " + text +
                                    ": expected ROLE=DEVICE with a role of the job and one of " +
                                    llvm::join(llvm::ArrayRef(dist::kDevices), ", ")));
      placement_.devices[role.str()] = device.str();
    }
    return true;
  }

  // The list belongs to the one role of servers that there is. Without --role its processes are all
  // started here, and listen where they are told to only by the flag.
  bool findEndpoints() {
    Given list = role_ ? either(flags_.pservers, "--pservers", "PADDLE_PSERVERS_IP_PORT_LIST")
                       : Given{flags_.pservers,
                               flags_.pservers.empty() ? "" : "--pservers " + flags_.pservers};
    if (!list && role_ && !runnable_.pservers.empty())
      list = {llvm::join(runnable_.pservers, ","), "the job's pservers"};
    if (askers_.empty())
      return !list || flags_.pservers.empty() ||
             mlir::succeeded(fail(list.from + ": the job has no servers"));
    if (askers_.size() > 1 && (list || role_))
      return mlir::succeeded(
          fail("the job has several roles of servers; run it whole, without "
               "--role and --pservers"));
    if (!list)
      return !role_ || mlir::succeeded(fail(
                           role_.from +
                           ": where are the servers? Add --pservers HOST:PORT,… with one endpoint "
                           "for each, or set PADDLE_PSERVERS_IP_PORT_LIST"));
    list_ = list;
    const std::string& server = askers_.begin()->first;
    std::vector<std::string>& endpoints = placement_.endpoints[server];
    std::set<std::string> seen;
    for (llvm::StringRef endpoint : llvm::split(list.text, ',')) {
      endpoint = endpoint.trim();
      auto [host, port] = endpoint.rsplit(':');
      unsigned number = 0;
      if (host.empty() || port.getAsInteger(10, number) || number < 1 || number > 65535)
        return mlir::succeeded(fail(list.from + ": '" + endpoint.str() + "' is no HOST:PORT"));
      if (!seen.insert(endpoint.str()).second)
        return mlir::succeeded(fail(list.from + ": '" + endpoint.str() + "' stands there twice"));
      endpoints.push_back(endpoint.str());
    }
    const auto servers = static_cast<size_t>(findRoleNamed(server)->ranks());
    return endpoints.size() == servers ||
           mlir::succeeded(fail(list.from + " has " + countText(endpoints.size(), "endpoint") +
                                ", and the job has " + countText(servers, "server") + " ('" +
                                server + "')"));
  }

  // From a file that nobody else may read, or from the environment; never from the command line,
  // which all users of the machine can see.
  bool findToken() {
    if (flags_.tokenFile.empty()) {
      if (const char* token = std::getenv("DTRANSPILE_TOKEN"); token && *token && role_)
        placement_.token = token;
      return checkToken("DTRANSPILE_TOKEN");
    }
    const std::string where = "--token-file " + flags_.tokenFile;
    struct stat status = {};
    if (stat(flags_.tokenFile.c_str(), &status) != 0 || !S_ISREG(status.st_mode))
      return mlir::succeeded(fail(where + ": no such file"));
    if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0)
      return mlir::succeeded(fail(where +
                                  ": others may read it, who could then change the job's "
                                  "parameters; chmod 600 " +
                                  flags_.tokenFile));
    constexpr int64_t kMostBytes = 256;
    const auto text = io::ReadText(flags_.tokenFile, kMostBytes);
    if (!text.ok()) return mlir::succeeded(fail(where + ": cannot be read, or is no token"));
    placement_.token = llvm::StringRef(*text).trim().str();
    return !placement_.token.empty() ? checkToken(where)
                                     : mlir::succeeded(fail(where + ": is empty"));
  }

  bool checkToken(const std::string& where) {
    if (placement_.token.empty()) return true;
    const auto key = comm::KeyOfToken(placement_.token);
    return key.ok() || mlir::succeeded(fail(where + ": " + std::string(key.status().message())));
  }

  // A role of the job by its name; by the framework's word the one that serves, or asks.
  bool findRole() {
    launch::Part part;
    const llvm::StringRef word(role_.text);
    std::string server, asks;
    if (!askers_.empty()) server = askers_.begin()->first, asks = askers_.begin()->second.first;
    if (findRoleNamed(word)) part.role = word.str();
    else if (word.equals_insensitive("trainer") && !asks.empty()) part.role = asks;
    else if (word.equals_insensitive("pserver") && !server.empty()) part.role = server;
    if (part.role.empty()) {
      std::vector<std::string> names;
      for (const RunnableRole& role : runnable_.roles) names.push_back(role.name);
      return mlir::succeeded(
          fail(role_.from + ": the job has the roles " + llvm::join(names, ", ")));
    }
    placement_.part = part;
    return true;
  }

  // What variables say counts for processes that are started one by one.
  bool checkTrainers() {
    if (askers_.empty() && flags_.trainers.empty()) return true;
    const Given given = either(flags_.trainers, "--trainers", "PADDLE_TRAINERS_NUM");
    // Of a job without servers all ranks are trainers.
    const RunnableRole& first = runnable_.roles.front();
    const std::string name = askers_.empty() ? first.name : askers_.begin()->second.first;
    const size_t ranks = askers_.empty() ? static_cast<size_t>(first.ranks())
                                         : askers_.begin()->second.second.size();
    int64_t number = 0;
    if (!given) return true;
    if (llvm::StringRef(given.text).getAsInteger(10, number))
      return mlir::succeeded(fail(given.from + ": is no number"));
    return number == static_cast<int64_t>(ranks) ||
           mlir::succeeded(fail(given.from + ": the job was transpiled for " +
                                countText(ranks, "trainer") + " ('" + name +
                                "'); transpile it for " + std::to_string(number) +
                                ", or start as many as it has"));
  }

  // One rank, or all of the role. A server without a number knows itself by its endpoint in the
  // list.
  bool findRank() {
    launch::Part& part = *placement_.part;
    const int64_t ranks = findRoleNamed(part.role)->ranks();
    part.count = static_cast<int>(ranks);
    Given given{flags_.rank, flags_.rank.empty() ? "" : "--rank " + flags_.rank};
    if (!given && !askers_.empty() && !serves()) given = either("", "", "PADDLE_TRAINER_ID");
    if (!given && serves()) return findOwnRank();
    // By the flag alone all ranks of the role may be meant; who sets variables means one.
    if (!given && flags_.role.empty())
      return mlir::succeeded(fail(role_.from + " is set, and PADDLE_TRAINER_ID is not"));
    if (!given) return true;
    int64_t rank = 0;
    if (llvm::StringRef(given.text).getAsInteger(10, rank) || rank < 0 || rank >= ranks)
      return mlir::succeeded(fail(given.from + ": role '" + part.role + "' has the ranks 0 to " +
                                  std::to_string(ranks - 1)));
    part.first = static_cast<int>(rank), part.count = 1;
    rank_ = given;
    return true;
  }

  const std::vector<std::string>& endpoints() { return placement_.endpoints.begin()->second; }

  // Where this server is to listen: by the flag, or POD_IP and PADDLE_PORT.
  Given ownEndpoint() {
    if (!flags_.endpoint.empty()) return {flags_.endpoint, "--endpoint " + flags_.endpoint};
    const Given ip = either("", "", "POD_IP"), port = either("", "", "PADDLE_PORT");
    if (ip && port) return {ip.text + ":" + port.text, ip.from + ", " + port.from};
    return {};
  }

  // The rank of a server is the place of its endpoint in the list.
  bool findOwnRank() {
    const Given own = ownEndpoint();
    if (!own && !flags_.role.empty()) return true;  // all of them
    if (!own)
      return mlir::succeeded(fail(
          role_.from + " is set, and POD_IP and PADDLE_PORT, which say which one it is, are not"));
    const auto found = llvm::find(endpoints(), own.text);
    if (found == endpoints().end())
      return mlir::succeeded(fail(own.from + ": " + own.text + " is not in " + list_.from));
    placement_.part->first = static_cast<int>(found - endpoints().begin());
    placement_.part->count = 1;
    return true;
  }

  bool checkOwnEndpoint() {
    const Given own = ownEndpoint();
    const std::string& listed = endpoints()[static_cast<size_t>(placement_.part->first)];
    if (!own || !rank_ || own.text == listed) return true;
    return mlir::succeeded(fail(own.from + ": server " + std::to_string(placement_.part->first) +
                                " (" + rank_.from + ") is at " + listed + " by " + list_.from));
  }

  Tool& tool_;
  Runnable& runnable_;
  const PlacementFlags& flags_;
  const std::map<std::string, std::pair<std::string, std::vector<int>>> askers_;
  Given role_, rank_, list_;
  Placement placement_;
};

}  // namespace

void declarePlacement(CLI::App& app, PlacementFlags& flags) {
  app.add_option("--role", flags.role,
                 "starts ranks of this role only: one of the job, trainer or pserver; else "
                 "TRAINING_ROLE. Without either every process of the job is started here");
  app.add_option(
      "--rank", flags.rank,
      "of --role; else PADDLE_TRAINER_ID, or the place of POD_IP:PADDLE_PORT in the list "
      "of servers; default: all ranks of the role");
  app.add_option("--pservers", flags.pservers,
                 "HOST:PORT,… where the servers listen, by rank; else "
                 "PADDLE_PSERVERS_IP_PORT_LIST, or those that the job was transpiled for");
  app.add_option("--trainers", flags.trainers,
                 "number of trainers, checked against the job; else PADDLE_TRAINERS_NUM");
  app.add_option("--endpoint", flags.endpoint, "HOST:PORT of this server; else POD_IP:PADDLE_PORT");
  app.add_option(
      "--token-file", flags.tokenFile,
      "file with the job's token, 32 hexadecimal digits, that nobody else may read; else "
      "DTRANSPILE_TOKEN");
  app.add_option("--role-threads", flags.threads, "ROLE=N: threads of each rank of a role");
  app.add_option("--role-device", flags.devices,
                 "ROLE=cpu or ROLE=cuda: what the ranks of a role run on");
}

mlir::FailureOr<Placement> findPlacement(Tool& tool, Runnable& runnable,
                                         const PlacementFlags& flags) {
  return Finder(tool, runnable, flags).find();
}

}  // namespace dtranspile::cli
