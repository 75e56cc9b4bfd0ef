// The library calls of tests: those of the runtime, and one of the test's own, so that plans of
// tests depend on no call of a rule.
#pragma once

#include <string>

#include "runtime/exec/abi.h"
#include "runtime/kernels/cpu/call_table.h"

namespace dtranspile::exec {

// args X, Out (one element)   strings "sum"
inline int32_t dt_test_reduce(DtContext* context, const DtCall* call) {
  if (std::string(call->strings[0]) != "sum")
    return dt_fail(context, "no reduction '%s'", call->strings[0]);
  const DtBuffer &x = call->args[0], &out = call->args[1];
  float sum = 0;
  for (int64_t i = 0, count = x.rank > 0 ? x.dims[0] : 1; i < count; ++i)
    sum += static_cast<const float*>(x.data)[i];
  *static_cast<float*>(out.data) = sum;
  return 0;
}

inline DtFunction FindTestFunction(const std::string& name) {
  return name == "dt_test_reduce" ? dt_test_reduce : kernels::FindFunction(name);
}

}  // namespace dtranspile::exec
