#include "runtime/kernels/cpu/product.h"

#include "runtime/kernels/cpu/gemm.h"

namespace dtranspile::kernels {

int32_t Multiply(DtContext* context, DType dtype, const ContiguousProduct& p, const void* a, const void* b, void* c) {
  if (p.m == 0 || p.n == 0 || p.batch == 0) return 0;
  // As many elements as the strides reach; dt_gemm checks against them.
  const int64_t extents[] = {(p.batch - 1) * p.stride_a + p.m * p.k, (p.batch - 1) * p.stride_b + p.k * p.n, (p.batch - 1) * p.stride_c + p.m * p.n};
  const auto type = static_cast<int32_t>(dtype);
  DtBuffer args[] = {{const_cast<void*>(a), &extents[0], 1, type, DT_HOST, "A", nullptr},
                     {const_cast<void*>(b), &extents[1], 1, type, DT_HOST, "B", nullptr},
                     {c, &extents[2], 1, type, DT_HOST, "C", nullptr}};
  const int64_t ints[] = {p.trans_a,  p.trans_b, p.m,     p.n,        p.k,        p.trans_a ? p.m : p.k, p.trans_b ? p.k : p.n,
                          p.n,        p.batch,   p.stride_a, p.stride_b, p.stride_c};
  const double reals[] = {p.alpha, p.beta};
  DtCall call = {};
  call.name = "product";
  call.op = "";
  call.args = args;
  call.num_args = 3;
  call.ints = ints;
  call.num_ints = 12;
  call.reals = reals;
  call.num_reals = 2;
  return dt_gemm(context, &call);
}

}  // namespace dtranspile::kernels
