// The gRPC of the machine links beside protobuf and Abseil, and carries what parameter servers need
// of it: large messages without a schema of gRPC's own, several at once, deadlines, and a server
// that is gone.
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <catch2/catch.hpp>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

// Answers every call with the bytes that it got, one call after the other, until it is shut down.
class Echo {
 public:
  Echo() {
    grpc::ServerBuilder builder;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port_);
    builder.SetMaxReceiveMessageSize(-1);
    builder.RegisterAsyncGenericService(&service_);
    queue_ = builder.AddCompletionQueue();
    server_ = builder.BuildAndStart();
    if (!server_) return;
    Accept();
    thread_ = std::thread([this] { Serve(); });
  }

  ~Echo() { Stop(); }

  bool running() const { return server_ != nullptr && port_ != 0; }
  std::string address() const { return "127.0.0.1:" + std::to_string(port_); }

  void Stop() {
    if (!thread_.joinable()) return;
    {
      std::lock_guard<std::mutex> lock(mutex_);
      stopping_ = true;
    }
    server_->Shutdown(std::chrono::system_clock::now() + std::chrono::milliseconds(100));
    queue_->Shutdown();
    thread_.join();
  }

 private:
  struct Call {
    grpc::GenericServerContext context;
    grpc::GenericServerAsyncReaderWriter stream{&context};
    grpc::ByteBuffer bytes;
    int step = 0;
  };

  // Not after the end has begun: gRPC aborts a process that asks a queue that is shut down for
  // calls.
  void Accept() {
    std::lock_guard<std::mutex> lock(mutex_);
    if (stopping_) return;
    auto* call = new Call;
    service_.RequestCall(&call->context, &call->stream, queue_.get(), queue_.get(), call);
  }

  void Serve() {
    void* tag = nullptr;
    for (bool good = false; queue_->Next(&tag, &good);) {
      auto* call = static_cast<Call*>(tag);
      if (!good || call->step == 2) {
        delete call;
        continue;
      }
      if (call->step++ == 0) {
        Accept();
        call->stream.Read(&call->bytes, call);
      } else {
        call->stream.WriteAndFinish(call->bytes, grpc::WriteOptions(), grpc::Status::OK, call);
      }
    }
  }

  int port_ = 0;
  std::mutex mutex_;
  bool stopping_ = false;
  grpc::AsyncGenericService service_;
  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::unique_ptr<grpc::Server> server_;
  std::thread thread_;
};

grpc::Status Exchange(const std::string& address, const std::string& sent, std::string& received) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  grpc::GenericStub stub(
      grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + std::chrono::seconds(10));
  grpc::CompletionQueue queue;
  const grpc::Slice slice(sent.data(), sent.size());
  const grpc::ByteBuffer request(&slice, 1);
  auto call = stub.PrepareUnaryCall(&context, "/dtranspile.Test/Echo", request, &queue);
  grpc::ByteBuffer reply;
  grpc::Status status;
  call->StartCall();
  call->Finish(&reply, &status, nullptr);
  void* tag = nullptr;
  bool good = false;
  queue.Next(&tag, &good);
  std::vector<grpc::Slice> slices;
  if (status.ok()) status = reply.Dump(&slices);
  for (const grpc::Slice& part : slices)
    received.append(reinterpret_cast<const char*>(part.begin()), part.size());
  return status;
}

TEST_CASE("messages come back as they were sent") {
  Echo server;
  REQUIRE(server.running());
  constexpr size_t kLarge = size_t{20} << 20;  // above gRPC's default limit of 4 MiB
  for (const size_t size : {size_t{0}, size_t{1}, kLarge}) {
    std::string sent(size, '\0'), received;
    for (size_t i = 0; i < size; ++i) sent[i] = static_cast<char>(i * 131);
    const grpc::Status status = Exchange(server.address(), sent, received);
    INFO(status.error_message());
    REQUIRE(status.ok());
    CHECK((received == sent));
  }
}

TEST_CASE("several calls at once") {
  Echo server;
  REQUIRE(server.running());
  std::vector<std::string> received(4);
  std::vector<std::thread> callers;
  for (size_t i = 0; i < received.size(); ++i)
    callers.emplace_back([&, i] {
      Exchange(server.address(), std::string(100000, static_cast<char>('a' + i)), received[i]);
    });
  for (std::thread& caller : callers) caller.join();
  for (size_t i = 0; i < received.size(); ++i)
    CHECK((received[i] == std::string(100000, static_cast<char>('a' + i))));
}

TEST_CASE("a server that is gone ends a call with a status") {
  Echo server;
  REQUIRE(server.running());
  server.Stop();
  std::string received;
  const grpc::Status status = Exchange(server.address(), "x", received);
  CHECK((status.error_code() == grpc::StatusCode::UNAVAILABLE ||
         status.error_code() == grpc::StatusCode::DEADLINE_EXCEEDED));
}

}  // namespace
