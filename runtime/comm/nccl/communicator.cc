// Operations are enqueued on one stream per communicator, an event after each. Sends and receives
// are gathered until somebody waits or a collective comes, and issued as one NCCL group: two ranks
// that both send first would block each other otherwise.
#include "runtime/comm/nccl/communicator.h"

#include <unistd.h>

#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "runtime/comm/gloo/store.h"
#include "runtime/comm/operation.h"
#include "runtime/comm/patience.h"

namespace dtranspile::comm {
namespace {

absl::Status FromCuda(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": ", cudaGetErrorString(error)));
}

absl::Status FromNccl(ncclResult_t result, const char* what) {
  if (result == ncclSuccess || result == ncclInProgress) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(what, ": ", ncclGetErrorString(result)));
}

// How a reduction of an element type is said to NCCL; `factor` NCCL elements make up one of ours.
struct Reduction {
  ncclDataType_t type;
  int factor;
};

// Nothing where NCCL has no such reduction. A complex sum is that of twice as many reals; a product
// or an order of complex numbers is not, and NCCL has no 16-bit integers.
std::optional<Reduction> FindReduction(DType dtype, ReduceOp reduce) {
  const bool sum = reduce == ReduceOp::kSum;
  if (reduce == ReduceOp::kOr && dtype != DType::kBool) return std::nullopt;
  switch (dtype) {
    case DType::kBool:
    case DType::kUInt8: return Reduction{ncclUint8, 1};
    case DType::kInt8: return Reduction{ncclInt8, 1};
    case DType::kInt32: return Reduction{ncclInt32, 1};
    case DType::kInt64: return Reduction{ncclInt64, 1};
    case DType::kUInt32: return Reduction{ncclUint32, 1};
    case DType::kUInt64:
    case DType::kSizeT: return Reduction{ncclUint64, 1};
    case DType::kFloat16: return Reduction{ncclFloat16, 1};
    case DType::kBFloat16: return Reduction{ncclBfloat16, 1};
    case DType::kFloat32: return Reduction{ncclFloat32, 1};
    case DType::kFloat64: return Reduction{ncclFloat64, 1};
    case DType::kComplex64: return sum ? std::optional(Reduction{ncclFloat32, 2}) : std::nullopt;
    case DType::kComplex128: return sum ? std::optional(Reduction{ncclFloat64, 2}) : std::nullopt;
    case DType::kInt16: return std::nullopt;
  }
  return std::nullopt;
}

// Bools hold 0 or 1, so any is max and all is min.
ncclRedOp_t OperatorOf(DType dtype, ReduceOp reduce) {
  const bool logic = dtype == DType::kBool;
  switch (reduce) {
    case ReduceOp::kSum: return logic ? ncclMax : ncclSum;
    case ReduceOp::kProd: return logic ? ncclMin : ncclProd;
    case ReduceOp::kMin: return ncclMin;
    case ReduceOp::kMax:
    case ReduceOp::kOr: break;
  }
  return ncclMax;
}

bool IsTransfer(const Request& request) {
  return request.kind == Kind::kSend || request.kind == Kind::kRecv;
}
bool Reduces(const Request& request) {
  return request.kind == Kind::kAllReduce || request.kind == Kind::kReduce ||
         request.kind == Kind::kReduceScatter;
}

