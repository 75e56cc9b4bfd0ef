#include "runtime/ps/request_call.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/base/status.h"
#include "runtime/ps/table.h"

namespace dtranspile::ps {
namespace {

absl::Status Wrong(const std::string& what) { return absl::InvalidArgumentError(what); }

// The words of the wire; nothing for one that is none.
absl::StatusOr<PushChunk> ChunkOf(const Push& push) {
  PushChunk chunk;
  switch (push.merge()) {
    case MERGE_MEAN: chunk.merge = exec::Merge::kMean; break;
    case MERGE_SUM: chunk.merge = exec::Merge::kSum; break;
    case MERGE_EACH: chunk.merge = exec::Merge::kEach; break;
    default: return Wrong(absl::StrCat("a push with an unknown merge ", push.merge()));
  }
  const auto dtype = DTypeFromCode(push.dtype());
  if (!dtype) return Wrong(absl::StrCat("a push of an unknown element type ", push.dtype()));
  chunk.dtype = *dtype;
  chunk.number = push.chunk();
  chunk.sparse = push.sparse();
  chunk.tracked = push.tracked();
  chunk.rows = push.rows();
  return chunk;
}

absl::Status NoChunk(const exec::Table& table, int64_t chunk) {
  return Wrong(absl::StrCat("message ", chunk, " of ", ChunksOf(BytesOf(table)), " of table '",
                            table.name, "'"));
}

absl::StatusOr<exec::Phase> PhaseOf(const EndPhase& end) {
  if (end.phase() == PHASE_PUSH) return exec::Phase::kPush;
  if (end.phase() == PHASE_PULL) return exec::Phase::kPull;
  return Wrong(absl::StrCat("the end of an unknown phase ", end.phase()));
}

}  // namespace

// A method that the service lacks is refused without a look at its message.
void RequestCall::Begin(bool known) {
  if (known) return stream_->io.Read(&message_, this);
  answered_ = true;
  stream_->io.Finish({grpc::StatusCode::UNIMPLEMENTED, "no method of this server"}, this);
}

// The two events of a call: its message has been read, its answer has been sent.
void RequestCall::Happen(bool ok) {
  if (answered_) {
    RequestHost& host = host_;
    delete this;
    host.CallEnded();
  } else if (ok) {
    Handle();
  } else {
    Answer(Wrong("a request without a message"));
  }
}

// Reads are answered by the protocol when they may be, perhaps much later and from another thread.
void RequestCall::Handle() {
  auto payload = Unpack(message_, request_);
  message_.Clear();
  if (!payload.ok()) return Answer(payload.status());
  payload_ = *std::move(payload);
  const int trainer = trainer_ = host_.TrainerOf(request_.session());
  if (trainer < 0) return Answer(absl::UnauthenticatedError("a request of no session"));
  host_.CountBytes(0, payload_.left());
  Protocol& protocol = host_.protocol();
  const auto answer = [this](const absl::Status& status) { Answer(status); };
  switch (request_.what_case()) {
    case Request::kPush: {
      const auto chunk = ChunkOf(request_.push());
      return Answer(chunk.ok() ? protocol.Push(trainer, request_.round(), request_.push().table(),
                                               *chunk, payload_)
                               : chunk.status());
    }
    case Request::kPull:
      if (Ask()) return;
      return protocol.Read(trainer, request_.round(), request_.pull().table(),
                           Protocol::Reading::kPull, answer);
    case Request::kLookup:
      if (Ask()) return;
      return protocol.Read(trainer, request_.round(), request_.lookup().table(),
                           Protocol::Reading::kLookup, answer);
    case Request::kLookups: return LookUpAll();
    case Request::kChanged:
      return protocol.Read(trainer, request_.round(), request_.changed().table(),
                           Protocol::Reading::kChanged, answer);
    case Request::kEndPhase: {
      const auto phase = PhaseOf(request_.end_phase());
      if (!phase.ok()) return Answer(phase.status());
      if (request_.end_phase().checkpoint()) protocol.CheckpointAfter(request_.round());
      return protocol.EndPhase(trainer, request_.round(), *phase, answer);
    }
    case Request::kCheckpoint:
      return protocol.Checkpoint(trainer, request_.round(), request_.checkpoint().step(), answer);
    case Request::WHAT_NOT_SET: break;
  }
  Answer(Wrong("a request for nothing"));
}

// Of tables without programs, which the trainer knows; whether and when rows may be read is the
// same for all of them.
void RequestCall::LookUpAll() {
  Protocol& protocol = host_.protocol();
  const auto& all = request_.lookups().rows();
  int64_t bytes = 0;
  for (const Lookups::Rows& one : all) {
    const exec::Table* const table = protocol.Find(one.table());
    if (table == nullptr || protocol.Asks(*table))
      return Answer(Wrong(absl::StrCat("a lookup in table '", one.table(),
                                       "' among others: it is not there, or is for programs")));
    if (one.count() < 1 || one.count() > RowsPerChunk(RowBytesOf(*table)))
      return Answer(Wrong(absl::StrCat("a lookup of ", one.count(), " rows of table '", one.table(),
                                       "' among others")));
    bytes += one.count() * (static_cast<int64_t>(sizeof(int64_t)) + RowBytesOf(*table));
  }
  if (all.empty() || (all.size() > 1 && bytes > kChunkBytes))
    return Answer(Wrong(absl::StrCat(all.size(), " lookups of ", bytes, " bytes in one message")));
  protocol.Read(trainer_, request_.round(), all[0].table(), Protocol::Reading::kLookup,
                [this](const absl::Status& status) { Answer(status); });
}

// Hands a pull or a lookup on to the programs of the server, where the table has such.
bool RequestCall::Ask() {
  const bool pull = request_.has_pull();
  Protocol& protocol = host_.protocol();
  const exec::Table* table =
      protocol.Find(pull ? request_.pull().table() : request_.lookup().table());
  if (table == nullptr || !protocol.Asks(*table)) return false;
  std::vector<int64_t> rows;
  const int64_t chunk = pull ? request_.pull().chunk() : 0;
  absl::Status status;
  if (!pull) status = Read(*table, NumbersLeft(), rows);
  else if (chunk < 0 || chunk >= ChunksOf(BytesOf(*table))) status = NoChunk(*table, chunk);
  else if (table->touch) status = table->touch(nullptr, 0);
  if (!status.ok()) {
    Send(status);
    return true;
  }
  protocol.Ask(trainer_, request_.round(), *table,
               pull ? Protocol::Reading::kPull : Protocol::Reading::kLookup, chunk, std::move(rows),
               [this](absl::StatusOr<Served> served) {
                 if (!served.ok()) return Send(served.status());
                 const std::byte* const from = served->memory.get() + served->begin;
                 const auto bytes = static_cast<size_t>(served->bytes);
                 Send(Slices{Lent(std::move(served->memory), from, bytes)});
               });
  return true;
}

void RequestCall::Answer(const absl::Status& status) { Send(status.ok() ? Result() : status); }

// Slices of the reply may point into tables: gRPC gives them back when the bytes are out.
void RequestCall::Send(absl::StatusOr<Slices> result) {
  answered_ = true;
  if (!result.ok()) return stream_->io.Finish(OnTheWire(result.status()), this);
  int64_t bytes = 0;
  for (const grpc::Slice& slice : *result) bytes += static_cast<int64_t>(slice.size());
  host_.CountBytes(bytes, 0);
  // An empty message has no slice, and needs one.
  if (result->empty()) result->emplace_back();
  const grpc::ByteBuffer reply(result->data(), result->size());
  stream_->io.WriteAndFinish(reply, grpc::WriteOptions(), grpc::Status::OK, this);
}

// What stands in the reply. The memory of tables is read here, while the protocol lets it.
absl::StatusOr<RequestCall::Slices> RequestCall::Result() {
  const bool pull = request_.has_pull();
  if (request_.has_changed()) {
    const exec::Table* table = host_.protocol().Find(request_.changed().table());
    DT_ASSIGN_OR_RETURN(const std::vector<int64_t> rows,
                        host_.protocol().TakeChanged(trainer_, *table));
    SliceBuilder numbers(rows.size() * sizeof(int64_t));
    if (!rows.empty()) std::memcpy(numbers.data(), rows.data(), rows.size() * sizeof(int64_t));
    return Slices{numbers.Finish()};
  }
  if (pull) return Chunk(*host_.protocol().Find(request_.pull().table()), request_.pull().chunk());
  if (request_.has_lookup())
    return Rows({host_.protocol().Find(request_.lookup().table())}, {NumbersLeft()});
  std::vector<const exec::Table*> tables;
  std::vector<int64_t> counts;
  for (const Lookups::Rows& one : request_.lookups().rows()) {
    tables.push_back(host_.protocol().Find(one.table()));
    counts.push_back(one.count());
  }
  return tables.empty() ? Slices() : Rows(tables, counts);
}

// Lent: it stays as it is until this trainer has had it.
absl::StatusOr<RequestCall::Slices> RequestCall::Chunk(const exec::Table& table, int64_t chunk) {
  const int64_t bytes = BytesOf(table);
  if (chunk < 0 || chunk >= ChunksOf(bytes)) return NoChunk(table, chunk);
  if (table.touch) DT_RETURN_IF_ERROR(table.touch(nullptr, 0));
  const int64_t at = chunk * kChunkBytes, size = std::min(kChunkBytes, bytes - at);
  std::shared_ptr<const std::byte> memory =
      host_.protocol().Memory(trainer_, table, Protocol::Reading::kPull, chunk);
  const std::byte* const from = memory.get() + at;
  return Slices{Lent(std::move(memory), from, static_cast<size_t>(size))};
}

// The rows that a lookup asks for, all of which are in the table and have values then.
absl::Status RequestCall::Read(const exec::Table& table, int64_t count,
                               std::vector<int64_t>& rows) {
  if (count < 0 || count > RowsPerChunk(RowBytesOf(table)))
    return Wrong(absl::StrCat("a lookup of ", payload_.left(), " bytes of row numbers"));
  rows.resize(static_cast<size_t>(count));
  for (int64_t& row : rows) {
    payload_.Read(&row, sizeof(row));
    if (row < 0 || row >= RowsOf(table))
      return absl::OutOfRangeError(absl::StrCat("row ", row, " of the ", RowsOf(table),
                                                " of table '", table.name, "' here"));
  }
  if (table.touch && count > 0) return table.touch(rows.data(), count);
  return absl::OkStatus();
}

// How many row numbers are left; -1 where they are not whole ones.
int64_t RequestCall::NumbersLeft() const {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(int64_t));
  return payload_.left() % kBytes == 0 ? payload_.left() / kBytes : -1;
}

