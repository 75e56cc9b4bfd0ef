// All one-operator programs of the corpus, for the test and for the page.
#pragma once

#include "test/compiler/verify/claims/checker.h"

namespace dtranspile::claims {

// Cases that cannot be read are named in the result; empty where there are none.
std::string checkCorpus(Checker& checker);

}  // namespace dtranspile::claims