// NCCL's id of a group goes from rank 0 to the others through the job's store, the same one that
// groups of Gloo meet in. It is claimed, not set: a second job of the same name has to fail here,
// not to join this one's ring.
absl::StatusOr<ncclUniqueId> ExchangeId(const Rendezvous& rendezvous, const std::string& name,
                                        int rank) {
  ncclUniqueId id = {};
  const StoreClient store(rendezvous.store, rendezvous.token);
  const std::string key = absl::StrCat(rendezvous.job, "/", name, "/nccl");
  if (rank == 0) {
    if (absl::Status status = FromNccl(ncclGetUniqueId(&id), "ncclGetUniqueId"); !status.ok())
      return status;
    absl::Status status =
        store.Claim(key, std::string(id.internal, sizeof(id.internal)), rendezvous.timeout_seconds);
    if (!status.ok()) return status;
    return id;
  }
  const absl::StatusOr<std::string> bytes = store.Get(key, rendezvous.timeout_seconds);
  if (!bytes.ok()) return bytes.status();
  if (bytes->size() != sizeof(id.internal))
    return absl::FailedPreconditionError(absl::StrCat("'", key, "' in the store is no id of NCCL"));
  std::memcpy(id.internal, bytes->data(), sizeof(id.internal));
  return id;
}

}  // namespace

NcclCommunicator::NcclCommunicator(std::string name, int rank, int size, double timeout_seconds)
    : name_(std::move(name)), rank_(rank), size_(size), timeout_seconds_(timeout_seconds) {}

// Rank 0 makes NCCL's unique id, and the rendezvous carries it to the others; the connection itself
// is NCCL's.
absl::StatusOr<std::unique_ptr<Communicator>> NcclCommunicator::Join(const Rendezvous& rendezvous,
                                                                     const std::string& name,
                                                                     int rank, int size) {
  int devices = 0;
  const cudaError_t error = cudaGetDeviceCount(&devices);
  if (error != cudaSuccess || devices == 0) {
    return absl::FailedPreconditionError(absl::StrCat(
        "no CUDA GPU: ", error != cudaSuccess ? cudaGetErrorString(error) : "none found"));
  }
  absl::StatusOr<ncclUniqueId> id = ExchangeId(rendezvous, name, rank);
  if (!id.ok()) return id.status();
  std::unique_ptr<NcclCommunicator> communicator(
      new NcclCommunicator(name, rank, size, rendezvous.timeout_seconds));
  if (absl::Status status = communicator->Connect(*id); !status.ok()) return status;
  return communicator;
}

// Aborted, not destroyed: ncclCommDestroy waits for operations, which may wait for a rank that is
// gone.
NcclCommunicator::~NcclCommunicator() {
  if (comm_ != nullptr) ncclCommAbort(comm_);
  for (auto& [ticket, open] : open_) {
    if (open.done != nullptr) cudaEventDestroy(open.done);
  }
  if (barrier_word_ != nullptr) cudaFree(barrier_word_);
  if (stream_ != nullptr) cudaStreamDestroy(stream_);
}

// A communicator that does not block: NCCL then returns "in progress" and is polled, so that a rank
// that never comes is an error with its group's name and not a rank that hangs.
absl::Status NcclCommunicator::Connect(const ncclUniqueId& id) {
  if (absl::Status status =
          FromCuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "making a stream");
      !status.ok())
    return status;
  if (absl::Status status =
          FromCuda(cudaMalloc(&barrier_word_, sizeof(*barrier_word_)), "device memory");
      !status.ok())
    return status;
  ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  config.blocking = 0;  // every wait is ours, with a deadline
  absl::Status status =
      FromNccl(ncclCommInitRankConfig(&comm_, size_, id, rank_, &config), "ncclCommInitRank");
  if (!status.ok()) return status;
  return AwaitReady(NowNs() + static_cast<int64_t>(timeout_seconds_ * 1e9));
}

// Until NCCL has done what was last asked of the communicator. Every group call has to be followed
// by this before the stream is used (NCCL's rule for communicators that do not block).
absl::Status NcclCommunicator::AwaitReady(int64_t deadline_ns) {
  constexpr int kPauseUs = 20;
  while (true) {
    ncclResult_t state = ncclSuccess;
    if (absl::Status status =
            FromNccl(ncclCommGetAsyncError(comm_, &state), "ncclCommGetAsyncError");
        !status.ok())
      return status;
    if (state == ncclSuccess) return absl::OkStatus();
    if (state != ncclInProgress) {
      return absl::UnavailableError(absl::StrCat(
          "NCCL in group ", name_, ": ", ncclGetErrorString(state), ": ", ncclGetLastError(comm_)));
    }
    if (NowNs() > deadline_ns) {
      return absl::DeadlineExceededError(
          absl::StrCat("a rank of group ", name_, " has not come within ", timeout_seconds_, " s"));
    }
    usleep(kPauseUs);
  }
}

