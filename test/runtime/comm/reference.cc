#include "test/runtime/comm/reference.h"

#include <complex>
#include <cstring>
#include <sstream>
#include <stdexcept>

namespace dtranspile::comm::test {
namespace {

constexpr unsigned char kUntouched = 0xa5;
constexpr size_t kGuard = 64;

bool IsSigned(DType dtype) {
  return dtype != DType::kBool && dtype != DType::kUInt8 && dtype != DType::kUInt32 &&
         dtype != DType::kUInt64 && dtype != DType::kSizeT;
}
bool IsComplex(DType dtype) { return dtype == DType::kComplex64 || dtype == DType::kComplex128; }

// Values that every element type holds exactly, as are all results of reducing up to 16 of them,
// unless `fractions`.
std::complex<double> Value(const Trial& trial, int rank, size_t piece, int64_t index) {
  uint64_t x =
      static_cast<uint64_t>(trial.seed) * 1000003 + rank * 7919 + piece * 104729 + index * 31;
  x ^= x >> 7;
  x *= 0x9e3779b97f4a7c15u;
  const uint64_t bits = x >> 40;
  if (trial.fractions)
    return (static_cast<double>(bits % 20001) - 10000) / 997.0 * (bits % 7 == 0 ? 100.0 : 1.0);
  if (trial.dtype == DType::kBool) return static_cast<double>(bits % 2);
  if (trial.reduce == ReduceOp::kProd)
    return IsSigned(trial.dtype) && bits % 5 == 0 ? -1.0 : static_cast<double>(1 + bits % 2);
  const double real = static_cast<double>(bits % 7) -
                      (IsSigned(trial.dtype) && trial.reduce != ReduceOp::kOr ? 3 : 0);
  return IsComplex(trial.dtype) ? std::complex<double>(real, static_cast<double>(bits % 3)) : real;
}

uint16_t BFloat16Bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  // Nearest, ties to even, by comparing distances.
  const uint32_t low = bits & 0xffff0000u, high = low + 0x10000u;
  const uint32_t rest = bits - low;
  const bool up = rest > 0x8000u || (rest == 0x8000u && (low & 0x10000u) != 0);
  return static_cast<uint16_t>((up ? high : low) >> 16);
}

template <typename T>
void Put(unsigned char* to, T value) {
  std::memcpy(to, &value, sizeof(value));
}

void Store(DType dtype, unsigned char* to, std::complex<double> value) {
  const double real = value.real();
  switch (dtype) {
    case DType::kBool: return Put(to, static_cast<uint8_t>(real != 0));
    case DType::kInt8: return Put(to, static_cast<int8_t>(real));
    case DType::kInt16: return Put(to, static_cast<int16_t>(real));
    case DType::kInt32: return Put(to, static_cast<int32_t>(real));
    case DType::kInt64: return Put(to, static_cast<int64_t>(real));
    case DType::kUInt8: return Put(to, static_cast<uint8_t>(real));
    case DType::kUInt32: return Put(to, static_cast<uint32_t>(real));
    case DType::kUInt64:
    case DType::kSizeT: return Put(to, static_cast<uint64_t>(real));
    case DType::kFloat16: return Put(to, static_cast<_Float16>(static_cast<float>(real)));
    case DType::kBFloat16: return Put(to, BFloat16Bits(static_cast<float>(real)));
    case DType::kFloat32: return Put(to, static_cast<float>(real));
    case DType::kFloat64: return Put(to, real);
    case DType::kComplex64: return Put(to, std::complex<float>(value));
    case DType::kComplex128: return Put(to, value);
  }
}

std::complex<double> Load(DType dtype, const unsigned char* from) {
  const auto get = [&]<typename T>(T value) {
    std::memcpy(&value, from, sizeof(value));
    return value;
  };
  switch (dtype) {
    case DType::kBool: return static_cast<double>(get(uint8_t{}));
    case DType::kInt8: return static_cast<double>(get(int8_t{}));
    case DType::kInt16: return static_cast<double>(get(int16_t{}));
    case DType::kInt32: return static_cast<double>(get(int32_t{}));
    case DType::kInt64: return static_cast<double>(get(int64_t{}));
    case DType::kUInt8: return static_cast<double>(get(uint8_t{}));
    case DType::kUInt32: return static_cast<double>(get(uint32_t{}));
    case DType::kUInt64:
    case DType::kSizeT: return static_cast<double>(get(uint64_t{}));
    case DType::kFloat16: return static_cast<double>(get(_Float16{}));
    case DType::kBFloat16: {
      const uint32_t bits = static_cast<uint32_t>(get(uint16_t{})) << 16;
      float value;
      std::memcpy(&value, &bits, 4);
      return value;
    }
    case DType::kFloat32: return get(float{});
    case DType::kFloat64: return get(double{});
    case DType::kComplex64: return std::complex<double>(get(std::complex<float>{}));
    case DType::kComplex128: return get(std::complex<double>{});
  }
  return 0;
}

std::complex<double> Fold(const Trial& trial, std::complex<double> a, std::complex<double> b) {
  if (trial.dtype == DType::kBool) {
    const bool all = trial.reduce == ReduceOp::kProd || trial.reduce == ReduceOp::kMin;
    return all ? a.real() != 0 && b.real() != 0 : a.real() != 0 || b.real() != 0;
  }
  std::complex<double> result;
  switch (trial.reduce) {
    case ReduceOp::kSum: result = a + b; break;
    case ReduceOp::kProd: result = a * b; break;
    case ReduceOp::kMax: result = std::max(a.real(), b.real()); break;
    case ReduceOp::kMin: result = std::min(a.real(), b.real()); break;
    case ReduceOp::kOr:
      result =
          static_cast<double>(static_cast<uint64_t>(a.real()) | static_cast<uint64_t>(b.real()));
      break;
  }
  // Sums of 32-bit and 16-bit floats are formed in float32.
  const bool narrow = trial.dtype == DType::kFloat32 || trial.dtype == DType::kFloat16 ||
                      trial.dtype == DType::kBFloat16;
  return narrow ? std::complex<double>(static_cast<float>(result.real())) : result;
}

}  // namespace

