// The name and version of this program, as manifests and `dtranspile --version` say it.
#pragma once

namespace dtranspile {

inline constexpr char kProducer[] = "dtranspile 0.1.0";

}  // namespace dtranspile
