#include "tools/dtranspile/page/page.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/SHA256.h"
#include "tools/dtranspile/page/sections.h"

namespace dtranspile::page {
namespace {

std::string sourceHash(llvm::StringRef text) {
  llvm::SHA256 hash;
  hash.update(text);
  return "'sha256-" + llvm::encodeBase64(hash.final()) + "'";
}

// A browser that knows it runs this script and applies this style only, and loads nothing: a name
// that got through the escaping would still be text.
std::string policy() {
  return "default-src 'none'; base-uri 'none'; form-action 'none'; style-src " +
         sourceHash(kStyle) + "; script-src " + sourceHash(kScript);
}

struct Section {
  const char *id, *title;
  void (*write)(const JobFacts&, Html&);
};
constexpr Section kSections[] = {
    {"drawing", "Who sends what to whom", writeDrawing},
    {"step", "A step, op by op", writeSteps},
    {"schedule", "Schedule of the pipeline", writeSchedules},
    {"memory", "Memory per rank", writeMemory},
    {"communication", "Communication", writeExchanges},
    {"variables", "Variables", writeVariables},
    {"programs", "Programs", writePrograms},
};

}  // namespace

std::string pageOfJob(const Job& job, Traces traces) {
  JobFacts facts = JobFacts::of(job);
  facts.traces = std::move(traces);
  // Sections first: one that has nothing to say is not named either.
  std::string bodies[std::size(kSections)];
  for (size_t i = 0; i < std::size(kSections); ++i) {
    Html section;
    kSections[i].write(facts, section);
    bodies[i] = section.take();
  }
  Html html;
  html.own("<!DOCTYPE html>\n").open("html", {{"lang", "en"}}).open("head");
  html.leaf("meta", {{"charset", "utf-8"}});
  html.leaf("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy()}});
  html.leaf("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  html.element("title", "job " + shortened(job.digest(), 24));
  html.open("style").own(kStyle).close().close().own("\n");
  html.open("body");
  writeHead(facts, html);
  html.open("nav");
  for (size_t i = 0; i < std::size(kSections); ++i)
    if (!bodies[i].empty())
      html.element("a", {{"href", std::string("#") + kSections[i].id}}, kSections[i].title);
  html.close();
  for (size_t i = 0; i < std::size(kSections); ++i) {
    if (bodies[i].empty()) continue;
    html.own("\n").open("section", {{"id", kSections[i].id}}).element("h2", kSections[i].title);
    html.own(bodies[i]).close();
  }
  html.open("footer").text(job.manifest.value("producer", ""));
  html.text(" · dtranspile show JOB --format html").close();
  html.open("script").own(kScript).close();
  html.close().close().own("\n");
  return html.take();
}

}  // namespace dtranspile::page
