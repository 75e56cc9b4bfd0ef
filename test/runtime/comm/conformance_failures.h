// The part of the conformance suite in which something goes wrong. Called by conformance.cc.
#pragma once

#include <vector>

#include "test/runtime/comm/conformance.h"

namespace dtranspile::comm::test {

std::vector<ConformanceCase> FailureCases();

}  // namespace dtranspile::comm::test
