// The files signatures/*.calls as text; the definition is made by tools/call_args, which has parsed
// them. For signatures.cc alone.
#pragma once

#include <string_view>
#include <vector>

namespace dtranspile::kernels {

struct SignatureText {
  std::string_view family, text;
};

std::vector<SignatureText> SignatureTexts();

}  // namespace dtranspile::kernels
