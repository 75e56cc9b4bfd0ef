// Early return of absl::Status, for every library below runtime/.
#pragma once

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the status of `expression` from the calling function when it is an error.
#define DT_RETURN_IF_ERROR(expression)                            \
  do {                                                            \
    if (absl::Status dt_status = (expression); !dt_status.ok()) { \
      return dt_status;                                           \
    }                                                             \
  } while (false)

#define DT_STATUS_JOIN_(a, b) a##b
#define DT_STATUS_JOIN(a, b) DT_STATUS_JOIN_(a, b)

// `target` = value of the StatusOr `expression`, or an early return of its error. An assignment or
// declaration: no block of its own.
#define DT_ASSIGN_OR_RETURN(target, expression) \
  DT_ASSIGN_OR_RETURN_(DT_STATUS_JOIN(dt_value_, __LINE__), target, expression)
#define DT_ASSIGN_OR_RETURN_(value, target, expression) \
  auto value = (expression);                            \
  if (!value.ok()) return std::move(value).status();    \
  target = *std::move(value)
