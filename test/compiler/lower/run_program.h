// Runs programs of text_program.h in this process: blocks_test.cc, execution_test.cc.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "runtime/exec/executor.h"
#include "runtime/kernels/cpu/call_table.h"
#include "test/compiler/lower/text_program.h"

namespace dtranspile::lower {

inline std::unique_ptr<exec::Executor> load(const Compiled& c, int threads = 1) {
  auto plan = exec::ReadPlan(c.plan());
  INFO(plan.status().message());
  REQUIRE(plan.ok());
  exec::ExecutorOptions options;
  options.pool.threads = threads;
  options.find_function = kernels::FindFunction;
  options.element_types = kernels::ElementTypesOf;
  auto executor = exec::Executor::Load(std::move(*plan), std::move(options));
  INFO(executor.status().message());
  REQUIRE(executor.ok());
  return std::move(*executor);
}

// Gives a persistable its elements, which are of type T.
template <typename T, typename Values>
void setVariable(exec::Executor& executor, const std::string& name, const Values& values) {
  for (const exec::Persistable& p : executor.plan().persistables) {
    if (p.name != name) continue;
    REQUIRE(executor.plan().buffers[p.buffer].count() == static_cast<int64_t>(values.size()));
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(executor.data(p.buffer)));
  }
}

template <typename T>
std::vector<T> fetched(const exec::Executor& executor, size_t index) {
  const int buffer = executor.plan().step().fetches[index].buffer;
  const exec::Value* value = executor.value(buffer);
  const auto* data = value ? value->as<T>() : reinterpret_cast<const T*>(executor.data(buffer));
  return {data, data + (value ? value->count() : executor.plan().buffers[buffer].count())};
}

}  // namespace dtranspile::lower
