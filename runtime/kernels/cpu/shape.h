// Calls of plans that move or convert elements (abi.h, library calls). Called by name through
// call_table.h. Any element type, all arguments of one type (but for dt_cast).
//
// dt_transpose   args X, Y        ints perm (rank of X many)     Y[i] has extent X[perm[i]]; at
// most 8 dimensions dt_reshape     args X, Out      ints extents (rank of Out many)   the elements
// of X; -1 stands for an extent that X knows dt_cast        args X, Out C conversion; to bool: !=
// 0; float16 and bfloat16 round to nearest
//                                                                even; not for complex types
#pragma once

#include "runtime/exec/abi.h"

extern "C" int32_t dt_transpose(DtContext* context, const DtCall* call);
extern "C" int32_t dt_reshape(DtContext* context, const DtCall* call);
extern "C" int32_t dt_cast(DtContext* context, const DtCall* call);
