// What plans call around the blocks of recurrent and conditional_block
// (compiler/lower/recurrent_lowering.cc, block_lowering.cc).
#include "runtime/kernels/cpu/ops/control_flow/loop.h"

namespace dtranspile::kernels {
namespace {

bool Counters(OpCall& call, int64_t*& step, bool*& more, int64_t& extent) {
  const DtBuffer& sequence = call.Arg(0);
  if (sequence.rank < 1)
    return call.Fail("'%s' has no leading extent to run over", sequence.name), false;
  const DtBuffer &s = call.Arg(1), &m = call.Arg(2);
  if (TypeOf(s) != DType::kInt64 || TypeOf(m) != DType::kBool || Elements(s) != 1 ||
      Elements(m) != 1)
    return call.Fail("the counters are no int64 and bool of one element"), false;
  step = Data<int64_t>(s);
  more = Data<bool>(m);
  extent = sequence.dims[0];
  return true;
}

}  // namespace

int32_t LoopBegin(OpCall& call) {
  int64_t *step, extent;
  bool* more;
  if (!Counters(call, step, more, extent)) return 1;
  *step = call.Bool(0) ? extent - 1 : 0;
  *more = extent > 0;
  return 0;
}

int32_t LoopNext(OpCall& call) {
  int64_t *step, extent;
  bool* more;
  if (!Counters(call, step, more, extent)) return 1;
  *step += call.Bool(0) ? -1 : 1;
  *more = *step >= 0 && *step < extent;
  return 0;
}

int32_t AllHaveElements(OpCall& call) {
  const auto count = static_cast<int>(call.Int(0));
  bool all = true;
  for (int i = 0; i < count; ++i) all = all && Elements(call.Arg(i)) > 0;
  *Data<bool>(call.Arg(count)) = all;
  return 0;
}

}  // namespace dtranspile::kernels
