// Jobs of trainers and servers as real processes, for the tests of runtime/ps: a store in a process
// of its own, and what every rank begins with.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "runtime/exec/layout.h"
#include "runtime/exec/server_link.h"
#include "runtime/ps/client.h"
#include "runtime/ps/server.h"
#include "test/runtime/comm/processes.h"

namespace dtranspile::ps::test {

inline constexpr char kToken[] = "00112233445566778899aabbccddeeff";

// Serves a store until destroyed.
class StoreProcess {
 public:
  StoreProcess();
  ~StoreProcess();
  StoreProcess(const StoreProcess&) = delete;
  StoreProcess& operator=(const StoreProcess&) = delete;
  const std::string& address() const { return address_; }

 private:
  pid_t pid_ = 0;
  std::string address_;
};

struct TestJob {
  int trainers = 1, servers = 1;
  double timeout_seconds = 30;
  StoreProcess store = {};

  ServerOptions ServerOf(int server) const;
  ClientOptions ClientOf(int trainer) const;

  // Runs trainers, then servers, by rank; each returns what the test is told. `abandoned`:
  // processes that are not waited for.
  std::vector<comm::test::Outcome> Run(const std::function<std::string(int)>& trainer,
                                       const std::function<std::string(int)>& server,
                                       std::vector<int> abandoned = {}) const;
  // The same, and fails the test unless every process returned "".
  void Require(const std::function<std::string(int)>& trainer,
               const std::function<std::string(int)>& server) const;
};

// A table of a test: the whole of it, and how it lies on the servers.
struct Variable {
  std::string name;
  DType dtype = DType::kFloat32;
  std::vector<int64_t> dims;
  std::optional<exec::Layout> layout;

  exec::TableRequest request() const { return {"0:0 test", name, layout ? &*layout : nullptr}; }
  int64_t count() const;
};

exec::Layout LayoutOf(exec::LayoutKind kind, std::vector<int64_t> whole, int dim, int64_t per = 0,
                      int64_t first = 0);

// A server's part of a float32 variable, and the table that says where it is.
struct Part {
  std::vector<float> values;
  exec::Table table;
};
Part PartOf(const Variable& variable, const std::vector<float>& whole, int server, int servers);

// Serves float32 variables with plain gradient descent, a block at a time, until all trainers have
// left; the error otherwise.
absl::Status Serve(const ServerOptions& options, const std::vector<Variable>& variables,
                   const std::vector<std::vector<float>>& initial, float rate);

// "" for ok, else code and message.
std::string Text(const absl::Status& status);

}  // namespace dtranspile::ps::test
