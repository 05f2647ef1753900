/** The look of the description; light and dark as the reader's system has it. */
export const PAGE_STYLE = `
:root { color-scheme: light dark; --ink: #1c2330; --paper: #fbfbfd; --soft: #5b6577; --line: #dfe3ea; --card: #fff;
  --code: #f2f4f8; --get: #0b7a4b; --post: #1d5fd1; --patch: #a35c00; --delete: #b3261e; --accent: #4338ca; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --paper: #12151c; --soft: #9aa4b5; --line: #2b313d;
  --card: #191d26; --code: #10131a; --get: #45c08a; --post: #7aa7ff; --patch: #e0a14a; --delete: #f28b82;
  --accent: #a5b4fc; } }
* { box-sizing: border-box; }
body { margin: 0; font: 16px/1.55 system-ui, sans-serif; color: var(--ink); background: var(--paper); }
.page { display: grid; grid-template-columns: 17rem minmax(0, 1fr); max-width: 78rem; margin: 0 auto; }
nav { position: sticky; top: 0; align-self: start; height: 100vh; overflow: auto; padding: 1.5rem 1rem; font-size: .85rem; }
nav h2 { margin: 1.2rem 0 .3rem; font-size: .75rem; text-transform: uppercase; letter-spacing: .06em; color: var(--soft); }
nav a { display: block; padding: .15rem 0; color: inherit; text-decoration: none; }
nav a:hover { color: var(--accent); }
main { padding: 1.5rem 1.5rem 6rem; border-left: 1px solid var(--line); }
h1 { margin: 0 0 .5rem; font-size: 1.9rem; }
section > h2 { margin: 2.5rem 0 0; }
input { width: 100%; padding: .45rem .6rem; font: inherit; color: inherit; background: var(--card);
  border: 1px solid var(--line); border-radius: .4rem; }
a { color: var(--accent); }
code, pre { font: .84rem/1.5 ui-monospace, 'SF Mono', Menlo, Consolas, monospace; }
pre { margin: .4rem 0 0; padding: .7rem .9rem; overflow: auto; background: var(--code); border: 1px solid var(--line);
  border-radius: .4rem; }
details { margin: .8rem 0; background: var(--card); border: 1px solid var(--line); border-radius: .5rem; }
summary { padding: .6rem .9rem; cursor: pointer; }
summary .does { color: var(--soft); }
details > div { padding: 0 .9rem .9rem; }
.method { display: inline-block; min-width: 4.2rem; font-weight: 700; font-size: .78rem; letter-spacing: .04em; }
.get { color: var(--get); } .post { color: var(--post); } .patch { color: var(--patch); } .delete { color: var(--delete); }
.open { margin-left: .5rem; padding: 0 .4rem; font-size: .7rem; color: var(--soft); border: 1px solid var(--line);
  border-radius: 1rem; }
h4 { margin: 1rem 0 .2rem; font-size: .8rem; color: var(--soft); }
table { width: 100%; border-collapse: collapse; font-size: .88rem; }
td { padding: .3rem .6rem .3rem 0; vertical-align: top; border-top: 1px solid var(--line); }
td:first-child { white-space: nowrap; }
.soft { color: var(--soft); }
@media (max-width: 56rem) { .page { display: block; } nav { position: static; height: auto; } main { border: 0; } }
`;

/** Puts the reader's own address into the examples, and filters the operations by what is typed. */
export const PAGE_SCRIPT = `
for (const place of document.querySelectorAll('.base')) place.textContent = location.origin;
const box = document.querySelector('input');
box.addEventListener('input', () => {
  const words = box.value.toLowerCase().split(/\\s+/);
  for (const one of document.querySelectorAll('[data-text]')) {
    one.hidden = !words.every((word) => one.dataset.text.includes(word));
  }
});
const show = () => document.getElementById(decodeURIComponent(location.hash.slice(1)))?.setAttribute('open', '');
addEventListener('hashchange', show);
show();
`;
