// The number of the manifest's form, digest included (docs/file-formats.md).
#pragma once

namespace dtranspile {

inline constexpr unsigned kManifestSchema = 2;

}  // namespace dtranspile
