#include "tools/inspection_style.h"

namespace burin {

const char *inspectionStyle() {
  return R"css(
:root { --page: #fbfbfa; --surface: #fff; --frame: #f1f1ee; --line: #d8d8d2; --text: #1c1c1a; --quiet: #65655f; --edge: #8a8a82;
  --contract: #2f6fd0; --attend: #c8641b; --row_reduce: #2b8a4b; --pool: #8a4fc0; --pointwise: #77776f; --whole: #0b8793;
  --lane1: #b0487a; --lane2: #3d8f8f; --lane3: #a8801f; }
@media (prefers-color-scheme: dark) {
  :root { --page: #161615; --surface: #222220; --frame: #1c1c1b; --line: #3a3a37; --text: #ececea; --quiet: #a3a39b; --edge: #85857d;
    --contract: #6ba1f0; --attend: #eb9250; --row_reduce: #5bbd7c; --pool: #bb8ceb; --pointwise: #a0a098; --whole: #48bcc7;
    --lane1: #d680a8; --lane2: #6fc0c0; --lane3: #d3ad55; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 16px; max-width: 1240px; background: var(--page); color: var(--text);
  font: 14px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 26px; margin: 0; }
h2 { font-size: 18px; margin: 28px 0 10px; }
h3 { font-size: 15px; margin: 22px 0 4px; }
p { margin: 4px 0; }
a { color: inherit; text-decoration: none; }
.schedule { display: block; }
small, .note { color: var(--quiet); font-size: 13px; }
.columns > .guards { grid-column: 1 / -1; }
.contract { --colour: var(--contract); } .attend { --colour: var(--attend); } .row_reduce { --colour: var(--row_reduce); }
.pool { --colour: var(--pool); } .pointwise { --colour: var(--pointwise); } .whole { --colour: var(--whole); }
.facts { display: flex; flex-wrap: wrap; gap: 8px; margin: 12px 0; }
.fact { flex: 1 1 104px; max-width: 240px; padding: 8px 10px; background: var(--surface); border: 1px solid var(--line);
  border-radius: 8px; display: flex; flex-direction: column; }
.fact span { color: var(--quiet); font-size: 13px; }
.fact b { font-size: 19px; }
table { border-collapse: collapse; width: 100%; max-width: 640px; font-variant-numeric: tabular-nums; }
th { text-align: right; font-weight: normal; color: var(--quiet); font-size: 13px; }
td { text-align: right; border-top: 1px solid var(--line); }
th, td { padding: 4px 0 4px 10px; white-space: nowrap; }
th:first-child, td:first-child { text-align: left; padding-left: 0; white-space: normal; }
.key { margin-top: 12px; display: flex; flex-wrap: wrap; gap: 4px 14px; font-size: 13px; }
.key i { display: inline-block; width: 11px; height: 11px; margin-right: 5px; border-radius: 3px; background: var(--colour); }
.columns { display: grid; grid-template-columns: minmax(0, 1fr); gap: 0 36px; }
@media (min-width: 900px) {
  .columns { grid-template-columns: repeat(2, minmax(0, 1fr)); } }
.flow { position: relative; margin-bottom: 6px; }
.lanes { position: absolute; left: 0; top: 0; pointer-events: none; }
.lane { --stroke: var(--edge); } .lane1 { --stroke: var(--lane1); } .lane2 { --stroke: var(--lane2); } .lane3 { --stroke: var(--lane3); }
.lane path { fill: none; stroke: var(--stroke); stroke-width: 1.5; }
.lane .head { fill: var(--stroke); stroke: none; }
.frame { position: absolute; left: 0; right: 0; background: var(--frame); border: 1px solid var(--line); border-radius: 10px; }
.repeat { border-style: solid double solid solid; border-right-width: 4px; }
.heading { position: absolute; right: 8px; line-height: 26px; height: 26px; font-size: 13px; color: var(--quiet); white-space: nowrap;
  overflow: hidden; text-overflow: ellipsis; }
.times { display: inline-block; padding: 0 6px; border-radius: 9px; background: var(--text); color: var(--page); font-size: 12px;
  line-height: 17px; font-weight: 600; }
.box { position: absolute; display: block; padding: 5px 9px 0 11px; background: var(--surface); border: 1px solid var(--line);
  border-left: 4px solid var(--colour, var(--line)); border-radius: 6px; overflow: hidden; }
.box.guarded { border-style: dashed; border-left-style: dashed; }
.terminal { border-radius: 15px; border-left-width: 1px; }
.terminal span { color: var(--quiet); }
.line { display: flex; gap: 8px; height: 18px; line-height: 18px; white-space: nowrap; }
.line > * { overflow: hidden; text-overflow: ellipsis; flex: 0 1 auto; }
.line > b { flex-shrink: 0; max-width: calc(100% - 82px); }
.line > .right { flex-shrink: 0; }
.tag { color: var(--quiet); font-size: 13px; }
.right { margin-left: auto; text-align: right; font-size: 13px; color: var(--quiet); font-variant-numeric: tabular-nums; }
.ops { font-size: 13px; }
.more { font-size: 12px; color: var(--quiet); }
.share { position: absolute; left: 0; bottom: 0; height: 3px; background: var(--colour); }
a.box:hover, .op:hover { border-color: var(--colour, var(--edge)); }
.bars { display: grid; gap: 7px; margin: 6px 0; }
.bar { display: grid; grid-template-columns: auto 1fr; font-size: 13px; }
.track { grid-column: 1 / 3; height: 8px; margin-top: 2px; border-radius: 4px; background: var(--frame); overflow: hidden; }
.track i { display: block; height: 100%; background: var(--colour); }
.memory { display: block; margin: 6px 0; background: var(--frame); border: 1px solid var(--line); border-radius: 4px; }
.memory rect { fill: var(--colour, var(--contract)); fill-opacity: .55; stroke: var(--page); stroke-width: 1; }
.memory .odd { --colour: var(--attend); }
.memory text { fill: var(--text); font-size: 11px; text-anchor: middle; }
.memory g:hover rect { fill-opacity: .9; }
details { margin: 8px 0; }
summary { cursor: pointer; color: var(--quiet); padding: 6px 0; }
.entry { border-top: 1px solid var(--line); margin: 16px 0; }
.entry h2 { display: inline; color: var(--text); }
.values > div { display: flex; flex-wrap: wrap; gap: 0 10px; padding: 5px 0; border-bottom: 1px solid var(--line); }
.cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 270px), 1fr)); gap: 10px; }
.card { padding: 8px 11px; background: var(--surface); border: 1px solid var(--line); border-left: 4px solid var(--colour); border-radius: 6px;
  font-size: 13px; }
.card:target { outline: 2px solid var(--colour); }
)css";
}

} // namespace burin
