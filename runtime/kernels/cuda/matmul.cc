#include "runtime/kernels/cuda/matmul.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <new>
#include <optional>

namespace {

constexpr size_t kWorkspaceBytes = 32 << 20;  // what NVIDIA advises for sm_90

// One per call site, made with the first call.
struct State {
  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  ~State() {
    if (workspace != nullptr) cudaFree(workspace);
    if (handle != nullptr) cublasLtDestroy(handle);
  }
};

struct Extents {
  int64_t m, n, k;
  bool transpose_a, transpose_b;
};

// The descriptions that cuBLASLt wants, released together. It thinks in columns: a row-major c = a
// · b is cᵀ = bᵀ · aᵀ there, so the operands change places and nothing is moved.
struct Problem {
  cublasLtMatmulDesc_t operation = nullptr;
  cublasLtMatrixLayout_t first = nullptr, second = nullptr, result = nullptr;
  cublasLtMatmulPreference_t preference = nullptr;
  ~Problem() {
    if (preference != nullptr) cublasLtMatmulPreferenceDestroy(preference);
    for (cublasLtMatrixLayout_t layout : {first, second, result}) {
      if (layout != nullptr) cublasLtMatrixLayoutDestroy(layout);
    }
    if (operation != nullptr) cublasLtMatmulDescDestroy(operation);
  }

  // cuBLASLt is column-major, our matrices are row-major, and C = AB row-major is Cᵀ = BᵀAᵀ
  // column-major: the operands change places and everything else stays.
  cublasStatus_t Describe(const Extents& e, cudaDataType_t type) {
    const cublasOperation_t op_b = e.transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                            op_a = e.transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N;
    cublasStatus_t status = cublasLtMatmulDescCreate(&operation, CUBLAS_COMPUTE_32F, CUDA_R_32F);
    const auto then = [&](auto step) {
      if (status == CUBLAS_STATUS_SUCCESS) status = step();
    };
    then([&] {
      return cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSA, &op_b,
                                            sizeof(op_b));
    });
    then([&] {
      return cublasLtMatmulDescSetAttribute(operation, CUBLASLT_MATMUL_DESC_TRANSB, &op_a,
                                            sizeof(op_a));
    });
    then([&] { return Layout(&first, type, e.k, e.n, e.transpose_b); });
    then([&] { return Layout(&second, type, e.m, e.k, e.transpose_a); });
    then([&] { return Layout(&result, type, e.m, e.n, false); });
    then([&] { return cublasLtMatmulPreferenceCreate(&preference); });
    then([&] {
      return cublasLtMatmulPreferenceSetAttribute(preference,
                                                  CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES,
                                                  &kWorkspaceBytes, sizeof(kWorkspaceBytes));
    });
    return status;
  }

  // A row-major [rows, columns] matrix, stored transposed or not, in cuBLASLt's column-major words.
  static cublasStatus_t Layout(cublasLtMatrixLayout_t* layout, cudaDataType_t type, int64_t rows,
                               int64_t columns, bool transposed) {
    const int64_t inner = transposed ? rows : columns, outer = transposed ? columns : rows;
    return cublasLtMatrixLayoutCreate(layout, type, inner, outer, inner);
  }
};

std::optional<cudaDataType_t> TypeOf(int32_t dtype) {
  switch (dtype) {
    case 4: return CUDA_R_16F;
    case 5: return CUDA_R_32F;
    case 22: return CUDA_R_16BF;
    default: return std::nullopt;
  }
}

bool HasKinds(const DtCall* call) {
  if (call->num_args != 3 || call->num_slots != 3 || call->num_attrs != 4) return false;
  for (int i = 0; i < 4; ++i) {
    const DtAttr& attr = call->attrs[i];
    if (attr.count != 1 || (i < 2 ? attr.ints == nullptr : attr.reals == nullptr)) return false;
  }
  return true;
}

