// A report as text for people, as JSON, and in the two formats that CI systems show beside the
// source: SARIF 2.1.0 (OASIS) and JUnit XML. The same report gives the same bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "compiler/analysis/report.h"

namespace dtranspile::verify {

enum class Format { Text, Json, Sarif, Junit };

// Nothing for other words.
std::optional<Format> formatNamed(std::string_view word);

// `subject` names what was verified: the job's path. Ends with a line break.
std::string render(const VerifyReport& report, Format format, std::string_view subject);

}  // namespace dtranspile::verify
