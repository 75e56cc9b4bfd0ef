#include "runtime/comm/inline_operation.h"

#include <vector>

#include "runtime/comm/exchange.h"
#include "runtime/comm/reduce.h"

namespace dtranspile::comm {
namespace {

class InlineOperation : public Exchange {
 public:
  using Exchange::Exchange;
  void Finish(size_t bytes);

 private:
  void Count(size_t bytes);
};

// All contributions have come with the headers. Each member computes its own result from them,
// reductions in the order of ranks, so that all members get equal bits.
void InlineOperation::Finish(size_t bytes) {
  Count(bytes);
  const Kind kind = request_.kind;
  if (kind == Kind::kSend || (kind == Kind::kReduce && me_ != request_.peer)) return;
  if (kind == Kind::kBroadcast || kind == Kind::kRecv) {
    Outputs().CopyFrom(fabric_.PayloadOf(kind == Kind::kRecv ? 0 : request_.peer), 0, bytes);
    return;
  }
  // What this rank gets of every contribution is a run of its flat bytes only where the list has
  // one piece; in general it is part `me` of every piece, which a view over the payload finds.
  const auto part_of = [&](int member, int index) {
    std::vector<Segment> pieces;
    std::byte* data = const_cast<std::byte*>(fabric_.PayloadOf(member));
    for (const Segment& input : request_.inputs) {
      pieces.push_back({data, input.count});
      data += static_cast<size_t>(input.count) * element_bytes_;
    }
    return View::Part(pieces, element_bytes_, index, n_);
  };
  if (kind == Kind::kAllGather) {
    for (int member = 0; member < n_; ++member)
      OutputPart(member).CopyFrom(fabric_.PayloadOf(member), 0, bytes);
    return;
  }
  std::vector<std::byte> flat;
  if (kind == Kind::kAllToAll) {
    flat.resize(bytes / n_);
    for (int member = 0; member < n_; ++member) {
      part_of(member, me_).CopyTo(flat.data(), 0, flat.size());
      OutputPart(member).CopyFrom(flat.data(), 0, flat.size());
    }
    return;
  }
  const bool scatter = kind == Kind::kReduceScatter;
  const size_t result_bytes = scatter ? bytes / n_ : bytes;
  flat.resize(result_bytes * (scatter ? n_ + 1 : 1));
  std::vector<const std::byte*> sources(n_);
  for (int member = 0; member < n_; ++member) {
    sources[member] = fabric_.PayloadOf(member);
    if (!scatter) continue;
    std::byte* copy = flat.data() + result_bytes * (member + 1);
    part_of(member, me_).CopyTo(copy, 0, result_bytes);
    sources[member] = copy;
  }
  comm::Reduce(request_.dtype, request_.reduce, sources.data(), n_, flat.data(),
               result_bytes / element_bytes_);
  Outputs().CopyFrom(flat.data(), 0, result_bytes);
}

// As if a message went to each of those who need it, although the headers go to all.
void InlineOperation::Count(size_t bytes) {
  for (int member = 0; member < n_; ++member) {
    if (member == me_) continue;
    const bool rooted = request_.kind == Kind::kBroadcast;
    const bool sender = request_.kind == Kind::kSend ||
                        (rooted ? me_ == request_.peer : request_.kind != Kind::kRecv);
    const bool receiver = request_.kind == Kind::kRecv ||
                          (rooted ? member == request_.peer : request_.kind != Kind::kSend);
    if (sender) traffic_.sent += bytes;
    if (receiver) traffic_.received += bytes;
  }
}

}  // namespace

void FinishInline(Fabric& fabric, const Request& request, Traffic& traffic, size_t bytes) {
  InlineOperation(fabric, request, traffic).Finish(bytes);
}

}  // namespace dtranspile::comm