// 0 and the extents, or the message left by dt_fail.
int32_t Check(DtContext* context, const DtCall* call, Extents& e) {
  if (!HasKinds(call))
    return dt_fail(context, "%s: other arguments or attributes than it takes", call->name);
  for (int i = 0; i < 3; ++i) {
    const DtBuffer& buffer = call->args[i];
    if (buffer.rank != 2)
      return dt_fail(context, "%s: argument %d has %d dimensions, not 2", call->name, i,
                     buffer.rank);
    if (buffer.space != DT_DEVICE)
      return dt_fail(context, "%s: argument %d is not in device memory", call->name, i);
    if (buffer.dtype != call->args[0].dtype)
      return dt_fail(context, "%s: argument %d has another element type", call->name, i);
  }
  const DtBuffer &a = call->args[0], &b = call->args[1], &c = call->args[2];
  e.transpose_a = call->attrs[0].ints[0] != 0;
  e.transpose_b = call->attrs[1].ints[0] != 0;
  e.m = a.dims[e.transpose_a ? 1 : 0];
  e.k = a.dims[e.transpose_a ? 0 : 1];
  e.n = b.dims[e.transpose_b ? 0 : 1];
  if (b.dims[e.transpose_b ? 1 : 0] != e.k || c.dims[0] != e.m || c.dims[1] != e.n) {
    return dt_fail(context, "%s: the extents of the matrices do not fit", call->name);
  }
  return 0;
}

// Handle and workspace are made at the first call of a call site, and live as long as the context.
int32_t Prepare(DtContext* context, const DtCall* call, State*& state) {
  state = static_cast<State*>(*call->state);
  if (state != nullptr) return 0;
  State* fresh = new (std::nothrow) State;
  if (fresh == nullptr) return dt_fail(context, "%s: out of memory", call->name);
  *call->state = fresh;
  dt_keep(context, fresh, [](void* kept) { delete static_cast<State*>(kept); });
  if (const cublasStatus_t status = cublasLtCreate(&fresh->handle);
      status != CUBLAS_STATUS_SUCCESS) {
    return dt_fail(context, "%s: cuBLASLt: %s", call->name, cublasLtGetStatusString(status));
  }
  if (const cudaError_t error = cudaMalloc(&fresh->workspace, kWorkspaceBytes);
      error != cudaSuccess) {
    return dt_fail(context, "%s: workspace: %s", call->name, cudaGetErrorString(error));
  }
  state = fresh;
  return 0;
}

}  // namespace

// Asynchronous on the default stream; the library's heuristic chooses the algorithm for the extents
// at each call.
int32_t dt_cuda_matmul(DtContext* context, const DtCall* call) {
  Extents e;
  if (const int32_t failed = Check(context, call, e); failed != 0) return failed;
  const std::optional<cudaDataType_t> type = TypeOf(call->args[0].dtype);
  if (!type)
    return dt_fail(context, "%s: element type %d is not one of float16, bfloat16, float32",
                   call->name, call->args[0].dtype);
  if (e.m == 0 || e.n == 0) return 0;
  State* state = nullptr;
  if (const int32_t failed = Prepare(context, call, state); failed != 0) return failed;

  Problem problem;
  cublasStatus_t status = problem.Describe(e, *type);
  cublasLtMatmulHeuristicResult_t best = {};
  int found = 0;
  if (status == CUBLAS_STATUS_SUCCESS) {
    status = cublasLtMatmulAlgoGetHeuristic(state->handle, problem.operation, problem.first,
                                            problem.second, problem.result, problem.result,
                                            problem.preference, 1, &best, &found);
  }
  if (status == CUBLAS_STATUS_SUCCESS && found == 0) status = CUBLAS_STATUS_NOT_SUPPORTED;
  if (status == CUBLAS_STATUS_SUCCESS) {
    const float alpha = static_cast<float>(call->attrs[2].reals[0]),
                beta = static_cast<float>(call->attrs[3].reals[0]);
    void* c = call->args[2].data;
    status =
        cublasLtMatmul(state->handle, problem.operation, &alpha, call->args[1].data, problem.first,
                       call->args[0].data, problem.second, &beta, c, problem.result, c,
                       problem.result, &best.algo, state->workspace, kWorkspaceBytes, nullptr);
  }
  if (status != CUBLAS_STATUS_SUCCESS)
    return dt_fail(context, "%s: cuBLASLt: %s", call->name, cublasLtGetStatusString(status));
  return 0;
}
