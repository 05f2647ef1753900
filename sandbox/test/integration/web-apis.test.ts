/** The web APIs of plugins, rule by rule of the standards. The docs page says how many rules hold. */
import { stop } from 'esbuild';
import t from 'tap';
import { holdPage } from '../../../test/support/pages/held-page.ts';
import { GuestWorld } from '../support/guest-isolate.ts';
import { compiled } from '../support/guest-oracle.ts';
import { ABSENT, WEB_APIS } from '../support/web/apis.ts';
import { type Findings, tryInGuest } from '../support/web/run-cases.ts';
import { webPage } from '../support/web/web-page.ts';

t.teardown(stop);
const world = await GuestWorld.open();

t.test('the page tells what holds and what does not', async (t) => {
  const found: Record<string, Findings> = {};
  for (const [name, api] of Object.entries(WEB_APIS)) found[name] = await tryInGuest(world, api);
  holdPage(t, 'web-apis.md', webPage(found));
  const all = Object.values(found).flatMap((findings) => Object.values(findings));
  t.ok(all.length >= 340, `${all.length} cases`);
  t.ok(all.filter((text) => text !== '').length <= 8, all.filter((text) => text !== '').join('\n'));
});

t.test('what the page calls absent is absent, and the tables name what is there', async (t) => {
  const names = JSON.stringify(Object.keys(ABSENT));
  const script = await compiled(
    `export const handler = async (context) => [${names}.filter((name) => name in globalThis),
      Object.getOwnPropertyNames(globalThis).filter((name) => typeof globalThis[name] === 'function')];`,
    'tested.ts',
  );
  const { outcome } = world.call(script);
  if (outcome?.kind !== 'returned') throw new Error(JSON.stringify(outcome));
  const [present, functions] = JSON.parse(outcome.json) as [string[], string[]];
  t.strictSame(present, []);
  for (const name of ['URL', 'fetch', 'structuredClone', 'MessageChannel']) t.ok(functions.includes(name), name);
});