// A failure is kept: every later operation of the group gives it again, since the ranks no longer
// agree on what comes next.
absl::StatusOr<Ticket> NcclCommunicator::Start(Request request) {
  std::lock_guard<std::mutex> lock(mutex_);
  if (absl::Status status = CheckRequest(request, rank_, size_); !status.ok()) return status;
  if (Reduces(request) && !FindReduction(request.dtype, request.reduce)) {
    return absl::InvalidArgumentError(
        absl::StrCat(NameOf(request.kind), " '", request.label, "': NCCL does not reduce ",
                     dtranspile::NameOf(request.dtype), " by ", NameOf(request.reduce)));
  }
  if (!failure_.ok()) return failure_;
  Count(request);
  const Ticket ticket = next_ticket_++;
  Open& open = open_[ticket];
  open.label = absl::StrCat(NameOf(request.kind), " '", request.label, "' in group ", name_,
                            ", rank ", rank_);
  if (IsTransfer(request)) {
    transfers_.emplace_back(ticket, std::move(request));
    return ticket;
  }
  absl::Status status = FlushTransfers();
  if (status.ok()) status = Issue(request);
  if (status.ok()) status = Record(open);
  if (!status.ok()) {
    Fail(status);
    return failure_;
  }
  return ticket;
}

// Opens and closes the group even where one of its calls failed: NCCL counts nesting, and an open
// group would swallow all later calls. All pieces move as bytes, whatever their type.
absl::Status NcclCommunicator::FlushTransfers() {
  if (transfers_.empty()) return absl::OkStatus();
  absl::Status status = FromNccl(ncclGroupStart(), "ncclGroupStart");
  for (const auto& [ticket, request] : transfers_) {
    const std::vector<Segment>& list =
        request.kind == Kind::kSend ? request.inputs : request.outputs;
    for (const Segment& piece : list) {
      if (!status.ok() || piece.count == 0) continue;
      const size_t bytes = static_cast<size_t>(piece.count) * SizeOf(request.dtype);
      status = request.kind == Kind::kSend
                   ? FromNccl(ncclSend(piece.data, bytes, ncclInt8, request.peer, comm_, stream_),
                              "ncclSend")
                   : FromNccl(ncclRecv(piece.data, bytes, ncclInt8, request.peer, comm_, stream_),
                              "ncclRecv");
    }
  }
  const absl::Status end = FromNccl(ncclGroupEnd(), "ncclGroupEnd");
  if (status.ok()) status = end;
  for (auto& [ticket, request] : transfers_) {
    if (status.ok()) status = Record(open_[ticket]);
  }
  transfers_.clear();
  return status;
}

// Everything of a request in one group; the group is ready when all of it has been enqueued on the
// stream.
absl::Status NcclCommunicator::Issue(const Request& request) {
  if (request.kind == Kind::kBarrier) {
    return FromNccl(
        ncclAllReduce(barrier_word_, barrier_word_, 1, ncclInt32, ncclMax, comm_, stream_),
        "ncclAllReduce");
  }
  absl::Status status = FromNccl(ncclGroupStart(), "ncclGroupStart");
  const size_t pieces = CommonList(request).size();
  for (size_t piece = 0; status.ok() && piece < pieces; ++piece)
    status = IssuePiece(request, piece);
  const absl::Status end = FromNccl(ncclGroupEnd(), "ncclGroupEnd");
  return status.ok() ? end : status;
}

