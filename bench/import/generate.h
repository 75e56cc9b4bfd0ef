// A training program of any size for import_bench: a chain of fully connected layers with the
// attributes that the framework writes.
#pragma once

#include <cstdint>
#include <string>

namespace dtranspile::bench {

// Wire bytes of a program with at least `ops` ops: per layer mul, elementwise_add and relu, each
// with five to eight attributes, its own variables, and every third layer new parameters.
std::string generateProgram(int64_t ops);

}  // namespace dtranspile::bench
