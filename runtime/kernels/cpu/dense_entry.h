// The entry of the ABI for kernels that know dense tensors only: SelectedRows and lists are refused
// by name instead of being read as the tensor that their values are kept in. Used by the tables of
// ops/<family>.
#pragma once

#include "runtime/kernels/cpu/op_call.h"

namespace dtranspile::kernels {

template <OpKernel kernel>
int32_t DenseKernel(OpCall& call) {
  for (int32_t i = 0; i < call.raw()->num_args; ++i) {
    const exec::Value* value = OpCall::ValueOf(call.raw()->args[i]);
    if (value != nullptr && value->kind != exec::Value::Kind::kTensor)
      return call.Fail("'%s' is no dense tensor, which is not supported here",
                       call.raw()->args[i].name);
  }
  return kernel(call);
}

template <OpKernel kernel>
int32_t DenseEntry(DtContext* context, const DtCall* call) {
  return RunOpKernel(context, call, DenseKernel<kernel>);
}

}  // namespace dtranspile::kernels
