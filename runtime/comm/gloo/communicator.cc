#include "runtime/comm/gloo/communicator.h"

#include <signal.h>
#include <unistd.h>

#include <map>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/comm/gloo/fabric.h"
#include "runtime/comm/gloo/mesh.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/queue.h"

namespace dtranspile::comm {
namespace {

// The keys of one group, within the store of the job.
class GroupStore {
 public:
  GroupStore(const Rendezvous& rendezvous, const std::string& name)
      : client_(rendezvous.store, rendezvous.token),
        prefix_(absl::StrCat(rendezvous.job, "/", name, "/")) {}

  absl::Status Set(const std::string& key, const std::string& value, double seconds) const {
    return client_.Set(prefix_ + key, value, seconds);
  }
  absl::Status Claim(const std::string& key, const std::string& value, double seconds) const {
    return client_.Claim(prefix_ + key, value, seconds);
  }
  absl::StatusOr<std::string> Get(const std::string& key, double seconds) const {
    return client_.Get(prefix_ + key, seconds);
  }

 private:
  const StoreClient client_;
  const std::string prefix_;
};

double SecondsUntil(int64_t deadline_ns) {
  return std::max(0.0, static_cast<double>(deadline_ns - NowNs()) * 1e-9);
}

// One server per address and process, shared by its groups.
absl::StatusOr<std::shared_ptr<StoreServer>> ServeIfNobodyDoes(const Rendezvous& rendezvous) {
  const std::string& address = rendezvous.store;
  static std::mutex mutex;
  static std::map<std::string, std::weak_ptr<StoreServer>> servers;
  std::lock_guard<std::mutex> lock(mutex);
  if (std::shared_ptr<StoreServer> server = servers[address].lock()) return server;
  absl::StatusOr<std::unique_ptr<StoreServer>> started =
      StoreServer::Start(address, rendezvous.token);
  if (absl::IsAlreadyExists(started.status()) || absl::IsNotFound(started.status()))
    return std::shared_ptr<StoreServer>();
  if (!started.ok()) return started.status();
  std::shared_ptr<StoreServer> server = *std::move(started);
  servers[address] = server;
  return server;
}

// A group over TCP: the queue of operations is that of QueuedCommunicator, data moves through
// Gloo's pairs, and ranks meet and fail through the store.
class GlooCommunicator : public QueuedCommunicator {
 public:
  GlooCommunicator(const Rendezvous& rendezvous, const std::string& name, int rank, int size)
      : QueuedCommunicator(name, rank, size, rendezvous.timeout_seconds),
        store_(rendezvous, name) {}

