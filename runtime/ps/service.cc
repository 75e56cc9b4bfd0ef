#include "runtime/ps/service.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/grpcpp.h>
#include <grpcpp/server_posix.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <list>
#include <map>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "runtime/ps/door.h"
#include "runtime/ps/request_call.h"
#include "runtime/ps/session.h"
#include "runtime/ps/settings.h"

namespace dtranspile::ps {
namespace {

constexpr int kThreads = 2;
// For last words on their way when the service ends.
constexpr std::chrono::milliseconds kLastWords(1000);

// The server's end of all connections, asynchronous on two threads. Sockets come through the Door,
// where a peer proves the job's token before gRPC sees a byte of it.
class GrpcService : public Service, public SessionHost, public RequestHost {
 public:
  GrpcService(ServiceOptions options, Protocol& protocol)
      : options_(std::move(options)), protocol_(protocol) {}
  ~GrpcService() override;

  absl::Status Listen();

  const std::string& address() const override { return door_->address(); }
  void Abort(const std::string& why) override;
  int64_t bytes_sent() const override { return sent_; }
  int64_t bytes_received() const override { return received_; }

  // SessionHost.
  const ServiceOptions& options() const override { return options_; }
  Protocol& protocol() override { return protocol_; }
  uint64_t Admit(int trainer) override;
  void Forget(Session* session) override;

  // RequestHost.
  int TrainerOf(uint64_t session) override;
  void CountBytes(int64_t sent, int64_t received) override { sent_ += sent, received_ += received; }
  void CallEnded() override;

 private:
  class Arrival;

  void TellLate();
  void Enter(comm::Socket socket);
  void Expect();
  void Begin(std::unique_ptr<ServerStream> stream);
  void Loop();

  const ServiceOptions options_;
  Protocol& protocol_;
  grpc::AsyncGenericService generic_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool stopping_ = false;
  int64_t calls_ = 0;  // sessions apart; with those that have not come yet
  std::list<std::shared_ptr<Session>> sessions_;
  std::map<uint64_t, int> trainers_;  // by number of the session
  std::atomic<int64_t> sent_{0}, received_{0};
  std::vector<std::thread> threads_;
  std::unique_ptr<Door> door_;
};

// A call that has not come yet.
class GrpcService::Arrival : public Event {
 public:
  explicit Arrival(GrpcService& service)
      : service_(service), stream_(std::make_unique<ServerStream>()) {
    service_.generic_.RequestCall(&stream_->context, &stream_->io, service_.queue_.get(),
                                  service_.queue_.get(), this);
  }
  void Happen(bool ok) override {
    if (ok) {
      service_.Expect();
      service_.Begin(std::move(stream_));
    }
    GrpcService& service = service_;
    delete this;
    service.CallEnded();
  }

 private:
  GrpcService& service_;
  std::unique_ptr<ServerStream> stream_;
};

// Messages are limited to a chunk, or a row where rows are larger: a stranger's length is not
// believed.
absl::Status GrpcService::Listen() {
  int64_t row_bytes = 0;
  for (const exec::Table& table : protocol_.tables())
    row_bytes = std::max(row_bytes, RowBytesOf(table));
  grpc::ServerBuilder builder;
  builder.SetMaxReceiveMessageSize(MostMessageBytes(row_bytes));
  builder.SetMaxSendMessageSize(-1);
  SetArguments(options_.timeout_seconds,
               [&](const char* name, int value) { builder.AddChannelArgument(name, value); });
  builder.RegisterAsyncGenericService(&generic_);
  queue_ = builder.AddCompletionQueue();
  server_ = builder.BuildAndStart();
  if (server_ == nullptr) return absl::InternalError("gRPC does not start");
  for (int i = 0; i < kThreads; ++i) {
    Expect();
    threads_.emplace_back([this] { Loop(); });
  }
  auto door = Door::Open(options_.address, options_.key, PurposeOf(options_.role, options_.server),
                         [this](comm::Socket socket) { Enter(std::move(socket)); });
  if (!door.ok()) return door.status();
  door_ = *std::move(door);
  return absl::OkStatus();
}

// Who comes to a server that has failed is told why, and not left to find nobody there.
void GrpcService::TellLate() {
  if (!options_.tells_late || door_ == nullptr || protocol_.failure().ok()) return;
  if (!protocol_.AllHaveCome()) std::this_thread::sleep_for(kLastWords);
}

// In this order: no new sockets, answers for all that wait, an end of gRPC with time for last
// words, then the queue, which must not be closed while a call has an event in it.
GrpcService::~GrpcService() {
  TellLate();
  door_.reset();
  // Answers what still waits, so that gRPC has no call that nobody will finish.
  protocol_.Fail(protocol_.name() + " has ended");
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    stopping_ = true;
  }
  if (server_ == nullptr) return;
  server_->Shutdown(std::chrono::system_clock::now() + kLastWords);
  {
    // Calls that gRPC has ended still have something to say to the queue.
    std::unique_lock<std::mutex> lock(mutex_);
    ended_.wait(lock, [&] { return sessions_.empty() && calls_ == 0; });
  }
  queue_->Shutdown();
  for (std::thread& thread : threads_) thread.join();
}

void GrpcService::Enter(comm::Socket socket) {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (!stopping_) grpc::AddInsecureChannelFromFd(server_.get(), socket.Release());
}

// Not after the end has begun: gRPC aborts a process that asks a queue that is shut down for calls.
void GrpcService::Expect() {
  const std::lock_guard<std::mutex> lock(mutex_);
  if (stopping_) return;
  ++calls_;
  new Arrival(*this);
}

// Two methods: the session of a trainer, and a request, which belongs to the session that it names.
void GrpcService::Begin(std::unique_ptr<ServerStream> stream) {
  const std::string& method = stream->context.method();
  if (method == kSessionMethod) {
    auto session = std::make_shared<Session>(*this, std::move(stream));
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      sessions_.push_back(session);
    }
    session->Begin();
  } else {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      ++calls_;
    }
    // Ends itself.
    (new RequestCall(*this, std::move(stream)))->Begin(method == kRequestMethod);
  }
}

void GrpcService::Loop() {
  void* tag = nullptr;
  for (bool ok = false; queue_->Next(&tag, &ok);) static_cast<Event*>(tag)->Happen(ok);
}

// A number that cannot be guessed stands for the trainer in its requests.
uint64_t GrpcService::Admit(int trainer) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const uint64_t session = NewSessionNumber();
  trainers_[session] = trainer;
  return session;
}

void GrpcService::Forget(Session* session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  sessions_.remove_if([&](const auto& one) { return one.get() == session; });
  ended_.notify_all();
}

void GrpcService::CallEnded() {
  const std::lock_guard<std::mutex> lock(mutex_);
  --calls_;
  ended_.notify_all();
}

int GrpcService::TrainerOf(uint64_t session) {
  const std::lock_guard<std::mutex> lock(mutex_);
  const auto found = trainers_.find(session);
  return found == trainers_.end() ? -1 : found->second;
}

// Sessions are told outside of the lock, since they take it to be forgotten.
void GrpcService::Abort(const std::string& why) {
  std::list<std::shared_ptr<Session>> sessions;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    sessions = sessions_;
  }
  for (const auto& session : sessions) session->Abort(why);
}

}  // namespace

absl::StatusOr<std::unique_ptr<Service>> Service::Start(const ServiceOptions& options,
                                                        Protocol& protocol) {
  auto service = std::make_unique<GrpcService>(options, protocol);
  if (const absl::Status status = service->Listen(); !status.ok()) return status;
  return service;
}

}  // namespace dtranspile::ps