// One tensor of a bucket. What moves without arithmetic is counted in bytes, so that any element
// type can; reductions are counted in NCCL's elements.
absl::Status NcclCommunicator::IssuePiece(const Request& request, size_t piece) {
  const bool root = rank_ == request.peer;
  const Segment input = piece < request.inputs.size() ? request.inputs[piece] : Segment{};
  const Segment output = piece < request.outputs.size() ? request.outputs[piece] : Segment{};
  const size_t element_bytes = SizeOf(request.dtype);
  const Reduction reduction =
      Reduces(request) ? *FindReduction(request.dtype, request.reduce) : Reduction{ncclInt8, 1};
  const ncclRedOp_t op = OperatorOf(request.dtype, request.reduce);
  switch (request.kind) {
    case Kind::kAllReduce:
      return FromNccl(ncclAllReduce(input.data, output.data, input.count * reduction.factor,
                                    reduction.type, op, comm_, stream_),
                      "ncclAllReduce");
    case Kind::kReduce:
      return FromNccl(
          ncclReduce(input.data, root ? output.data : nullptr, input.count * reduction.factor,
                     reduction.type, op, request.peer, comm_, stream_),
          "ncclReduce");
    case Kind::kReduceScatter:
      return FromNccl(ncclReduceScatter(input.data, output.data, output.count * reduction.factor,
                                        reduction.type, op, comm_, stream_),
                      "ncclReduceScatter");
    case Kind::kBroadcast:
      return FromNccl(
          ncclBroadcast(root ? input.data : output.data, output.data, output.count * element_bytes,
                        ncclInt8, request.peer, comm_, stream_),
          "ncclBroadcast");
    case Kind::kAllGather:
      return FromNccl(ncclAllGather(input.data, output.data, input.count * element_bytes, ncclInt8,
                                    comm_, stream_),
                      "ncclAllGather");
    case Kind::kAllToAll: return AllToAll(input, output, element_bytes);
    default: return absl::InternalError("not a collective");
  }
}

// NCCL has no such collective: it is a send and a receive per peer, the rank itself among them,
// within the group that Issue has opened.
absl::Status NcclCommunicator::AllToAll(const Segment& input, const Segment& output,
                                        size_t element_bytes) {
  const size_t bytes = input.count / size_ * element_bytes;
  absl::Status status;
  for (int peer = 0; status.ok() && bytes > 0 && peer < size_; ++peer) {
    status = FromNccl(ncclSend(static_cast<char*>(input.data) + peer * bytes, bytes, ncclInt8, peer,
                               comm_, stream_),
                      "ncclSend");
    if (status.ok())
      status = FromNccl(ncclRecv(static_cast<char*>(output.data) + peer * bytes, bytes, ncclInt8,
                                 peer, comm_, stream_),
                        "ncclRecv");
  }
  return status;
}

// With a non-blocking communicator work reaches the stream only when NCCL says that it is ready.
absl::Status NcclCommunicator::Record(Open& open) {
  if (absl::Status status = AwaitReady(NowNs() + static_cast<int64_t>(timeout_seconds_ * 1e9));
      !status.ok())
    return status;
  if (absl::Status status =
          FromCuda(cudaEventCreateWithFlags(&open.done, cudaEventDisableTiming), "making an event");
      !status.ok())
    return status;
  return FromCuda(cudaEventRecord(open.done, stream_), "recording an event");
}