std::string Describe(const Trial& trial) {
  std::ostringstream text;
  text << NameOf(trial.kind) << " " << NameOf(trial.reduce) << " "
       << dtranspile::NameOf(trial.dtype) << " root " << trial.root << " counts";
  for (const int64_t count : trial.counts) text << " " << count;
  if (trial.in_place) text << " in place";
  return text.str();
}

int64_t TrialRun::InputCount(int64_t count) const {
  return trial_.kind == Kind::kReduceScatter || trial_.kind == Kind::kAllToAll ? count * size_
                                                                               : count;
}
int64_t TrialRun::OutputCount(int64_t count) const {
  return trial_.kind == Kind::kAllGather || trial_.kind == Kind::kAllToAll ? count * size_ : count;
}

TrialRun::Bytes TrialRun::InputOf(int rank, size_t piece) const {
  const size_t element = SizeOf(trial_.dtype);
  const int64_t count = InputCount(trial_.counts[piece]);
  Bytes bytes(count * element + kGuard, kUntouched);
  for (int64_t i = 0; i < count; ++i)
    Store(trial_.dtype, bytes.data() + i * element, Value(trial_, rank, piece, i));
  return bytes;
}

TrialRun::TrialRun(const Trial& trial, int rank, int size)
    : trial_(trial), rank_(rank), size_(size) {
  for (size_t piece = 0; piece < trial.counts.size(); ++piece) {
    inputs_.push_back(InputOf(rank, piece));
    outputs_.emplace_back(OutputCount(trial.counts[piece]) * SizeOf(trial.dtype) + kGuard,
                          kUntouched);
  }
}

// Where the operation finds a buffer: its copy in the block, which is made with the first one, or
// the buffer itself.
unsigned char* TrialRun::PlaceInBlock(Bytes& bytes) const {
  constexpr size_t kAlign = 16;
  if (!trial_.shared) return bytes.data();
  if (block_.data() == nullptr) {
    block_used_ = trial_.skewed ? static_cast<size_t>(rank_) * kAlign : 0;
    size_t space = block_used_ + kAlign;
    for (const std::vector<Bytes>* list : {&inputs_, &outputs_}) {
      for (const Bytes& one : *list) space += one.size() + kAlign;
    }
    auto block = SharedMemory::Allocate(space);
    if (!block.ok()) throw std::runtime_error(block.status().ToString());
    block_ = *std::move(block);
  }
  auto [at, added] =
      in_block_.emplace(&bytes, reinterpret_cast<unsigned char*>(block_.data()) + block_used_);
  if (!added) return at->second;
  block_used_ += (bytes.size() + kAlign - 1) / kAlign * kAlign;
  std::memcpy(at->second, bytes.data(), bytes.size());
  return at->second;
}