  ~GlooCommunicator() override {
    StopLanes();
    if (link_ != nullptr && !failed_)
      SayGoodbye(*link_, rank_, size_, std::min(timeout_seconds_, kGoodbyeSeconds));
    if (link_ != nullptr) link_->Close();
    // Peers of a failed group still want to read why.
    if (failed_ && server_ != nullptr) usleep(500'000);
  }

  const char* backend() const override { return "gloo"; }

  absl::Status Connect(const Rendezvous& rendezvous);

 protected:
  // Each lane has two slots of its own (Gloo's tags of messages), numbered alike on all ranks: lane
  // 0 is that of collectives, the others are one per ordered pair of ranks.
  absl::StatusOr<std::unique_ptr<Fabric>> MakeFabric(const LaneKey& key,
                                                     Patience& patience) override {
    const uint64_t pair =
        key == LaneKey{} ? 0 : 1 + static_cast<uint64_t>(key.from) * size_ + key.to;
    std::vector<int> ranks = {key.from, key.to};
    int index = rank_ == key.from ? 0 : 1;
    if (key == LaneKey{}) {
      ranks.resize(size_);
      std::iota(ranks.begin(), ranks.end(), 0);
      index = rank_;
    }
    return GlooFabric::Make(*link_, kFirstLaneSlot + 2 * pair, std::move(ranks), index, patience);
  }

  // The first reason stays in the store, where ranks that lose their connections look for it;
  // closing the link wakes the threads of this rank.
  void SpreadFailure(const absl::Status& why) override {
    failed_ = true;
    if (size_ == 1) return;
    constexpr double kSeconds = 1;
    store_.Claim(kFailureKey, std::string(why.message()), kSeconds).IgnoreError();
    if (link_ != nullptr) link_->Close();
  }

 private:
  static constexpr char kFailureKey[] = "failure";

  absl::Status Meet(int64_t deadline_ns);
  // A proven connection to every other rank.
  absl::StatusOr<std::vector<Socket>> FindPeers(const Rendezvous& rendezvous, int64_t deadline_ns);

  const GroupStore store_;
  std::shared_ptr<StoreServer> server_;
  std::unique_ptr<GlooLink> link_;
  std::atomic<bool> failed_{false};
};

// Every rank says that it is there, and waits for the others: whoever is missing can be named.
absl::Status GlooCommunicator::Meet(int64_t deadline_ns) {
  absl::Status status =
      store_.Claim(absl::StrCat("rank/", rank_), absl::StrCat(size_), SecondsUntil(deadline_ns));
  if (absl::IsAlreadyExists(status)) {
    return absl::AlreadyExistsError(
        absl::StrCat("rank ", rank_, " of group ", name_,
                     " has been taken; does another job have the same name?"));
  }
  if (!status.ok()) return status;
  for (int rank = 0; rank < size_; ++rank) {
    const absl::StatusOr<std::string> theirs =
        store_.Get(absl::StrCat("rank/", rank), SecondsUntil(deadline_ns));
    if (absl::IsDeadlineExceeded(theirs.status())) {
      return absl::DeadlineExceededError(
          absl::StrCat("rank ", rank, " of group ", name_, " has not joined before the deadline"));
    }
    if (!theirs.ok()) return theirs.status();
    if (*theirs != absl::StrCat(size_)) {
      return absl::FailedPreconditionError(absl::StrCat("group ", name_, " has ", *theirs,
                                                        " ranks for rank ", rank, ", but ", size_,
                                                        " for rank ", rank_));
    }
  }
  return absl::OkStatus();
}

// Addresses go through the store; who connects to whom, and the proof that both know the job's
// token, are ConnectMesh's.
absl::StatusOr<std::vector<Socket>> GlooCommunicator::FindPeers(const Rendezvous& rendezvous,
                                                                int64_t deadline_ns) {
  MeshOptions options;
  options.rank = rank_;
  options.size = size_;
  options.name = absl::StrCat(rendezvous.job, "/", name_);
  DT_ASSIGN_OR_RETURN(options.host, HostOf(rendezvous.interface));
  DT_ASSIGN_OR_RETURN(options.key, KeyOfToken(rendezvous.token));
  options.deadline_ns = deadline_ns;
  options.publish = [&](const std::string& address) {
    return store_.Set(absl::StrCat("address/", rank_), address, SecondsUntil(deadline_ns));
  };
  options.find = [&](int rank) {
    return store_.Get(absl::StrCat("address/", rank), SecondsUntil(deadline_ns));
  };
  return ConnectMesh(options);
}

// Store, meeting, connections, barrier: each step can name who is missing, which Gloo's own
// rendezvous cannot. All of them share one deadline.
absl::Status GlooCommunicator::Connect(const Rendezvous& rendezvous) {
  if (size_ == 1) {
    link_ = std::make_unique<GlooLink>(std::make_shared<gloo::Context>(0, 1),
                                       [] { return std::string(); });
    return absl::OkStatus();
  }
  const int64_t deadline_ns = NowNs() + static_cast<int64_t>(timeout_seconds_ * 1e9);
  if (rank_ == 0) {
    absl::StatusOr<std::shared_ptr<StoreServer>> server = ServeIfNobodyDoes(rendezvous);
    if (!server.ok()) return server.status();
    server_ = *std::move(server);
  }
  if (absl::Status status = Meet(deadline_ns); !status.ok()) return status;
  const auto failure = [&](const std::string& why) {
    return absl::UnavailableError(
        absl::StrCat("rank ", rank_, " could not join group ", name_, ": ", why));
  };
  absl::StatusOr<std::vector<Socket>> sockets = FindPeers(rendezvous, deadline_ns);
  if (!sockets.ok()) return failure(std::string(sockets.status().message()));
  try {
    DT_ASSIGN_OR_RETURN(const std::string host, HostOf(rendezvous.interface));
    const std::chrono::milliseconds left(MillisecondsUntil(deadline_ns) + 1);
    link_ =
        std::make_unique<GlooLink>(AdoptSockets(rank_, host, *std::move(sockets), left), [this] {
          constexpr double kSeconds = 0.3;
          const absl::StatusOr<std::string> reason = store_.Get(kFailureKey, kSeconds);
          return reason.ok() ? *reason : std::string();
        });
  } catch (const std::exception& e) {
    return failure(e.what());
  }
  // All pairs of this rank are connected now; those of others may still need the store that this
  // process serves.
  Request barrier;
  barrier.label = "join";
  return Run(std::move(barrier));
}

// A peer that is gone has to be an error of the write, not the end of the process; a handler that
// the program has set stays.
void IgnoreBrokenPipes() {
  struct sigaction action = {};
  if (sigaction(SIGPIPE, nullptr, &action) == 0 && action.sa_handler == SIG_DFL)
    signal(SIGPIPE, SIG_IGN);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Communicator>> JoinGloo(const Rendezvous& rendezvous,
                                                       const std::string& name, int rank,
                                                       int size) {
  IgnoreBrokenPipes();
  auto communicator = std::make_unique<GlooCommunicator>(rendezvous, name, rank, size);
  if (absl::Status status = communicator->Connect(rendezvous); !status.ok()) {
    communicator->Abort(std::string(status.message()));
    return status;
  }
  return communicator;
}

}  // namespace dtranspile::comm
