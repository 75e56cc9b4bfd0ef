// What jobs of several programs ask of a back end: transfers in the order of a pipeline's schedule,
// groups of a part of the ranks, parts of different sizes. Part of the conformance suite.
#pragma once

#include <vector>

#include "test/runtime/comm/conformance.h"

namespace dtranspile::comm::test {

const std::vector<ConformanceCase>& JobCases();

}  // namespace dtranspile::comm::test
