// The signatures of all library calls, of the files signatures/*.calls.
#pragma once

#include <string_view>
#include <vector>

#include "runtime/kernels/signature.h"

namespace dtranspile::kernels {

// Null: no such call.
const Signature* FindSignature(std::string_view name);

// By family, in the order of the files.
const std::vector<Signature>& AllSignatures();

}  // namespace dtranspile::kernels
