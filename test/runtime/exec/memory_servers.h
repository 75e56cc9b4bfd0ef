// Servers of synchronous rounds in the memory of this process, for float32 tables that are dense:
// ranks are threads. What the executor and the worker see of runtime/ps, without a transport.
#pragma once

#include <chrono>
#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "runtime/exec/server_link.h"

namespace dtranspile::exec {

class MemoryServers {
 public:
  MemoryServers(int trainers, int servers, double seconds = 20)
      : trainers_(trainers), seconds_(seconds), servers_(static_cast<size_t>(servers)) {}

  std::unique_ptr<ServerLink> Connect(int number) { return std::make_unique<Link>(*this, number); }
  std::unique_ptr<Rounds> Serve(int number) {
    return std::make_unique<Server>(*this, servers_[static_cast<size_t>(number)]);
  }

 private:
  enum class State { kClosed, kSend, kRound, kGet };
  struct One {
    std::vector<Table> tables;
    State state = State::kClosed;
    int64_t rounds = 0;
    int pushed = 0;
    std::set<int> pulled, left;  // trainers
    // By table and sender: what has been pushed in this round.
    std::map<std::string, std::map<int, std::vector<float>>> values;
    std::map<std::string, Merge> merges;

    const Table* find(const std::string& name) const {
      for (const Table& table : tables)
        if (table.name == name) return &table;
      return nullptr;
    }
  };
  using Lock = std::unique_lock<std::mutex>;

