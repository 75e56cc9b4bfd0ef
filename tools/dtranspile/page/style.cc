// How a page looks, and the little that it does. Colours of phases can be told apart by those who
// see few of them (after Okabe and Ito, "Color universal design", 2008).
#include "tools/dtranspile/page/sections.h"

namespace dtranspile::page {

const char kStyle[] = R"(
:root { color-scheme: light dark; --back: #fff; --panel: #f5f7fa; --ink: #1b2430; --quiet: #5c6878;
  --rule: #d3dae3; --link: #0b62b0; --forward: #3f8fd0; --backward: #e0a11b; --update: #2f9e78;
  --loss: #c2548f; --rate: #8a8f98; --group: #5b55c9; --pairs: #c4571b; --rpc: #17808f;
  --on: #fff; }
@media screen and (prefers-color-scheme: dark) { :root { --back: #12161c; --panel: #1b212a;
  --ink: #e3e8ef; --quiet: #9aa6b6; --rule: #343e4b; --link: #7db8f2; --forward: #4c9be0;
  --backward: #d99e2b; --update: #3cb48b; --loss: #d873ab; --rate: #868c96; --group: #8f89f5;
  --pairs: #ec7f45; --rpc: #35b3c4; --on: #0d1116; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1180px; padding: 24px 20px 60px; background: var(--back);
  color: var(--ink); font: 15px/1.5 system-ui, "DejaVu Sans", sans-serif; }
h1 { margin: 0; font-size: 28px; } h2 { margin: 44px 0 12px; font-size: 20px; }
h3 { margin: 0 0 6px; font-size: 15px; } section > h3 { margin-top: 18px; }
.mode { color: var(--link); }
.digest { margin: 2px 0 12px; color: var(--quiet); overflow-wrap: anywhere; }
.quiet, .cut, small, figcaption { color: var(--quiet); font-size: 13px; }
.cut { font-style: italic; }
code { font: 0.88em ui-monospace, "DejaVu Sans Mono", monospace; overflow-wrap: anywhere; }
a { color: var(--link); } nav { margin: 18px 0 0; display: flex; flex-wrap: wrap; gap: 4px 18px; }
ul.chips, ul.legend { list-style: none; margin: 0; padding: 0; display: flex; flex-wrap: wrap;
  gap: 6px 10px; }
.chips li { border: 1px solid var(--rule); border-radius: 14px; padding: 2px 12px;
  background: var(--panel); }
.legend { gap: 4px 18px; margin: 8px 0; font-size: 13px; }
.key { display: inline-block; width: 14px; height: 11px; margin-right: 7px; border-radius: 2px; }
.panels { display: grid; grid-template-columns: repeat(auto-fit, minmax(320px, 1fr)); gap: 12px;
  margin-top: 16px; }
.panel { border: 1px solid var(--rule); border-radius: 8px; padding: 12px 16px;
  background: var(--panel); }
dl { display: grid; grid-template-columns: auto 1fr; gap: 2px 14px; margin: 0; font-size: 13px; }
dt { color: var(--quiet); overflow-wrap: anywhere; } dd { margin: 0; } .panel p { margin: 0 0 6px; }
.panel, .scroll { max-height: 340px; overflow: auto; }
.scroll { max-height: 560px; border: 1px solid var(--rule); padding: 0 10px; }
.scroll th { position: sticky; top: 0; background: var(--back); }
figure { margin: 8px 0 12px; overflow-x: auto; }
svg { display: block; max-width: 100%; height: auto; min-width: 760px; }
svg text { fill: var(--ink); font: 12px system-ui, "DejaVu Sans", sans-serif; }
svg .name { font-weight: 600; font-size: 13px; } svg .strong { font-weight: 600; }
svg .small, svg .quiet { font-size: 11.5px; fill: var(--quiet); } svg .end { text-anchor: end; }
svg .on-colour { fill: var(--on); font-size: 11px; }
.role { fill: var(--panel); stroke: var(--rule); }
.class { fill: var(--back); stroke: var(--quiet); }
.class.server { stroke: var(--rpc); stroke-width: 2; } .rank { fill: var(--quiet); }
path.group { stroke: var(--group); stroke-width: 2; }
circle.group, .k-group { fill: var(--group); background: var(--group); }
.band { fill: var(--group); fill-opacity: .13; stroke: var(--group); }
.faint { opacity: .55; stroke-dasharray: 4 3; }
path.pairs { stroke: var(--pairs); stroke-width: 2; fill: none; }
path.pairs.tip { fill: var(--pairs); }
path.rpc { stroke: var(--rpc); stroke-width: 2; fill: none; } path.rpc.tip { fill: var(--rpc); }
.k-pairs { background: var(--pairs); } .k-rpc { background: var(--rpc); }
.p-forward { fill: var(--forward); background: var(--forward); }
.p-backward { fill: var(--backward); background: var(--backward); }
.p-update { fill: var(--update); background: var(--update); }
.p-loss { fill: var(--loss); background: var(--loss); }
.p-rate { fill: var(--rate); background: var(--rate); }
.idle { fill: var(--rule); fill-opacity: .5; background: var(--rule); }
.waits { fill: var(--back); fill-opacity: .7; background: var(--rule); }
.span { fill: var(--group); background: var(--group); }
.span.blocking { fill: var(--pairs); background: var(--pairs); }
.m-parameter { fill: var(--forward); background: var(--forward); }
.m-state { fill: var(--backward); background: var(--backward); }
table { width: 100%; border-collapse: collapse; font-size: 13px; }
th, td { padding: 4px 10px 4px 0; text-align: left;
  vertical-align: top; border-bottom: 1px solid var(--rule); } th { color: var(--quiet);
  font-weight: 600; }
td:first-child { min-width: 9em; }
td.number { white-space: nowrap; font-variant-numeric: tabular-nums; }
.comm b, span.comm { color: var(--group); font-weight: 600; }
.line { padding: 1px 0 1px 20px; font-size: 13px; }
.line.comm { border-left: 3px solid var(--group); padding-left: 17px; margin: 3px 0; }
details { margin: 2px 0; font-size: 13px; }
details.program { border: 1px solid var(--rule); border-radius: 8px;
  padding: 8px 14px; margin: 8px 0; } .program > summary { font-size: 15px; }
.program > details, .block > details, .block > .line { margin-left: 16px; }
.block { border-left: 1px solid var(--rule); padding-left: 8px; }
summary { cursor: pointer; } ol { margin: 4px 0; padding-left: 56px; } li b { font-weight: 600; }
input { font: inherit; padding: 3px 8px; }
footer { margin-top: 48px; color: var(--quiet); font-size: 12px; }
@media print { body { max-width: none; padding: 0; font-size: 11px; } nav, #search { display: none;
  }
  section, tr, figure { break-inside: avoid-page; } section { break-inside: auto; }
  svg { min-width: 0; } .panel, .scroll { max-height: none; overflow: visible; }
  * { print-color-adjust: exact; } }
)";

// Hides the rows of variables that have not all words that are looked for.
const char kScript[] = R"(
(function () {
  var place = document.getElementById("search");
  if (!place) return;
  var input = place.querySelector("input"), said = place.querySelector("output");
  var rows = Array.prototype.slice.call(document.querySelectorAll("#variables tbody tr"));
  place.hidden = false;
  input.addEventListener("input", function () {
    var words = input.value.toLowerCase().split(/\s+/), found = 0;
    rows.forEach(function (row) {
      var text = row.textContent.toLowerCase();
      row.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
      found += !row.hidden;
    });
    said.textContent = input.value ? found + " of " + rows.length : "";
  });
})();
)";

}  // namespace dtranspile::page
