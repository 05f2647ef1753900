import t from 'tap';
import { MockAgent } from 'undici';
import { exchange, type Hop } from '../../../../../src/egress/fetch/exchange.ts';

const hop = (more: Partial<Hop> = {}): Hop => ({
  request: { url: new URL('http://a.test/x?y'), method: 'GET', headers: [], body: undefined, redirect: 'follow' },
  maxBytes: 100,
  signal: new AbortController().signal,
  hold: () => true,
  wantsBody: () => true,
  ...more,
});

t.test('one request, one answer', async (t) => {
  const agent = new MockAgent();
  t.teardown(() => agent.close());
  agent.disableNetConnect();
  const host = agent.get('http://a.test');
  host
    .intercept({ path: '/x?y' })
    .reply(302, 'body', { headers: { location: '/z', 'X-A': '1' } })
    .times(3);
  t.match(await exchange(agent, hop()), {
    status: 302,
    location: '/z',
    headers: [
      ['location', '/z'],
      ['x-a', '1'],
    ],
  });
  t.equal((await exchange(agent, hop())).body.toString(), 'body');
  const asked: unknown[] = [];
  const wantsBody = (...given: unknown[]) => asked.push(given) === 0;
  t.equal((await exchange(agent, hop({ wantsBody }))).body.length, 0);
  t.strictSame(asked, [[302, '/z']]);
});

t.test('what cannot be sent fails before it left', async (t) => {
  const agent = new MockAgent();
  t.teardown(() => agent.close());
  agent.disableNetConnect();
  await t.rejects(exchange(agent, hop()), { name: 'FetchFailure', kind: 'transport', unsent: true });
  await t.rejects(exchange(agent, hop({ signal: AbortSignal.abort(new Error('late')) })), {
    name: 'FetchFailure',
    unsent: true,
  });
});
