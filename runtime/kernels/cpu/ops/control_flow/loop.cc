// What plans call around the blocks of recurrent and conditional_block
// (compiler/lower/recurrent_lowering.cc, block_lowering.cc).
#include "runtime/kernels/cpu/ops/control_flow/loop.h"

namespace dtranspile::kernels {
namespace {

bool Counters(OpCall& call, int64_t*& step, bool*& more, int64_t& extent) {
  using A = args::dt_loop_begin;
  static_assert(A::More == args::dt_loop_next::More &&
                A::Sequence == args::dt_loop_next::Sequence && A::Step == args::dt_loop_next::Step);
  const DtBuffer& sequence = call.Arg(A::Sequence);
  if (sequence.rank < 1)
    return call.Fail("'%s' has no leading extent to run over", sequence.name), false;
  const DtBuffer &s = call.Arg(A::Step), &m = call.Arg(A::More);
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
  using A = args::dt_loop_begin;
  int64_t *step, extent;
  bool* more;
  if (!Counters(call, step, more, extent)) return 1;
  *step = call.Bool(A::is_reverse) ? extent - 1 : 0;
  *more = extent > 0;
  return 0;
}

int32_t LoopNext(OpCall& call) {
  using A = args::dt_loop_next;
  int64_t *step, extent;
  bool* more;
  if (!Counters(call, step, more, extent)) return 1;
  *step += call.Bool(A::is_reverse) ? -1 : 1;
  *more = *step >= 0 && *step < extent;
  return 0;
}

int32_t AllHaveElements(OpCall& call) {
  using A = args::dt_all_have_elements;
  bool all = true;
  for (int i = 0; i < call.Count(A::X); ++i) all = all && Elements(call.Arg(A::X, i)) > 0;
  *Data<bool>(call.Arg(A::Out)) = all;
  return 0;
}

}  // namespace dtranspile::kernels
