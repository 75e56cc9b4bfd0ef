// Kernels as the compiler generates them, for the executor's tests; built as a shared object.
#include <unistd.h>

#include <csignal>
#include <cstdint>

extern "C" {

// w[i] -= rate * x[i]
void k_update(void* const* args, int64_t lo, int64_t end) {
  auto* w = static_cast<float*>(args[0]);
  const auto* x = static_cast<const float*>(args[1]);
  const float rate = *static_cast<const float*>(args[2]);
  for (int64_t i = lo; i < end; ++i) w[i] -= rate * x[i];
}

// out[i] = value
void k_fill(void* const* args, int64_t lo, int64_t end) {
  auto* out = static_cast<float*>(args[0]);
  for (int64_t i = lo; i < end; ++i) out[i] = *static_cast<const float*>(args[1]);
}

// out[i] += x[i]
void k_add(void* const* args, int64_t lo, int64_t end) {
  auto* out = static_cast<float*>(args[0]);
  for (int64_t i = lo; i < end; ++i) out[i] += static_cast<const float*>(args[1])[i];
}

// flag = ++counter < 5
void k_count(void* const* args, int64_t lo, int64_t end) {
  auto* counter = static_cast<int32_t*>(args[0]);
  for (int64_t i = lo; i < end; ++i) *static_cast<bool*>(args[1]) = ++*counter < 5;
}

// out[i] = 100 * lo + end
void k_rows(void* const* args, int64_t lo, int64_t end) {
  auto* out = static_cast<float*>(args[0]);
  for (int64_t i = lo; i < end; ++i) out[i] = static_cast<float>(100 * lo + end);
}

// At call number *at the process gets a signal; of signal 0 it sleeps instead.
void k_fault(void* const* args, int64_t lo, int64_t end) {
  if (lo == end) return;
  auto* calls = static_cast<float*>(args[0]);
  const auto number = [&](int i) { return *static_cast<const float*>(args[i]); };
  if (++*calls != number(1)) return;
  if (number(2) > 0) kill(getpid(), static_cast<int>(number(2)));
  else sleep(static_cast<unsigned>(number(3)));
}
}
