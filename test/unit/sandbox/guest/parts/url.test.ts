import t from 'tap';
import { PART_GLOBALS } from '../../../../../sandbox/guest/globals/lazy-parts.ts';
import { HostLink } from '../../../../../sandbox/guest/host-link.ts';
import { part } from '../../../../../sandbox/guest/parts/url.ts';
import { GuestHost } from '../../../../support/guest-host.ts';
import { partWorld } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for, which know each other', (t) => {
  const made = part({ ...partWorld(), urls: new HostLink(new GuestHost().call) });
  t.strictSame(Object.keys(made).sort(), [...PART_GLOBALS.url].sort());
  const { URL: Ours, URLSearchParams: Params } = made as unknown as typeof globalThis;
  const url = new Ours('/a?b=1', 'https://example.org');
  t.equal(url.href, 'https://example.org/a?b=1');
  t.ok(url.searchParams instanceof Params);
  t.end();
});