  // Waits for a condition, a failure or the deadline.
  template <typename Condition>
  absl::Status WaitFor(Lock& lock, const std::string& whom, Condition condition) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds_);
    while (!condition() && failure_.empty())
      if (changed_.wait_until(lock, end) == std::cv_status::timeout && !condition())
        return absl::DeadlineExceededError(
            absl::StrCat(whom, " has not come within ", seconds_, " s"));
    return failure_.empty() ? absl::OkStatus() : absl::UnavailableError(failure_);
  }
  void EndPulls(One& one) {
    std::set<int> done = one.left;
    done.insert(one.pulled.begin(), one.pulled.end());
    if (one.state != State::kGet || static_cast<int>(done.size()) < trainers_) return;
    one.pulled.clear();
    one.state = State::kSend;
  }
  void Fail(const std::string& why) {
    const Lock lock(mutex_);
    if (failure_.empty()) failure_ = why;
    changed_.notify_all();
  }

  class Link : public ServerLink {
   public:
    Link(MemoryServers& all, int number) : all_(all), number_(number) {}

    absl::Status Push(const TableRequest& request, Merge merge, const TensorView& value) override {
      return ForServers(request, [&](Lock& lock, One& one, const Parts& parts, int64_t part) {
        const absl::Status next = NextRound(lock, one);
        if (!next.ok()) return next;
        std::vector<float> mine(Elements(parts.dims(part)));
        parts.Take(part, sizeof(float), value.data, reinterpret_cast<std::byte*>(mine.data()),
                   false);
        one.values[request.table][number_] = std::move(mine);
        one.merges[request.table] = merge;
        return absl::OkStatus();
      });
    }
    absl::Status PushRows(const TableRequest&, Merge, const Value&) override {
      return absl::UnimplementedError("rows");
    }
    absl::Status Pull(const TableRequest& request, const TensorRoom& to) override {
      return ForServers(request, [&](Lock& lock, One& one, const Parts& parts, int64_t part) {
        const absl::Status open = all_.WaitFor(
            lock, absl::StrCat("the round of server ", part),
            [&] { return round_ == 0 || (one.state == State::kGet && one.rounds == round_); });
        if (!open.ok()) return open;
        const Table* table = one.find(request.table);
        if (table == nullptr) return absl::NotFoundError("no table '" + request.table + "'");
        parts.Put(part, sizeof(float), table->data, to.data, false);
        return absl::OkStatus();
      });
    }
    absl::Status Lookup(const TableRequest&, const int64_t*, int64_t, const TensorRoom&) override {
      return absl::UnimplementedError("lookup");
    }
    absl::Status EndPhase(const std::string&, Phase phase) override {
      Lock lock(all_.mutex_);
      for (One& one : all_.servers_) {
        if (phase == Phase::kPull) {
          one.pulled.insert(number_);
          all_.EndPulls(one);
          continue;
        }
        const absl::Status next = NextRound(lock, one);
        if (!next.ok()) return next;
        ++one.pushed;
      }
      if (phase == Phase::kPush) ++round_;
      all_.changed_.notify_all();
      return absl::OkStatus();
    }
    absl::Status Leave() override {
      const Lock lock(all_.mutex_);
      for (One& one : all_.servers_) {
        one.left.insert(number_);
        all_.EndPulls(one);
      }
      all_.changed_.notify_all();
      return absl::OkStatus();
    }
    void Abort(const std::string& why) override { all_.Fail(why); }
    int64_t bytes_sent() const override { return 1; }
    int64_t bytes_received() const override { return 2; }

   private:
    // Others may still pull what the last round has left.
    absl::Status NextRound(Lock& lock, const One& one) {
      return all_.WaitFor(lock, "the end of the pulls",
                          [&] { return one.state == State::kSend && one.rounds == round_; });
    }
    static size_t Elements(const std::vector<int64_t>& dims) {
      int64_t count = 1;
      for (int64_t extent : dims) count *= extent;
      return static_cast<size_t>(count);
    }
    template <typename Body>
    absl::Status ForServers(const TableRequest& request, Body body) {
      const Parts parts(*request.layout, static_cast<int64_t>(all_.servers_.size()));
      for (size_t k = 0; k < all_.servers_.size(); ++k) {
        Lock lock(all_.mutex_);
        One& one = all_.servers_[k];
        absl::Status status = all_.WaitFor(lock, absl::StrCat("server ", k),
                                           [&] { return one.state != State::kClosed; });
        if (status.ok()) status = body(lock, one, parts, static_cast<int64_t>(k));
        if (!status.ok()) return status;
      }
      return absl::OkStatus();
    }

    MemoryServers& all_;
    const int number_;
    int64_t round_ = 0;  // push phases that have ended: pulls wait for as many rounds
  };

  class Server : public Rounds {
   public:
    Server(MemoryServers& all, One& one) : all_(all), one_(one) {}

    absl::Status Open(std::vector<Table> tables, std::vector<Handler>) override {
      const Lock lock(all_.mutex_);
      one_.tables = std::move(tables);
      one_.state = State::kSend;
      all_.changed_.notify_all();
      return absl::OkStatus();
    }
    absl::StatusOr<Turn> Next() override {
      Lock lock(all_.mutex_);
      const auto present = [&] { return all_.trainers_ - static_cast<int>(one_.left.size()); };
      // Trainers may compute as long as they like.
      while (all_.failure_.empty() && present() > 0 &&
             (one_.state != State::kSend || one_.pushed < present()))
        all_.changed_.wait(lock);
      if (!all_.failure_.empty()) return absl::UnavailableError(all_.failure_);
      if (present() == 0) return Turn();
      one_.pushed = 0;
      one_.state = State::kRound;
      return Turn{Turn::Kind::kProgram, When::kRound, "", one_.rounds, {}};
    }
    void Finish(const absl::Status& status) override {
      if (!status.ok()) return all_.Fail(std::string(status.message()));
      const Lock lock(all_.mutex_);
      ++one_.rounds;
      one_.values.clear();
      one_.state = State::kGet;
      all_.changed_.notify_all();
    }
    absl::Status Merged(const std::string& table, int64_t block, const TensorRoom& to) override {
      const Table& own = *one_.find(table);
      const Parts parts(*own.layout, own.place.of);
      int64_t width = 1;
      for (size_t i = 1; i < own.dims.size(); ++i) width *= own.dims[i];
      const int64_t begin = block < 0 ? 0 : parts.block(block).local;
      auto* sum = reinterpret_cast<float*>(to.data);
      std::fill(sum, sum + to.dims[0] * width, 0.0F);
      const auto& pushed = one_.values[table];
      for (const auto& [sender, value] : pushed)
        for (int64_t i = 0; i < to.dims[0] * width; ++i)
          sum[i] += value[static_cast<size_t>(begin * width + i)];
      if (one_.merges[table] == Merge::kMean)
        for (int64_t i = 0; i < to.dims[0] * width; ++i)
          sum[i] /= static_cast<float>(pushed.size());
      return absl::OkStatus();
    }
    absl::Status MergedRows(const std::string&, int64_t, Value&) override {
      return absl::UnimplementedError("rows");
    }
    void Abort(const std::string& why) override { all_.Fail(why); }
    int64_t bytes_sent() const override { return 3; }
    int64_t bytes_received() const override { return 4; }

   private:
    MemoryServers& all_;
    One& one_;
  };

  const int trainers_;
  const double seconds_;
  std::vector<One> servers_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string failure_;
};

}  // namespace dtranspile::exec
