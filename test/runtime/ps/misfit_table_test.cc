// What does not fit a job (fault_table.h, MisfitTable), in every mode: who comes late, of another
// job or to a port that is taken, what is no message or too large a one, who is slow, what finds no
// room. All end in time with the status and the words of the table, or the job goes on.
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <random>
#include <thread>

#include "runtime/comm/gloo/handshake.h"
#include "runtime/comm/gloo/wire.h"
#include "runtime/comm/patience.h"
#include "runtime/ps/door.h"
#include "runtime/ps/peer.h"
#include "runtime/ps/settings.h"
#include "test/runtime/comm/processes.h"
#include "test/runtime/ps/fault_table.h"
#include "test/runtime/ps/job.h"

namespace dtranspile::ps::test {
namespace {

using comm::test::Now;

constexpr int64_t kSteps = 5;
// Of processes that start and end on a machine with other work.
constexpr double kBusy = 3;
constexpr int64_t kSecondNs = 1'000'000'000;

// Noise, half a proof and silence, then a proven connection on which no gRPC is spoken, and one
// that says a byte at a time.
void MakeNoise(const std::string& address) {
  std::mt19937 random(1);
  std::string noise(10000, 0);
  for (char& c : noise) c = static_cast<char>(random());
  std::vector<comm::Socket> open;
  const auto say = [](const comm::Socket& socket, const std::string& text) {
    (void)!send(socket.fd(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  };
  for (const std::string& text :
       {noise, std::string("GET / HTTP/1.1\r\n\r\n"), std::string("DTS2"), std::string()}) {
    auto socket = comm::ConnectTo(address, comm::NowNs() + kSecondNs);
    if (!socket.ok()) continue;
    say(*socket, text);
    open.push_back(*std::move(socket));
  }
  auto member = comm::Call(address, *comm::KeyOfToken(kToken), PurposeOf("server", 1), 1,
                           comm::NowNs() + kSecondNs);
  if (member.ok()) {
    say(*member, noise);
    open.push_back(*std::move(member));
  }
  auto slow = comm::ConnectTo(address, comm::NowNs() + kSecondNs);
  for (int i = 0; slow.ok() && i < 10; ++i, usleep(50'000)) say(*slow, "D");
}

// Of trainer 1: connections to both servers, as a worker has them, over which it says what no
// worker does.
class Rogue {
 public:
  explicit Rogue(const FaultyJob& job) : queue_(std::make_shared<grpc::CompletionQueue>()) {
    thread_ = std::thread([this] {
      void* tag = nullptr;
      for (bool ok = false; queue_->Next(&tag, &ok);) static_cast<Event*>(tag)->Happen(ok);
    });
    for (int server = 0; server < kServers; ++server) Meet(job, server);
  }
  ~Rogue() {
    for (const auto& peer : peers_) peer->Close();
    queue_->Shutdown();
    thread_.join();
  }

  // Pushes bytes to server 1; what it answers.
  grpc::Status Push(size_t bytes) {
    Peer& peer = *peers_.back();
    Request request;
    request.set_session(peer.session());
    request.mutable_push()->set_table("w");
    request.mutable_push()->set_merge(peer.most_waiting() > 0 ? MERGE_EACH : MERGE_MEAN);
    std::mutex mutex;
    std::condition_variable changed;
    bool done = false;
    grpc::Status answer;
    peer.Call(request, {grpc::Slice(std::string(bytes, 0))}, kDeadline,
              [&](const grpc::Status& status, const grpc::ByteBuffer&) {
                const std::lock_guard<std::mutex> lock(mutex);
                answer = status;
                done = true;
                changed.notify_all();
              });
    std::unique_lock<std::mutex> lock(mutex);
    changed.wait(lock, [&] { return done; });
    return answer;
  }
  void Abort(const std::string& why) {
    for (const auto& peer : peers_) peer->BeginAbort(why);
    for (const auto& peer : peers_) peer->AwaitEnd(comm::NowNs() + kSecondNs);
  }
  bool met() const { return peers_.size() == kServers; }

 private:
  void Meet(const FaultyJob& job, int server) {
    const int64_t deadline_ns = comm::NowNs() + 2 * kSecondNs;
    // Servers come at their own time.
    while (comm::NowNs() < deadline_ns) {
      auto socket = comm::Call(job.address(server), *comm::KeyOfToken(kToken),
                               PurposeOf("server", server), 1, comm::NowNs() + kSecondNs);
      if (!socket.ok()) continue;
      auto peer = std::make_unique<Peer>("server", *std::move(socket), kDeadline, queue_,
                                         [](const std::string&) {});
      Hello hello;
      hello.set_protocol(kProtocolVersion);
      hello.set_digest("sha256:0");
      hello.set_role("trainer");
      hello.set_rank(1);
      hello.set_ranks(kTrainers);
      hello.set_server_role("server");
      hello.set_server(static_cast<uint32_t>(server));
      hello.set_servers(kServers);
      const absl::Status met = peer->Meet(hello, deadline_ns);
      peers_.push_back(std::move(peer));
      if (!met.ok()) peers_.pop_back();
      return;
    }
  }

  const std::shared_ptr<grpc::CompletionQueue> queue_;
  std::vector<std::unique_ptr<Peer>> peers_;
  std::thread thread_;
};

// What it ends with is 0 where the server has answered as it should.
int RunRogue(const FaultyJob& job, Misfit misfit) {
  constexpr size_t kTooLarge = size_t{4} << 20;
  const exec::Parts parts(LayoutOf(exec::LayoutKind::kBlocks, {7, 2}, 0, 2), kServers);
  const auto part = static_cast<size_t>(parts.extent(1)) * 2 * sizeof(float);
  Rogue rogue(job);
  if (!rogue.met()) return 1;
  const bool large = misfit == Misfit::kTooLarge;
  const grpc::Status answer = rogue.Push(large ? kTooLarge : part / 2);
  if (large && answer.error_code() != grpc::StatusCode::RESOURCE_EXHAUSTED) return 2;
  if (!large && answer.ok()) return 3;
  rogue.Abort(answer.error_message());
  return 0;
}

void NoRoomForFiles() {
  const rlimit none = {0, RLIM_INFINITY};
  setrlimit(RLIMIT_FSIZE, &none);
}

void StandAt(const FaultyJob& job, Misfit misfit, int process, Phase phase, int64_t step) {
  if (misfit == Misfit::kNoRoom && phase == Phase::kPush && step == 0) job.AwaitTrainers();
  if (misfit == Misfit::kSlowTrainer && process == kTrainer1 && phase == Phase::kPush && step == 2)
    usleep(static_cast<unsigned>(kDeadline * 1.6e6));
  if (misfit == Misfit::kNoRoom && process == kServer1 && phase == Phase::kCheckpoint && step == 2)
    NoRoomForFiles();
  // Noise is to come to a job that still runs; without rounds trainers are to be there when the
  // others fail.
  const bool lingers = misfit == Misfit::kNoise || misfit == Misfit::kNoRoom ||
                       misfit == Misfit::kTooLarge || misfit == Misfit::kTruncated;
  if (lingers && process < kTrainers && phase == Phase::kShutdown) usleep(1'500'000);
}

exec::WorkerConfig ConfigOf(const FaultyJob& job, Misfit misfit, int process) {
  exec::WorkerConfig config = job.ConfigOf(process, kSteps);
  if (process != kTrainer1) return config;
  if (misfit == Misfit::kWorldSize) config.servers[0].senders = 3;
  if (misfit == Misfit::kOtherJob) config.plan = job.OtherJob(), config.digest = "sha256:1";
  return config;
}

void RunMisfit(Mode mode, const MisfitRow& row) {
  FaultyJob job(mode);
  const Misfit misfit = row.misfit;
  const bool is_rogue = misfit == Misfit::kTooLarge || misfit == Misfit::kTruncated;
  absl::StatusOr<comm::Socket> taken = comm::Socket();
  if (misfit == Misfit::kPortTaken) {
    taken = comm::Listen(job.address(1));
    REQUIRE(taken.ok());
  }
  const double begin = Now();
  for (const bool late : {false, true}) {
    const int who = misfit == Misfit::kLateServer    ? kServer1
                    : misfit == Misfit::kLateTrainer ? kTrainer1
                                                     : -1;
    if (late && who >= 0) usleep(1'000'000);
    for (int i = 0; i < kAll; ++i) {
      if ((i == who) != late) continue;
      if (i == kTrainer1 && is_rogue) job.StartOther(i, [&] { return RunRogue(job, misfit); });
      else
        job.Start(i, ConfigOf(job, misfit, i), [&job, misfit, i](Phase phase, int64_t step) {
          StandAt(job, misfit, i, phase, step);
        });
    }
  }
  if (misfit == Misfit::kNoise) MakeNoise(job.address(1));
  for (int i = 0; i < kAll; ++i) {
    const FaultyJob::End end = job.Await(i, std::max(begin + row.within + kBusy - Now(), 0.0));
    INFO((i < kTrainers ? "trainer " : "server ") << i % kTrainers << ": " << end.message);
    REQUIRE(end.in_time);
    if (row.says.empty() || (is_rogue && i == kTrainer1)) {
      CHECK(end.status == exec::kWorkerDone);
      continue;
    }
    CHECK(end.status == exec::kWorkerFailed);
    bool said = false;
    for (const std::string& one : row.says) said |= end.message.find(one) != std::string::npos;
    CHECK(said);
  }
  if (std::getenv("VERBOSE") != nullptr)
    WARN(NameOf(mode) << ", " << row.what << ": " << Now() - begin << " s");
  taken = comm::Socket();
  job.RequireNothingLeft();
}

}  // namespace

TEST_CASE("what does not fit a job ends it in time, by name, or is kept out") {
  for (const MisfitRow& row : MisfitTable())
    for (const Mode mode : row.modes) {
      INFO(NameOf(mode) << ": " << row.what);
      RunMisfit(mode, row);
    }
}

}  // namespace dtranspile::ps::test
