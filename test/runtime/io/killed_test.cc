// Writers that are killed at every system call, and several at a time: what they replace is whole
// at every instant, and what they leave goes with the next one.
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <functional>

#include "runtime/io/output.h"
#include "runtime/io/staged.h"
#include "test/killed_at.h"
#include "test/runtime/io/temp_folder.h"

namespace dtranspile::io {
namespace {

namespace fs = std::filesystem;
using test::Ended;
using test::Slurp;
using test::Spill;
using test::TempFolder;

constexpr int kFiles = 3;

// All files of a folder have the same text: of one writer.
void Fill(const std::string& folder, const std::string& text) {
  for (int i = 0; i < kFiles; ++i) {
    const std::string path = folder + "/w" + std::to_string(i);
    if (!WriteFile(path, text.data(), static_cast<int64_t>(text.size())).ok()) _exit(1);
  }
}

std::string TextOf(const std::string& folder) {
  const std::string first = Slurp(folder + "/w0");
  for (int i = 1; i < kFiles; ++i)
    if (Slurp(folder + "/w" + std::to_string(i)) != first) return "a mixture";
  return first;
}

void Need(const absl::Status& status) {
  if (!status.ok()) _exit(1);
}

// Kills `work` at each of its calls. After every one `whole` is asked, and `next` is what the next
// command does, after which `clean` has to hold.
int KillEverywhere(const std::function<void()>& prepare, const std::function<void()>& work,
                   const std::function<void()>& whole, const std::function<void()>& next) {
  for (int k = 1;; ++k) {
    CAPTURE(k);
    prepare();
    const Ended ended = test::KillAt(work, k);
    REQUIRE(ended != Ended::kBadly);
    whole();
    if (ended == Ended::kWell) return k;
    next();
  }
}

TEST_CASE("a folder that is replaced is the old or the new one at every instant") {
  TempFolder folder;
  const std::string to = folder / "job";
  int old = 0, fresh = 0;
  const int calls = KillEverywhere(
      [&] {
        fs::remove_all(to);
        fs::create_directory(to);
        Fill(to, "old");
      },
      [&] {
        absl::StatusOr<StagedFolder> staged = StagedFolder::Create(to);
        Need(staged.status());
        Fill(staged->path(), "new");
        Need(staged->PublishOver([](const std::string&) { return absl::OkStatus(); }));
      },
      [&] {
        const std::string text = TextOf(to);
        (text == "old" ? old : fresh) += 1;
        CHECK((text == "old" || text == "new"));
      },
      [&] {
        REQUIRE(StagedFolder::Create(to).ok());
        CHECK(folder.entries() == 1);
      });
  CHECK(calls > 30);
  CHECK(old > 10);
  CHECK(fresh > 5);
}

TEST_CASE("a folder of other files keeps them at every instant") {
  TempFolder folder;
  const std::string to = folder / "checkpoint";
  KillEverywhere(
      [&] {
        fs::remove_all(to);
        fs::create_directories(to + "/sub");
        Fill(to, "old");
        Spill(to + "/sub/thesis", "dear");
        Spill(to + "/notes", "dear");
      },
      [&] {
        absl::StatusOr<StagedFolder> staged = StagedFolder::Create(to);
        Need(staged.status());
        Fill(staged->path(), "new");
        Need(staged->PublishInto());
      },
      [&] {
        const std::string text = TextOf(to);
        CHECK((text == "old" || text == "new"));
        CHECK(Slurp(to + "/sub/thesis") == "dear");
        CHECK(Slurp(to + "/notes") == "dear");
      },
      [&] {
        REQUIRE(StagedFolder::Create(to).ok());
        CHECK(folder.entries() == 1);
      });
}

TEST_CASE("a file is the old or the new one at every instant") {
  TempFolder folder;
  const std::string to = folder / "report";
  KillEverywhere([&] { Spill(to, "old"); }, [&] { Need(WriteNamed(to, "new", 3)); },
                 [&] {
                   const std::string text = Slurp(to);
                   CHECK((text == "old" || text == "new"));
                 },
                 [&] {
                   REQUIRE(CheckNamed(to).ok());
                   CHECK(folder.entries() == 1);
                 });
}

TEST_CASE("two files are both old or both new to whoever recovers first") {
  TempFolder folder;
  const std::string a = folder / "x.pdparams", b = folder / "x.pdopt";
  int fresh = 0;
  KillEverywhere(
      [&] {
        Spill(a, "old");
        Spill(b, "old");
      },
      [&] {
        absl::StatusOr<StagedFiles> staged = StagedFiles::Create({a, b});
        Need(staged.status());
        Need(WriteFile(staged->path(0), "new", 3));
        Need(WriteFile(staged->path(1), "new", 3));
        Need(staged->Publish());
      },
      [&] {
        StagedFiles::Recover(folder.path());
        fresh += Slurp(a) == "new";
        CHECK(Slurp(a) == Slurp(b));
        CHECK((Slurp(a) == "old" || Slurp(a) == "new"));
        CHECK(folder.entries() == 2);
      },
      [] {});
  CHECK(fresh > 3);
}

TEST_CASE("of many writers of one folder the last one wins, whole") {
  TempFolder folder;
  const std::string to = folder / "job";
  constexpr int kWriters = 8, kTimes = 40;
  std::vector<pid_t> writers;
  for (int writer = 0; writer < kWriters; ++writer) {
    writers.push_back(fork());
    if (writers.back() != 0) continue;
    for (int time = 0; time < kTimes; ++time) {
      absl::StatusOr<StagedFolder> staged = StagedFolder::Create(to);
      Need(staged.status());
      Fill(staged->path(), std::to_string(writer));
      Need(writer % 2 == 0 ? staged->PublishInto() : staged->PublishOver([](const std::string&) {
        return absl::OkStatus();
      }));
    }
    _exit(0);
  }
  // Whoever has opened the folder sees one of them, and there is one from the first on.
  bool there = false;
  for (size_t ended = 0; ended < writers.size();) {
    const bool now = fs::exists(to);
    CHECK((now || !there));
    there = now;
    int status = 0;
    if (waitpid(-1, &status, WNOHANG) <= 0) continue;
    ++ended;
    CHECK(status == 0);
  }
  CHECK(TextOf(to) != "a mixture");
  CHECK(folder.entries() == 1);
}

TEST_CASE("of many writers where nothing may be replaced one wins") {
  TempFolder folder;
  const std::string to = folder / "programs";
  std::vector<pid_t> writers;
  for (int writer = 0; writer < 8; ++writer) {
    writers.push_back(fork());
    if (writers.back() != 0) continue;
    absl::StatusOr<StagedFolder> staged = StagedFolder::Create(to);
    Need(staged.status());
    Fill(staged->path(), std::to_string(writer));
    _exit(staged->PublishNew().ok() ? 0 : 2);
  }
  int won = 0;
  for (pid_t writer : writers) {
    int status = 0;
    REQUIRE(waitpid(writer, &status, 0) == writer);
    CHECK((WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 2));
    won += WEXITSTATUS(status) == 0;
  }
  CHECK(won == 1);
  CHECK(TextOf(to) != "a mixture");
}

}  // namespace
}  // namespace dtranspile::io
