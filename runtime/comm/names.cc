// Names of operations and reductions, for messages.
#include "runtime/comm/communicator.h"

namespace dtranspile::comm {

const char* NameOf(Kind kind) {
  switch (kind) {
    case Kind::kAllReduce: return "all_reduce";
    case Kind::kReduce: return "reduce";
    case Kind::kBroadcast: return "broadcast";
    case Kind::kAllGather: return "all_gather";
    case Kind::kReduceScatter: return "reduce_scatter";
    case Kind::kAllToAll: return "all_to_all";
    case Kind::kSend: return "send";
    case Kind::kRecv: return "recv";
    case Kind::kBarrier: return "barrier";
  }
  return "unknown operation";
}

const char* NameOf(ReduceOp reduce) {
  switch (reduce) {
    case ReduceOp::kSum: return "sum";
    case ReduceOp::kMax: return "max";
    case ReduceOp::kMin: return "min";
    case ReduceOp::kProd: return "prod";
    case ReduceOp::kOr: return "or";
  }
  return "unknown reduction";
}

}  // namespace dtranspile::comm
