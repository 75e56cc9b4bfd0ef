// The C ABI between generated code and the runtime: one of the two places where compiler and
// runtime meet (the other is the job manifest with its plans, docs/file-formats.md). Plain C types
// only.
//
// Two kinds of callees:
//  * generated kernels    void k(void* const* args, int64_t lo, int64_t end)
//    rows [lo, end) of the kernel's outermost extent; args in the order of the plan; every buffer
//    is 64-byte aligned; no two args overlap unless the plan passes one buffer as a read-write
//    argument. Rows may be cut anywhere. After the buffers stand, in this order, the table of
//    extents of a kernel that has unknown ones, and the fault cell, a uint64: a kernel that would
//    divide an integer by zero leaves there the least number of such an element (by an atomic
//    minimum; elements of its nest in row-major order) and goes on.
//  * library calls        int32_t f(DtContext*, const DtCall*)
//    GEMM, convolution, what loops express badly. Named in the plan, found in the table of
//    runtime/kernels. 0 is success; any other value comes with a message left by dt_fail.
#pragma once

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { DT_ABI_VERSION = 4 };

// The fault cell before a kernel runs.
#define DT_NO_FAULT UINT64_MAX

// Memory spaces.
enum { DT_HOST = 0, DT_DEVICE = 1, DT_PINNED = 2 };

typedef struct DtBuffer {
  void* data;
  const int64_t* dims;  // `rank` extents, row-major, contiguous
  int32_t rank;
  int32_t dtype;  // code of runtime/base/dtype.h
  int32_t space;
  const char* name;  // of the variable, for messages
  void* value;  // dtranspile::exec::Value (value.h) where extents, LoD or rows belong to the run;
                // null: a fixed place and fixed extents
} DtBuffer;

// The value of one attribute; which pointer is set says its kind.
typedef struct DtAttr {
  const int64_t* ints;
  const double* reals;
  const char* const* strings;
  int32_t count;  // 1 where the attribute is no list
} DtAttr;

typedef struct DtCall {
  const char* name;  // of the callee, for messages
  const char* op;    // source position: block, op index, op type
  DtBuffer* args;
  int32_t num_args;
  void** state;  // one word per call site, null at first: primitives made once are kept here (given
                 // to dt_keep)
  // Inputs, then outputs, in the order of the call's signature (runtime/kernels/signature.h): slot
  // k has the arguments [slots[k], slots[k + 1]), none where it is absent.
  const int32_t* slots;
  int32_t num_slots;
  const DtAttr* attrs;  // in the order of the signature
  int32_t num_attrs;
} DtCall;

typedef struct DtContext DtContext;

typedef void (*DtKernel)(void* const* args, int64_t lo, int64_t end);
typedef int32_t (*DtFunction)(DtContext*, const DtCall*);

// Leaves a message (printf-like) for the failing call and returns 1.
int32_t dt_fail(DtContext* context, const char* format, ...);

// Gives an argument of the call its extents: sizes a value (DtBuffer::value), or checks that a
// buffer of fixed extents has these. 0, or 1 with a message left. `dims` may be those of the
// buffer.
int32_t dt_resize(DtContext* context, DtBuffer* buffer, const int64_t* dims, int32_t rank);

// Runs body(arg, lo, n), n items from lo on, over [0, extent) in parts of at least `grain` on the
// context's threads; returns when all have ended.
void dt_parallel(DtContext* context, int64_t extent, int64_t grain,
                 void (*body)(void* arg, int64_t lo, int64_t n), void* arg);

// Threads that dt_parallel uses at most.
int32_t dt_threads(DtContext* context);

// Which of them is running this code, in [0, dt_threads): the place of per-thread scratch within a
// body of dt_parallel.
int32_t dt_thread(DtContext* context);

// Scratch of at least `bytes`, 64-byte aligned, valid until the call returns.
void* dt_scratch(DtContext* context, int64_t bytes);

// Hands `state` to the runtime, which calls `destroy(state)` when the plan is unloaded.
void dt_keep(DtContext* context, void* state, void (*destroy)(void*));

#ifdef __cplusplus
}
#endif
