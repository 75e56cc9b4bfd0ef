// How many processors this process may use. Used by the launcher for the default number of threads
// (ranks.cc) and by `dtranspile doctor`.
#pragma once

#include <string>

namespace dtranspile::launch {

// The smaller of the processors in the affinity mask and the processor time that the control groups
// of this process are granted, in whole processors (2.5 of them are worth 3 threads). At least 1.
int UsableProcessors();

// The processor time that control groups grant a process, in processors; 0: no limit. `groups` is
// the text of /proc/self/cgroup, `root` where the hierarchies are mounted (/sys/fs/cgroup): version
// 2 (cpu.max) and version 1 (cpu.cfs_quota_us), limits of the groups above included.
double GrantedProcessors(const std::string& groups, const std::string& root);

}  // namespace dtranspile::launch
