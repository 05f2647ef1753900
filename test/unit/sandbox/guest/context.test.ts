import t from 'tap';
import { CallEnd } from '../../../../sandbox/guest/call-end.ts';
import { CapabilityCalls } from '../../../../sandbox/guest/capability-calls.ts';
import { HostLink } from '../../../../sandbox/guest/host-link.ts';
import { createContext } from '../../../../sandbox/guest/invoke.ts';
import { GuestHost } from '../../../support/guest-host.ts';

t.test('is an ordinary object of own fields in the order that plugins know', (t) => {
  const link = new HostLink(new GuestHost().call);
  const given = {
    params: { a: 1 },
    headers: { h: ['v'] },
    route: '/r',
    method: 'GET',
    query: { q: ['1'] },
    caller: { keyId: 'k' },
  };
  const context = createContext(new CapabilityCalls(link, new CallEnd(link)).ofRunning(), given);
  t.strictSame(Object.keys(context), [
    'api',
    'params',
    'kv',
    'headers',
    'route',
    'config',
    'method',
    'query',
    'caller',
  ]);
  t.ok('config' in context && context.config === undefined);
  t.strictSame({ ...context, api: 0, kv: 0 }, { ...given, config: undefined, api: 0, kv: 0 });
  context.params = 'changed';
  t.equal(context.params, 'changed');
  t.end();
});
