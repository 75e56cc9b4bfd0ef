// What a client looks up: the rows of each id once, of the servers that have them, all at once.
#include <algorithm>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/client.h"
#include "runtime/ps/frame.h"
#include "runtime/ps/rows.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {
namespace {

constexpr int64_t kNumberBytes = sizeof(int64_t);

// A row of a server's part, and the row of the answer that it becomes.
struct Asked {
  int64_t number = 0, row = 0;
};

// One lookup: what of it every server is asked for.
struct Plan {
  Plan(const exec::ServerLink::Wanted& wanted, size_t servers)
      : wanted(wanted),
        distinct(wanted.ids, wanted.count, wanted.request->padding),
        by_server(servers) {}
  const exec::ServerLink::Wanted& wanted;
  const DistinctIds distinct;
  std::vector<std::vector<Asked>> by_server;
  int64_t row_bytes = 0;
};

// Rows of one lookup in a message.
struct Piece {
  const Plan* plan = nullptr;
  const Asked* rows = nullptr;
  int64_t count = 0;
};

std::string NameOf(const exec::TableRequest& request) {
  return absl::StrCat("the lookup in table '", request.table, "'");
}

std::string NameOf(const std::vector<Piece>& pieces) {
  const std::string first = NameOf(*pieces.front().plan->wanted.request);
  return pieces.size() == 1 ? first : absl::StrCat(first, " and ", pieces.size() - 1, " more");
}

// What of a server's rows goes into which message: of several lookups as much as fits one, so that
// many small ones cost what a large one does. A table that programs answer for is by itself, as
// they run once per message.
std::vector<std::vector<Piece>> MessagesFor(const Peer& peer, size_t server,
                                            const std::vector<Plan>& plans) {
  std::vector<std::vector<Piece>> messages;
  int64_t room = 0;
  for (const Plan& plan : plans) {
    const std::vector<Asked>& rows = plan.by_server[server];
    const bool alone = peer.answers_for(plan.wanted.request->table);
    const int64_t each = kNumberBytes + plan.row_bytes;
    if (alone) room = 0;
    for (size_t begin = 0; begin < rows.size();) {
      if (room < each) {
        messages.emplace_back();
        room = std::max(kChunkBytes, each);
      }
      const int64_t count =
          std::min(room / each, static_cast<int64_t>(rows.size()) - static_cast<int64_t>(begin));
      messages.back().push_back({&plan, rows.data() + begin, count});
      room -= count * each;
      begin += static_cast<size_t>(count);
    }
    if (alone) room = 0;
  }
  return messages;
}

grpc::Slice NumbersOf(const std::vector<Piece>& pieces) {
  int64_t count = 0;
  for (const Piece& piece : pieces) count += piece.count;
  SliceBuilder builder(static_cast<size_t>(count * kNumberBytes));
  std::byte* to = builder.data();
  for (const Piece& piece : pieces)
    for (int64_t i = 0; i < piece.count; ++i, to += kNumberBytes)
      std::memcpy(to, &piece.rows[i].number, sizeof(int64_t));
  return builder.Finish();
}

// A reply is the rows that were asked for, one after the other, and nothing else; the number of
// bytes is checked before any is written.
absl::Status TakeRows(const std::vector<Piece>& pieces, Payload& reply) {
  int64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.count * piece.plan->row_bytes;
  if (reply.left() != bytes)
    return absl::InternalError(
        absl::StrCat(NameOf(pieces), ": ", reply.left(), " bytes came, not ", bytes));
  for (const Piece& piece : pieces)
    for (int64_t i = 0; i < piece.count; ++i)
      reply.Read(piece.plan->wanted.to.data + piece.rows[i].row * piece.plan->row_bytes,
                 piece.plan->row_bytes);
  return absl::OkStatus();
}

}  // namespace

absl::Status Client::Lookup(const exec::TableRequest& request, const int64_t* ids, int64_t count,
                            const exec::TensorRoom& to) {
  return Lookups({{&request, ids, count, to}});
}

// Every id of a lookup is asked for once, of the server that has it; all servers and messages are
// under way at once.
absl::Status Client::Lookups(const std::vector<Wanted>& all) {
  DT_RETURN_IF_ERROR(failure());
  std::vector<Plan> plans;
  plans.reserve(all.size());  // messages point to them
  for (const Wanted& wanted : all) {
    const exec::TableRequest& request = *wanted.request;
    const std::string what = NameOf(request);
    DT_ASSIGN_OR_RETURN(const Cut* const cut, CutOf(request));
    if (!cut->by_rows())
      return absl::InvalidArgumentError(absl::StrCat(what, ": it is not cut along its rows"));
    Plan& plan = plans.emplace_back(wanted, peers_.size());
    std::vector<int64_t> server_of(static_cast<size_t>(cut->parts()), -1);
    int64_t rows = 0;
    for (const int64_t server : cut->OneForEach()) {
      DT_ASSIGN_OR_RETURN(const exec::Table* const table, TableOf(server, request.table));
      if (table->dtype != wanted.to.dtype)
        return CheckTable(server, request.table, wanted.to.dtype, table->dims);
      server_of[static_cast<size_t>(cut->part(server))] = server;
      rows += RowsOf(*table);
      plan.row_bytes = std::max(plan.row_bytes, RowBytesOf(*table));
    }
    DT_ASSIGN_OR_RETURN(const int64_t bytes, ByteCount(wanted.to.dtype, wanted.to.dims));
    if (bytes != wanted.count * plan.row_bytes)
      return absl::InvalidArgumentError(absl::StrCat(what, ": ", wanted.count, " rows of ",
                                                     plan.row_bytes, " bytes are not ",
                                                     ShapeText(wanted.to.dtype, wanted.to.dims)));
    for (const DistinctIds::Wanted& one : plan.distinct.wanted()) {
      if (one.id < 0 || one.id >= rows)
        return absl::OutOfRangeError(
            absl::StrCat(what, ": id ", one.id, " at ", one.row, ", and it has ", rows, " rows"));
      const exec::Parts::Found found = cut->Find(one.id);
      const int64_t server = server_of[static_cast<size_t>(found.part)];
      plan.by_server[static_cast<size_t>(server)].push_back({found.local, one.row});
    }
  }
  Batch batch;
  for (size_t server = 0; server < peers_.size(); ++server)
    for (std::vector<Piece>& pieces : MessagesFor(*peers_[server], server, plans)) {
      Request message = NewRequest(static_cast<int64_t>(server));
      if (pieces.size() == 1) {
        message.mutable_lookup()->set_table(pieces.front().plan->wanted.request->table);
      } else {
        for (const Piece& piece : pieces) {
          ps::Lookups::Rows& rows = *message.mutable_lookups()->add_rows();
          rows.set_table(piece.plan->wanted.request->table);
          rows.set_count(piece.count);
        }
      }
      const std::string what = NameOf(pieces);
      std::vector<grpc::Slice> numbers = {NumbersOf(pieces)};
      Call(batch, static_cast<int64_t>(server), message, std::move(numbers), what,
           [pieces = std::move(pieces)](Payload& reply) { return TakeRows(pieces, reply); });
    }
  DT_RETURN_IF_ERROR(Wait(batch));
  for (const Plan& plan : plans) plan.distinct.Fill(plan.wanted.to.data, plan.row_bytes);
  return absl::OkStatus();
}

}  // namespace dtranspile::ps
