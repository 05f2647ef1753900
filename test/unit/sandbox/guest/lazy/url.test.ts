import t from 'tap';
import { HostLink } from '../../../../../sandbox/guest/host-link.ts';
import { create } from '../../../../../sandbox/guest/lazy/url.ts';
import { LAZY_GLOBALS } from '../../../../../sandbox/guest/lazy-modules.ts';
import { GuestHost } from '../../../../support/guest-host.ts';
import { runtimeServices } from '../../../../support/guest-web.ts';

t.test('the part makes the names it stands for, which know each other', (t) => {
  const made = create({ ...runtimeServices(), urls: new HostLink(new GuestHost().call) });
  t.strictSame(Object.keys(made).sort(), [...LAZY_GLOBALS.url].sort());
  const { URL: Ours, URLSearchParams: Params } = made as unknown as typeof globalThis;
  const url = new Ours('/a?b=1', 'https://example.org');
  t.equal(url.href, 'https://example.org/a?b=1');
  t.ok(url.searchParams instanceof Params);
  t.end();
});
