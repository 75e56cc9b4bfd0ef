#include "test/runtime/ps/job.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>

#include "runtime/base/status.h"
#include "runtime/comm/gloo/store.h"

namespace dtranspile::ps::test {

StoreProcess::StoreProcess() {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  pid_ = fork();
  REQUIRE(pid_ >= 0);
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const auto store = comm::StoreServer::Start("127.0.0.1:0", kToken);
    const std::string address = store.ok() ? (*store)->address() : "";
    (void)!write(ends[1], address.data(), address.size());
    close(ends[1]);
    while (true) pause();
  }
  close(ends[1]);
  char buffer[256];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof(buffer))) > 0;)
    address_.append(buffer, static_cast<size_t>(n));
  close(ends[0]);
  REQUIRE(!address_.empty());
}

StoreProcess::~StoreProcess() {
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

ServerOptions TestJob::ServerOf(int server) const {
  ServerOptions options;
  options.store = store.address();
  options.key = "servers";
  options.token = kToken;
  options.timeout_seconds = timeout_seconds;
  options.digest = "sha256:1";
  options.server = server;
  options.servers = servers;
  options.trainers = trainers;
  return options;
}

ClientOptions TestJob::ClientOf(int trainer) const {
  ClientOptions options;
  options.store = store.address();
  options.key = "servers";
  options.token = kToken;
  options.timeout_seconds = timeout_seconds;
  options.digest = "sha256:1";
  options.rank = trainer;
  options.ranks = trainers;
  options.servers = {{"ps", servers}};
  return options;
}

std::vector<comm::test::Outcome> TestJob::Run(const std::function<std::string(int)>& trainer,
                                              const std::function<std::string(int)>& server,
                                              std::vector<int> abandoned) const {
  return comm::test::RunRanks(
      trainers + servers,
      [&](int rank) { return rank < trainers ? trainer(rank) : server(rank - trainers); },
      std::move(abandoned), 120);
}

void TestJob::Require(const std::function<std::string(int)>& trainer,
                      const std::function<std::string(int)>& server) const {
  const auto outcomes = Run(trainer, server);
  for (size_t i = 0; i < outcomes.size(); ++i) {
    INFO(trainers << " trainers, " << servers << " servers, process " << i << ": "
                  << outcomes[i].text);
    CHECK(outcomes[i].text.empty());
    CHECK(outcomes[i].signal == 0);
    CHECK_FALSE(outcomes[i].late);
  }
}

int64_t Variable::count() const {
  int64_t n = 1;
  for (int64_t d : dims) n *= d;
  return n;
}

exec::Layout LayoutOf(exec::LayoutKind kind, std::vector<int64_t> whole, int dim, int64_t per,
                      int64_t first) {
  exec::Layout layout;
  layout.kind = kind;
  layout.axes = {"ps"};
  layout.dim = dim;
  layout.per = per;
  layout.first = first;
  layout.name = "table";
  layout.extent = 1;
  if (dim >= 0) layout.extent = whole[static_cast<size_t>(dim)];
  else
    for (int64_t d : whole) layout.extent *= d;
  layout.whole = std::move(whole);
  return layout;
}

Part PartOf(const Variable& variable, const std::vector<float>& whole, int server, int servers) {
  Part part;
  part.table.name = variable.name;
  part.table.dims = variable.dims;
  part.table.layout = variable.layout;
  part.values = whole;
  if (variable.layout) {
    const exec::Parts parts(*variable.layout, servers);
    part.table.place = {server, servers};
    const bool pad = variable.layout->dim > 0;
    part.table.dims = pad ? parts.room_dims() : parts.dims(server);
    int64_t count = 1;
    for (int64_t d : part.table.dims) count *= d;
    part.values.resize(static_cast<size_t>(count));
    parts.Take(server, sizeof(float), reinterpret_cast<const std::byte*>(whole.data()),
               reinterpret_cast<std::byte*>(part.values.data()), pad);
  }
  part.table.data = reinterpret_cast<std::byte*>(part.values.data());
  return part;
}

namespace {

// w -= rate · what was merged, of one block (or of the whole part).
absl::Status Descend(Server& server, Part& part, int64_t block, float rate) {
  std::vector<int64_t> dims = part.table.dims;
  int64_t begin = 0, extent = dims[0], inner = 1;
  for (size_t d = 1; d < dims.size(); ++d) inner *= dims[d];
  if (block >= 0) {
    const exec::Parts parts(*part.table.layout, part.table.place.of);
    begin = parts.block(block).local;
    extent = dims[0] = parts.block(block).extent;
  }
  std::vector<float> gradient(static_cast<size_t>(extent * inner));
  DT_RETURN_IF_ERROR(
      server.Merged(part.table.name, block,
                    {DType::kFloat32, dims, reinterpret_cast<std::byte*>(gradient.data())}));
  for (size_t i = 0; i < gradient.size(); ++i)
    part.values[static_cast<size_t>(begin * inner) + i] -= rate * gradient[i];
  return absl::OkStatus();
}

absl::Status Round(Server& server, std::vector<Part>& parts, float rate) {
  for (Part& part : parts) {
    if (part.values.empty()) continue;
    std::vector<int64_t> blocks;
    if (part.table.layout)
      for (const auto& one :
           exec::Parts(*part.table.layout, part.table.place.of).owned(part.table.place.at))
        blocks.push_back(one.number);
    if (blocks.empty()) blocks = {-1};
    for (const int64_t block : blocks) DT_RETURN_IF_ERROR(Descend(server, part, block, rate));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Serve(const ServerOptions& options, const std::vector<Variable>& variables,
                   const std::vector<std::vector<float>>& initial, float rate) {
  std::vector<Part> parts;
  std::vector<exec::Table> tables;
  for (size_t i = 0; i < variables.size(); ++i)
    parts.push_back(PartOf(variables[i], initial[i], options.server, options.servers));
  for (const Part& part : parts) tables.push_back(part.table);
  DT_ASSIGN_OR_RETURN(const auto server, Server::Make(options));
  DT_RETURN_IF_ERROR(server->Open(tables, {}));
  while (true) {
    DT_ASSIGN_OR_RETURN(const exec::Turn turn, server->Next());
    if (turn.kind == exec::Turn::Kind::kEnd) return absl::OkStatus();
    const absl::Status status = Round(*server, parts, rate);
    server->Finish(status);
    DT_RETURN_IF_ERROR(status);
  }
}

std::string Text(const absl::Status& status) {
  return status.ok() ? ""
                     : std::to_string(static_cast<int>(status.code())) + " " +
                           std::string(status.message());
}

}  // namespace dtranspile::ps::test
