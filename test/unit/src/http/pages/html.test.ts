import t from 'tap';
import { escapeHtml, inlineSource } from '../../../../../src/http/pages/html.ts';

t.test('text stays text between tags and in quotes', async (t) => {
  t.equal(escapeHtml(`<a href="x" title='y'>&`), '&lt;a href=&quot;x&quot; title=&#39;y&#39;&gt;&amp;');
});

t.test('a script is named as browsers name it', async (t) => {
  // The example of https://www.w3.org/TR/CSP3/#external-hash and of MDN for alert('Hello, world.').
  t.equal(inlineSource("alert('Hello, world.');"), "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
});
