// The queues of a trainer: what is sent when, counted at a link that stands for the servers.
#include "runtime/ps/communicator.h"

#include <atomic>
#include <catch2/catch.hpp>
#include <cstring>

namespace dtranspile::ps {
namespace {

using exec::Merge;
using exec::Sending;

// Servers that add up what is pushed, and remember in which messages it came.
struct Servers {
  std::mutex mutex;
  std::vector<std::string> events;
  std::vector<float> w = {0, 0};
  std::map<int64_t, float> rows;
  std::atomic<int> pulls{0};
  std::atomic<bool> hold{false};    // pushes take until it is off
  int flying = 0, most_flying = 0;  // pushes that nobody has waited for
  absl::Status wrong;               // of the next push
};

class Link : public exec::ServerLink {
 public:
  explicit Link(Servers& servers) : servers_(servers) {}

  absl::Status Push(const exec::TableRequest& request, Merge, const TensorView& value) override {
    while (servers_.hold) std::this_thread::yield();
    const std::lock_guard<std::mutex> lock(servers_.mutex);
    const auto* data = reinterpret_cast<const float*>(value.data);
    servers_.events.push_back("push " + request.table + " " + std::to_string(int(data[0])));
    for (size_t i = 0; i < servers_.w.size(); ++i) servers_.w[i] += data[i];
    servers_.most_flying = std::max(servers_.most_flying, ++servers_.flying);
    return std::exchange(servers_.wrong, absl::OkStatus());
  }
  absl::Status PushRows(const exec::TableRequest&, Merge, const exec::Value& value) override {
    const std::lock_guard<std::mutex> lock(servers_.mutex);
    servers_.events.push_back("rows " + std::to_string(value.rows.size()));
    for (size_t i = 0; i < value.rows.size(); ++i)
      servers_.rows[value.rows[i]] += value.as<float>()[i];
    return absl::OkStatus();
  }
  absl::Status PushChanged(const exec::TableRequest& request, Merge merge,
                           const TensorView& value) override {
    {
      const std::lock_guard<std::mutex> lock(servers_.mutex);
      servers_.events.push_back("changed");
    }
    return Push(request, merge, value);
  }
  absl::Status Pull(const exec::TableRequest&, const exec::TensorRoom& to) override {
    const std::lock_guard<std::mutex> lock(servers_.mutex);
    ++servers_.pulls;
    servers_.flying = 0;
    std::memcpy(to.data, servers_.w.data(), servers_.w.size() * sizeof(float));
    return absl::OkStatus();
  }
  absl::Status Lookup(const exec::TableRequest&, const int64_t*, int64_t,
                      const exec::TensorRoom&) override {
    return absl::OkStatus();
  }
  absl::Status EndPhase(const std::string&, exec::Phase) override {
    const std::lock_guard<std::mutex> lock(servers_.mutex);
    servers_.events.push_back("applied");
    servers_.flying = 0;
    return absl::OkStatus();
  }
  absl::Status Checkpoint(int64_t step) override {
    const std::lock_guard<std::mutex> lock(servers_.mutex);
    servers_.events.push_back("checkpoint " + std::to_string(step));
    return absl::OkStatus();
  }
  absl::Status Leave() override { return absl::OkStatus(); }
  void Abort(const std::string&) override {}
  int64_t bytes_sent() const override { return 0; }
  int64_t bytes_received() const override { return 0; }

 private:
  Servers& servers_;
};

struct Job {
  explicit Job(const Sending& sending) : communicator(std::make_unique<Link>(servers)) {
    REQUIRE(communicator.Configure(sending).ok());
  }