// Polls the operation's event, with the lock released between two looks so that other threads can
// start operations meanwhile. Transfers not yet issued are issued now: whoever waits for one must
// not wait for others to come.
absl::Status NcclCommunicator::Wait(Ticket ticket) {
  constexpr int kPauseUs = 5;
  const int64_t deadline_ns = NowNs() + static_cast<int64_t>(timeout_seconds_ * 1e9);
  while (true) {
    {
      std::lock_guard<std::mutex> lock(mutex_);
      const auto found = open_.find(ticket);
      if (found == open_.end()) {
        return absl::InvalidArgumentError(absl::StrCat("ticket ", ticket, " of group ", name_,
                                                       " was never given or has been waited for"));
      }
      bool done = false;
      absl::Status status = failure_;
      if (status.ok() && found->second.done == nullptr) status = FlushTransfers();
      if (status.ok()) status = Poll(found->second, deadline_ns, done);
      if (!status.ok() && failure_.ok())
        Fail(absl::Status(status.code(),
                          absl::StrCat(found->second.label, ": ", std::string(status.message()))));
      if (!status.ok() || done) {
        if (found->second.done != nullptr) cudaEventDestroy(found->second.done);
        open_.erase(found);
        return status.ok() ? status : failure_;
      }
    }
    usleep(kPauseUs);
  }
}

// The event first, then NCCL's asynchronous errors: an operation that ended before the communicator
// broke has succeeded.
absl::Status NcclCommunicator::Poll(const Open& open, int64_t deadline_ns, bool& done) {
  const cudaError_t state = cudaEventQuery(open.done);
  done = state == cudaSuccess;
  if (done) return absl::OkStatus();
  if (state != cudaErrorNotReady) return FromCuda(state, "the operation");
  ncclResult_t error = ncclSuccess;
  if (absl::Status status = FromNccl(ncclCommGetAsyncError(comm_, &error), "ncclCommGetAsyncError");
      !status.ok())
    return status;
  if (absl::Status status = FromNccl(error, "NCCL"); !status.ok()) return status;
  if (NowNs() <= deadline_ns) return absl::OkStatus();
  return absl::DeadlineExceededError(
      absl::StrCat("a rank of the group has not come within ", timeout_seconds_, " s"));
}

absl::Status NcclCommunicator::Run(Request request) {
  const absl::StatusOr<Ticket> ticket = Start(std::move(request));
  return ticket.ok() ? Wait(*ticket) : ticket.status();
}

// Payload as direct exchange would move it; NCCL does not say.
void NcclCommunicator::Count(const Request& request) {
  int64_t input = 0, output = 0;
  for (const Segment& piece : request.inputs)
    input += piece.count * static_cast<int64_t>(SizeOf(request.dtype));
  for (const Segment& piece : request.outputs)
    output += piece.count * static_cast<int64_t>(SizeOf(request.dtype));
  const bool root = rank_ == request.peer;
  switch (request.kind) {
    case Kind::kAllReduce:
      sent_ += 2 * input * (size_ - 1) / size_, received_ += 2 * input * (size_ - 1) / size_;
      break;
    case Kind::kReduce: root ? received_ += input * (size_ - 1) : sent_ += input; break;
    case Kind::kBroadcast: root ? sent_ += output * (size_ - 1) : received_ += output; break;
    case Kind::kAllGather: sent_ += input * (size_ - 1), received_ += input * (size_ - 1); break;
    case Kind::kReduceScatter:
      sent_ += output * (size_ - 1), received_ += output * (size_ - 1);
      break;
    case Kind::kAllToAll:
      sent_ += input * (size_ - 1) / size_, received_ += input * (size_ - 1) / size_;
      break;
    case Kind::kSend: sent_ += input; break;
    case Kind::kRecv: received_ += output; break;
    case Kind::kBarrier: break;
  }
}

// NCCL's own abort makes kernels that wait for a peer give up; the peers notice through their
// connections.
void NcclCommunicator::Fail(const absl::Status& status) {
  if (!failure_.ok()) return;
  failure_ = status;
  ncclCommAbort(comm_);
  comm_ = nullptr;
}

void NcclCommunicator::Abort(const std::string& why) {
  std::lock_guard<std::mutex> lock(mutex_);
  Fail(
      absl::AbortedError(absl::StrCat("group ", name_, " was aborted by rank ", rank_, ": ", why)));
}

}  // namespace dtranspile::comm
