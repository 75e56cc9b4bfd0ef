// The library calls of tests: those of the runtime, and one of the test's own, so that plans of
// tests depend on no call of a rule.
#pragma once

#include <string>

#include "runtime/exec/abi.h"
#include "runtime/kernels/cpu/call_table.h"

namespace dtranspile::exec {

// dt_test_reduce(X; kind:text) -> Out, of one element; "sum" is the only kind.
inline int32_t dt_test_reduce(DtContext* context, const DtCall* call) {
  const char* kind = call->attrs[0].strings[0];
  if (std::string(kind) != "sum") return dt_fail(context, "no reduction '%s'", kind);
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
