// How much of a job a page lists and draws. What is cut is counted, and the page says so.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dtranspile::page {

// Characters of a name; the whole name stands in the tip of the cut one, up to kLongestTip bytes.
inline constexpr size_t kLongestName = 56, kLongestTip = 300;

inline constexpr size_t kMostRoles = 16;          // all sections
inline constexpr size_t kMostClasses = 8;         // boxes of one role
inline constexpr size_t kMostLanes = 12;          // communicators drawn of one role
inline constexpr size_t kMostExchanges = 200;     // rows of the table of communication
inline constexpr size_t kMostVariables = 600;     // rows of the table of variables
inline constexpr size_t kMostPlaces = 32;         // bars of memory of one role
inline constexpr size_t kMostLines = 2400;        // ops of all programs together
inline constexpr size_t kMostLinesOfRun = 40;     // ops of one phase in a row
inline constexpr size_t kMostListed = 8;          // names in a cell
inline constexpr size_t kMostFields = 64;         // of the request, feeds, contracts, sites
inline constexpr int64_t kMostStages = 16;        // rows of a schedule
inline constexpr int64_t kMostSlots = 120;        // columns of a schedule
inline constexpr int64_t kMostEntries = 1 << 18;  // a larger schedule is not played through
inline constexpr size_t kMostSpans = 160;         // operations under way, of one step

}  // namespace dtranspile::page
