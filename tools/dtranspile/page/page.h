// `dtranspile show JOB --format html`: a page that draws a job. It needs nothing else: no network,
// no script but a small one for searching, which it also works without. The same job gives the same
// bytes, and how large a page gets is bounded (limits.h), whatever the job.
#pragma once

#include <string>

#include "compiler/artifact/job.h"
#include "tools/dtranspile/page/ran.h"

namespace dtranspile::page {

// The job has been read by `readJob` or made by `makeManifest`: its manifest fits its module. With
// traces of a run, pipelines are drawn as they ran too.
std::string pageOfJob(const Job& job, Traces traces = {});

}  // namespace dtranspile::page
