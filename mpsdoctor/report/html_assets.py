"""The style and the script of the HTML page: no font, picture or script from anywhere else."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --ink: #1f2328; --soft: #59636e; --page: #ffffff; --card: #f6f8fa; --line: #d1d9e0;
  --good: #1a7f37; --bad: #cf222e; --warn: #9a6700; --odd: #8250df; --link: #0969da; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6edf3; --soft: #9198a1; --page: #0d1117; --card: #161b22;
  --line: #3d444d; --good: #3fb950; --bad: #ff7b72; --warn: #d29922; --odd: #d2a8ff; --link: #4493f8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1.5rem 1rem 3rem; max-width: 60rem; background: var(--page); color: var(--ink);
  font: 16px/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.4rem; line-height: 1.3; margin: 0 0 1rem; } h2 { font-size: 1.1rem; margin: 0 0 .5rem; }
h3 { font-size: .95rem; margin: 1rem 0 .25rem; color: var(--soft); font-weight: 600; }
p { margin: .25rem 0; } ul { margin: .25rem 0; padding-left: 1.25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .25rem 1rem; margin: 0 0 1rem; }
dt { color: var(--soft); } dd { margin: 0; }
.card { background: var(--card); border: 1px solid var(--line); border-left: .3rem solid var(--line);
  border-radius: .4rem; padding: 1rem; margin: 0 0 1rem; }
.card.fail, .card.crash { border-left-color: var(--bad); } .card.warn { border-left-color: var(--warn); }
.soft { color: var(--soft); font-size: .875rem; }
.pass { color: var(--good); } .fail { color: var(--bad); } .warn { color: var(--warn); } .crash { color: var(--odd); }
.unknown, .skip { color: var(--soft); } .card.fail, .card.warn, .card.crash { color: var(--ink); }
.chain { list-style: none; display: flex; flex-wrap: wrap; gap: .4rem; padding: 0; margin: 0 0 .5rem; }
.chain li { display: flex; align-items: center; gap: .4rem; }
.chain li + li::before { content: "\\2192"; color: var(--soft); }
.chain b { border: 1px solid currentcolor; border-radius: 1rem; padding: .05rem .7rem; font-weight: 500;
  font-size: .9rem; }
code, pre { font: .85rem/1.45 ui-monospace, Menlo, Consolas, monospace; }
.command { position: relative; margin: .5rem 0; }
.command pre { margin: 0; padding: .75rem 5rem .75rem .75rem; background: var(--page); border: 1px solid var(--line);
  border-radius: .4rem; white-space: pre-wrap; }
button { font: inherit; font-size: .8rem; color: var(--ink); background: var(--card); border: 1px solid var(--line);
  border-radius: .4rem; padding: .2rem .6rem; cursor: pointer; }
button:hover, button:focus-visible { border-color: var(--link); }
.command button { position: absolute; top: .4rem; right: .4rem; }
details { border-top: 1px solid var(--line); padding: .6rem 0; }
details + h2 { margin-top: 1rem; } summary { cursor: pointer; font-weight: 600; }
table { border-collapse: collapse; width: 100%; margin-top: .5rem; }
td { padding: .3rem .5rem .3rem 0; vertical-align: top; border-top: 1px solid var(--line); }
td:first-child { width: 1.5rem; } td:nth-child(2) { white-space: nowrap; }
details .card { margin-top: .6rem; }
@media (max-width: 30rem) { .command pre { padding: 2.6rem .75rem .75rem; } }
details pre { max-height: 30rem; overflow: auto; background: var(--card); padding: .75rem; border-radius: .4rem;
  white-space: pre-wrap; }
svg { max-width: 100%; height: auto; background: #ffffff; border-radius: .4rem; }
@media print { button { display: none; } details > * { display: block; } }
"""

# The clipboard's own interface exists only where the browser trusts the page, which differs for files; the old way
# works everywhere.
SCRIPT = """
"use strict";
function byHand(text) {
  const area = document.createElement("textarea");
  area.value = text; area.style.position = "fixed"; area.style.opacity = "0";
  document.body.append(area); area.select();
  const done = document.execCommand("copy");
  area.remove();
  return done;
}
async function copy(button) {
  const text = document.getElementById(button.dataset.copy).textContent;
  let done = false;
  try { await navigator.clipboard.writeText(text); done = true; } catch { done = byHand(text); }
  const name = button.textContent;
  button.textContent = done ? "Copied" : "Select and copy";
  setTimeout(() => { button.textContent = name; }, 1500);
}
for (const button of document.querySelectorAll("button[data-copy]")) {
  button.addEventListener("click", () => copy(button));
}
"""