  absl::Status Push(float value, const std::string& table = "w", bool at_once = false) {
    const std::vector<float> values(2, value);
    exec::TableRequest request{"0:0 test", table};
    request.at_once = at_once;
    return communicator.Push(
        request, Merge::kEach,
        {DType::kFloat32, {2}, reinterpret_cast<const std::byte*>(values.data())});
  }
  absl::Status PushRows(std::vector<int64_t> rows, float value) {
    exec::Value gradient(exec::Value::Kind::kRows, DType::kFloat32);
    const auto count = static_cast<int64_t>(rows.size());
    REQUIRE(gradient.Resize({count, 1}).ok());
    gradient.rows = std::move(rows);
    gradient.height = 10;
    for (int64_t i = 0; i < count; ++i) gradient.as<float>()[i] = value;
    return communicator.PushRows({"0:0 test", "t"}, Merge::kEach, gradient);
  }
  float Pull() {
    std::vector<float> values(2, -1);
    const absl::Status status = communicator.Pull(
        {"0:0 test", "w"}, {DType::kFloat32, {2}, reinterpret_cast<std::byte*>(values.data())});
    INFO(status.message());
    CHECK(status.ok());
    return values[0];
  }
  std::vector<std::string> events() {
    const std::lock_guard<std::mutex> lock(servers.mutex);
    return servers.events;
  }