// Rows lie apart in the tables, so they are copied into one slice, table by table.
absl::StatusOr<RequestCall::Slices> RequestCall::Rows(const std::vector<const exec::Table*>& tables,
                                                      const std::vector<int64_t>& counts) {
  std::vector<std::vector<int64_t>> numbers(tables.size());
  size_t bytes = 0;
  if (NumbersLeft() != std::accumulate(counts.begin(), counts.end(), int64_t{0}))
    return Wrong(absl::StrCat("lookups with ", payload_.left(), " bytes of row numbers"));
  for (size_t i = 0; i < tables.size(); ++i) {
    DT_RETURN_IF_ERROR(Read(*tables[i], counts[i], numbers[i]));
    bytes += numbers[i].size() * static_cast<size_t>(RowBytesOf(*tables[i]));
  }
  SliceBuilder rows(bytes);
  std::byte* to = rows.data();
  for (size_t i = 0; i < tables.size(); ++i) {
    const int64_t row_bytes = RowBytesOf(*tables[i]);
    const std::shared_ptr<const std::byte> memory =
        host_.protocol().Memory(trainer_, *tables[i], Protocol::Reading::kLookup, 0);
    for (const int64_t row : numbers[i]) {
      std::memcpy(to, memory.get() + row * row_bytes, static_cast<size_t>(row_bytes));
      to += row_bytes;
    }
  }
  return Slices{rows.Finish()};
}

}  // namespace dtranspile::ps
