// What a folder keeps when new files are put into it: part of staged.h.
#pragma once

#include <sys/types.h>

#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"

namespace dtranspile::io {

// Gives `to` the permissions of what is at `from`, and its owner where this user may; nothing where
// nothing is there.
void CopyOwnerAndMode(const std::string& from, const std::string& to);

class KeptFiles {
 public:
  KeptFiles(std::string old, std::string fresh,
            std::function<bool(const std::string& name)> superseded)
      : old_(std::move(old)), fresh_(std::move(fresh)), superseded_(std::move(superseded)) {}

  // Gives `fresh` what `old` has and it has not, by hard links; but names that `superseded` takes.
  // kInvalidArgument where one has a file and the other one a folder of a name.
  absl::Status Link() { return Link(""); }

  // Folders of `fresh` in which that was done.
  const std::vector<std::string>& folders() const { return folders_; }

  // After `old` and `fresh` were exchanged: what somebody has put into `old` after Link moves as
  // well, and wins over what it had been.
  void MoveLate(const std::string& old, const std::string& fresh) const {
    MoveLate(old, fresh, "");
  }

 private:
  absl::Status Link(const std::string& below);
  absl::Status LinkOne(const std::string& name);
  void MoveLate(const std::string& old, const std::string& fresh, const std::string& below) const;

  std::string old_, fresh_;
  std::function<bool(const std::string& name)> superseded_;
  std::vector<std::string> folders_;
  std::set<std::pair<dev_t, ino_t>> seen_;
  std::set<std::string> linked_;
};

}  // namespace dtranspile::io