Request TrialRun::MakeRequest() const {
  Request request;
  request.kind = trial_.kind;
  request.dtype = trial_.dtype;
  request.reduce = trial_.reduce;
  request.peer = trial_.root;
  if (trial_.kind == Kind::kSend) request.peer = (rank_ + 1) % size_;
  if (trial_.kind == Kind::kRecv) request.peer = (rank_ + size_ - 1) % size_;
  request.label = "trial";
  const bool inputs =
      trial_.kind != Kind::kRecv && (trial_.kind != Kind::kBroadcast || rank_ == trial_.root);
  const bool outputs = trial_.kind != Kind::kSend;
  for (size_t piece = 0; piece < trial_.counts.size(); ++piece) {
    Bytes& out = trial_.in_place ? inputs_[piece] : outputs_[piece];
    if (inputs)
      request.inputs.push_back({PlaceInBlock(inputs_[piece]), InputCount(trial_.counts[piece])});
    if (outputs) request.outputs.push_back({PlaceInBlock(out), OutputCount(trial_.counts[piece])});
  }
  return request;
}

TrialRun::Bytes TrialRun::Expected(size_t piece) const {
  const size_t element = SizeOf(trial_.dtype);
  const int64_t count = trial_.counts[piece];
  Bytes expected(OutputCount(count) * element + kGuard, kUntouched);
  if (trial_.kind == Kind::kSend || (trial_.kind == Kind::kReduce && rank_ != trial_.root))
    return expected;
  std::vector<Bytes> inputs;
  for (int rank = 0; rank < size_; ++rank) inputs.push_back(InputOf(rank, piece));
  const int previous = (rank_ + size_ - 1) % size_;
  for (int64_t i = 0; i < OutputCount(count); ++i) {
    unsigned char* to = expected.data() + i * element;
    const auto copy = [&](int rank, int64_t index) {
      std::memcpy(to, inputs[rank].data() + index * element, element);
    };
    switch (trial_.kind) {
      case Kind::kBroadcast: copy(trial_.root, i); break;
      case Kind::kRecv: copy(previous, i); break;
      case Kind::kAllGather: copy(i / count, i % count); break;
      case Kind::kAllToAll: copy(i / count, rank_ * count + i % count); break;
      default: {
        const int64_t index = trial_.kind == Kind::kReduceScatter ? rank_ * count + i : i;
        std::complex<double> sum = Load(trial_.dtype, inputs[0].data() + index * element);
        for (int rank = 1; rank < size_; ++rank)
          sum = Fold(trial_, sum, Load(trial_.dtype, inputs[rank].data() + index * element));
        Store(trial_.dtype, to, sum);
      }
    }
  }
  return expected;
}

std::string TrialRun::Check() const {
  for (auto [bytes, data] : in_block_) std::memcpy(bytes->data(), data, bytes->size());
  for (size_t piece = 0; piece < trial_.counts.size(); ++piece) {
    const Bytes expected = Expected(piece);
    const Bytes& out = trial_.in_place ? inputs_[piece] : outputs_[piece];
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i] == expected[i]) continue;
      std::ostringstream text;
      text << Describe(trial_) << ": rank " << rank_ << " of " << size_ << " differs in piece "
           << piece << " at byte " << i << " of " << out.size() - kGuard;
      return text.str();
    }
    if (!trial_.in_place && inputs_[piece] != InputOf(rank_, piece))
      return Describe(trial_) + ": an input was written";
  }
  return "";
}

std::string RunTrial(Communicator& comm, const Trial& trial) {
  TrialRun run(trial, comm.rank(), comm.size());
  if (trial.kind != Kind::kSend) {
    const absl::Status status = comm.Run(run.MakeRequest());
    return status.ok() ? run.Check() : Describe(trial) + ": " + status.ToString();
  }
  Trial back = trial;
  back.kind = Kind::kRecv;
  TrialRun receive(back, comm.rank(), comm.size());
  const absl::StatusOr<Ticket> sent = comm.Start(run.MakeRequest());
  const absl::StatusOr<Ticket> received = comm.Start(receive.MakeRequest());
  for (const absl::StatusOr<Ticket>* ticket : {&sent, &received}) {
    if (!ticket->ok()) return Describe(trial) + ": " + ticket->status().ToString();
    if (const absl::Status status = comm.Wait(**ticket); !status.ok())
      return Describe(trial) + ": " + status.ToString();
  }
  const std::string wrong = run.Check();
  return wrong.empty() ? receive.Check() : wrong;
}

}  // namespace dtranspile::comm::test