  Servers servers;
  Communicator communicator;
};

using Events = std::vector<std::string>;
constexpr int64_t kLong = 100'000;  // of 10 ms

TEST_CASE("gradients of a variable are merged in twos, others and counts of steps are not") {
  Sending sending;
  sending.max_merge_var_num = 2;
  sending.min_send_grad_num_before_recv = 4;
  sending.send_wait_times = kLong;
  Job job(sending);
  CHECK(job.Pull() == 0);
  for (const float value : {1.0F, 2.0F}) {
    REQUIRE(job.Push(10, "step", true).ok());
    REQUIRE(job.Push(value).ok());
    REQUIRE(job.Push(100 * value, "b").ok());
  }
  CHECK(job.Pull() == 20 + 3 + 300);
  Events events = job.events();
  CHECK(std::count(events.begin(), events.end(), "push step 10") == 2);
  CHECK(std::count(events.begin(), events.end(), "push w 3") == 1);
  CHECK(std::count(events.begin(), events.end(), "push b 300") == 1);
  CHECK(events.size() == 4);
  // What is left over goes out when the trainer leaves.
  REQUIRE(job.Push(7).ok());
  REQUIRE(job.communicator.Leave().ok());
  CHECK(job.events().back() == "push w 7");
}

TEST_CASE("merged gradients are averaged where sums are not wanted, rows one after the other") {
  Sending sending;
  sending.max_merge_var_num = 2;
  sending.min_send_grad_num_before_recv = 100;
  sending.send_wait_times = kLong;
  sending.average = 1;
  Job job(sending);
  REQUIRE(job.Push(1).ok());
  REQUIRE(job.Push(5).ok());
  REQUIRE(job.PushRows({3, 4}, 2).ok());
  REQUIRE(job.PushRows({4}, 6).ok());
  REQUIRE(job.communicator.EndPhase("", exec::Phase::kPush).ok());
  Events events = job.events();
  CHECK(std::count(events.begin(), events.end(), "push w 3") == 1);
  CHECK(std::count(events.begin(), events.end(), "rows 3") == 1);
  CHECK(job.servers.rows == std::map<int64_t, float>{{3, 1.0F}, {4, 4.0F}});
}

TEST_CASE("fewer gradients than are merged are sent when no more come") {
  Sending sending;
  sending.max_merge_var_num = 3;
  sending.min_send_grad_num_before_recv = 100;
  Job job(sending);
  REQUIRE(job.Push(1).ok());
  REQUIRE(job.Push(2).ok());
  for (int i = 0; i < 500 && job.events().empty(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  float sum = 0;
  {
    const std::lock_guard<std::mutex> lock(job.servers.mutex);
    sum = job.servers.w[0];
  }
  CHECK((sum == 1 || sum == 3));
}

TEST_CASE("pulls between which too few gradients are pushed ask nobody") {
  Sending sending;
  sending.min_send_grad_num_before_recv = 3;
  Job job(sending);
  CHECK(job.Pull() == 0);
  std::vector<float> seen;
  for (int step = 0; step < 6; ++step) {
    REQUIRE(job.Push(1).ok());
    seen.push_back(job.Pull());
  }
  CHECK(seen == std::vector<float>{0, 0, 3, 3, 3, 6});
  CHECK(job.servers.pulls == 3);
  // Without a pull at first, what the servers had is what the first steps go on with.
  Job begun(sending);
  REQUIRE(begun.Push(1).ok());
  CHECK(begun.Pull() == 0);
}

TEST_CASE("a full queue makes the program wait") {
  Sending sending;
  sending.send_queue_size = 2;
  sending.thread_pool_size = 2;
  Job job(sending);
  job.servers.hold = true;
  std::atomic<int> pushed{0};
  std::thread program([&] {
    for (int i = 0; i < 5; ++i) {
      if (!job.Push(1).ok()) return;
      ++pushed;
    }
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  CHECK(pushed == 2);
  job.servers.hold = false;
  program.join();
  CHECK(pushed == 5);
  CHECK(job.Pull() == 5);
  Events events = job.events();
  CHECK(std::count(events.begin(), events.end(), "push w 1") == 5);
  CHECK(job.servers.most_flying <= 2);
}

TEST_CASE("without senders as many gradients as a queue holds are under way") {
  Sending sending;
  sending.send_queue_size = 2;
  sending.min_send_grad_num_before_recv = 100;
  Job job(sending);
  for (const float value : {1.0F, 2.0F, 3.0F}) REQUIRE(job.Push(value).ok());
  CHECK(job.events() == Events{"push w 1", "push w 2", "applied", "push w 3"});
}

TEST_CASE("a receiver pulls by itself, and the program takes what it has") {
  Sending sending;
  sending.independent_recv_thread = 1;
  sending.min_send_grad_num_before_recv = 2;
  Job job(sending);
  CHECK(job.Pull() == 0);
  REQUIRE(job.Push(1).ok());
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  CHECK(job.Pull() == 0);  // one gradient is too few
  REQUIRE(job.Push(1).ok());
  float now = 0;
  for (int i = 0; i < 500 && now == 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    now = job.Pull();
  }
  CHECK(now == 2);
  CHECK(job.servers.pulls == 2);
}

TEST_CASE("changes are never merged, a checkpoint comes after what was pushed") {
  Sending sending;
  sending.thread_pool_size = 2;
  Job job(sending);
  const std::vector<float> values(2, 1);
  for (int i = 0; i < 2; ++i)
    REQUIRE(
        job.communicator
            .PushChanged({"0:0 test", "w"}, Merge::kEach,
                         {DType::kFloat32, {2}, reinterpret_cast<const std::byte*>(values.data())})
            .ok());
  REQUIRE(job.communicator.Checkpoint(3).ok());
  CHECK(job.events() == Events{"changed", "push w 1", "changed", "push w 1", "checkpoint 3"});
}

TEST_CASE("what goes wrong with a push is said at the next request, and nobody waits for it") {
  Sending sending;
  sending.thread_pool_size = 2;
  sending.send_queue_size = 1;
  Job job(sending);
  job.servers.wrong = absl::AbortedError("server 0 is out of ink");
  REQUIRE(job.Push(1).ok());
  absl::Status status;
  for (int i = 0; i < 3 && status.ok(); ++i) status = job.Push(1);
  CHECK(status.message() == "server 0 is out of ink");
  CHECK(job.communicator.Leave().message() == "server 0 is out of ink");
}

TEST_CASE("queues and gradients that do not go together are refused") {
  Servers servers;
  Communicator communicator(std::make_unique<Link>(servers));
  Sending sending;
  sending.max_merge_var_num = 32;
  CHECK(communicator.Configure(sending).message() ==
        "max_merge_var_num 32 and send_queue_size 16: a queue never holds as many gradients as are "
        "to be merged");
  CHECK(Link(servers).Configure(sending).message() ==
        "gradients wait for the round of all trainers, and the plan has them wait in queues too");
  Sending merges;
  merges.max_merge_var_num = 2;
  merges.min_send_grad_num_before_recv = 100;
  merges.send_wait_times = kLong;
  Job job(merges);
  REQUIRE(job.Push(1).ok());
  const std::vector<float> three(3, 1);
  REQUIRE(job.communicator
              .Push({"0:0 test", "w"}, Merge::kEach,
                    {DType::kFloat32, {3}, reinterpret_cast<const std::byte*>(three.data())})
              .ok());
  CHECK(job.communicator.EndPhase("", exec::Phase::kPush).message() ==
        "gradients of table 'w' that are to be merged have different extents");
}

}  // namespace
}  // namespace dtranspile::ps
