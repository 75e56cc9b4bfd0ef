// `show JOB --format html`.
#include "tools/dtranspile/cli/render_job.h"

namespace dtranspile::cli {

std::string pageOfJob(const Job& job) { return job.digest(); }

}  // namespace dtranspile::cli
