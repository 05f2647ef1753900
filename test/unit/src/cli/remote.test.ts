import t from 'tap';
import { createCommandClient, escapeForTerminal, formatTable, jsonLine } from '../../../../src/cli/remote/client.ts';
import { followCalls } from '../../../../src/cli/remote/logs.ts';
import { timelineText, waitForTransactionEnd } from '../../../../src/cli/remote/tx.ts';
import { ApiClient } from '../../../../src/client/client.ts';
import { pipeWith, runTyped } from '../../../support/command.ts';
import { API_KEY, startHttp } from '../../../support/http-server.ts';

t.test('the server is the named one, else that of the folder', async (t) => {
  const { url } = await startHttp(t);
  const env = { ISOLAYER_URL: `${url}/`, ISOLAYER_KEY: API_KEY };
  const cwd = t.testdir({ data: { 'api-key': `${API_KEY}\n` } });
  t.match(await runTyped(cwd, ['relayers', '--json'], env), { code: 0, said: /"id":"r1"/ });
  t.match(await runTyped(cwd, ['relayers', '--json', '--url', url], {}), { code: 0 }, 'with the key of the folder');
  const wrong = await runTyped(cwd, ['relayers', '--url', url, '--key', 'x'], env);
  t.match(wrong, { code: 1, said: '', complained: 'Unauthorized' });
  const own = { APP_PORT: new URL(url).port, API_KEY };
  t.match(await runTyped(cwd, ['relayers', '--json'], own), { code: 0 });
});

t.test('who does not answer is named', async (t) => {
  const refuse = () => Promise.reject(new TypeError('fetch failed', { cause: new Error('refused') }));
  const context = {
    env: {},
    cwd: '.',
    say: () => {},
    complain: () => {},
    now: () => new Date(0),
    keyboard: pipeWith(''),
    request: refuse as unknown as typeof fetch,
  };
  const options = new Map([
    ['url', 'http://127.0.0.1:1'],
    ['key', 'k'],
  ]);
  const client = await createCommandClient(context, { values: [], flags: new Set(), options });
  await t.rejects(client.call('listRelayers', {}), { message: 'No server answers at http://127.0.0.1:1 (refused)' });
});

t.test('lists are rows for people, and lines of JSON for programs', async (t) => {
  const { url, services } = await startHttp(t);
  const run = (...typed: string[]) => runTyped('.', typed, { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY });
  const relayer = { network_type: 'evm', network: 'sepolia', address: '0x1', paused: false, system_disabled: false };
  services.relayers.known.clear();
  services.relayers.known.set('a', { ...relayer, id: 'a' });
  const disabled = { type: 'RpcValidationFailed', details: 'no answer' };
  services.relayers.known.set('b', { ...relayer, id: 'b', system_disabled: true, disabled_reason: disabled });
  services.relayers.wei = `15${'0'.repeat(17)}`;
  const { said } = await run('relayers');
  t.strictSame(said.split('\n'), [
    'ID  NETWORK      STATE     BALANCE                 ADDRESS  CAUSE',
    'a   evm:sepolia  active    1.5 of the native coin  0x1',
    'b   evm:sepolia  disabled  1.5 of the native coin  0x1      "no answer"',
  ]);
  services.resources.api_key.known.set('k', {
    id: 'k',
    name: 'Reader',
    expires_at: null,
    permissions: ['a:read', 'b:read'],
  });
  t.match((await run('keys')).said, /^k +Reader +never +a:read b:read$/m);
  t.strictSame((await run('whoami')).said.split('\n'), [
    'ID       NAME     ENDS   PERMISSIONS',
    'default  default  never  *',
  ]);
  t.match(JSON.parse((await run('whoami', '--json')).said), { id: 'default', permissions: ['*'], expires_at: null });
  t.match(JSON.parse((await run('plugins', '--json')).said), { id: 'echo' });
});

t.test('relayers are narrowed as the server does it, and what it refuses is told', async (t) => {
  const { url, services } = await startHttp(t);
  const run = (...typed: string[]) => runTyped('.', typed, { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY });
  await run('relayers', '--search', 'sepolia', '--state', 'paused,disabled');
  t.match(services.relayers.filters.at(-1), { search: 'sepolia', states: ['paused', 'disabled'] });
  const refused = await run('relayers', '--state', 'pausd');
  t.equal(refused.code, 1);
  t.match(refused.complained, 'state: "pausd" is not a state. Did you mean "paused"?');
  t.equal((await run('plugins', '--state', 'paused')).code, 2);
});

t.test('of more than a page all are shown', async (t) => {
  const { url, services } = await startHttp(t);
  for (let n = 0; n < 501; n += 1) services.relayers.known.set(`r${n}`, { id: `r${n}`, address: '0x1' });
  const { said } = await runTyped('.', ['relayers', '--json'], { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY });
  t.equal(said.split('\n').length, services.relayers.known.size);
});

t.test('a relayer whose node does not answer is there without its balance', async (t) => {
  const { url, services } = await startHttp(t);
  services.relayers.known.set('r1', { id: 'r1', network_type: 'evm', network: 'sepolia', address: '0x1' });
  services.relayers.balance = async () => await Promise.reject(new Error('no answer'));
  const { said } = await runTyped('.', ['relayers'], { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY });
  t.match(said, /^r1 +evm:sepolia +active +0x1$/m);
});

t.test('transactions are listed, shown and canceled', async (t) => {
  const { url, services } = await startHttp(t);
  const run = (...typed: string[]) => runTyped('.', ['tx', ...typed], { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY });
  t.match(await run('list', 'r1', '--json'), { said: '{"id":"tx-1"}' });
  const one = { id: 'tx-1', status: 'failed', status_reason: 'reverted', created_at: '2026', hash: '0x1' };
  services.transactions.list = async () => ({ items: [one], total: 1 });
  t.match(await run('list', 'r1'), { code: 0, said: /^ID +STATUS .*\ntx-1 +failed +2026 +0x1 +reverted$/ });
  const asked: unknown[] = [];
  services.transactions.list = async (...given: unknown[]) => {
    asked.push(given.slice(0, 3));
    return { items: [], total: 0 };
  };
  t.match(await run('list', 'r1', '--status', 'failed', '--page', '3'), { code: 0 });
  t.match(JSON.stringify(asked), /"page":3.*"failed"|"failed".*"page":3/);
  t.match(await run('list', 'r1', '--status', 'lost'), { code: 1, complained: /status/ });
  t.match(await run('show', 'r1', 'tx-1', '--page', '3'), { code: 2 });
  t.match(await run('show', 'r1', 'tx-1'), { code: 0, said: /^tx-1 is mined/ });
  t.match(JSON.parse((await run('show', 'r1', 'tx-1', '--json')).said), { timeline: { events: [] } });
  t.match(await run('show', 'r1', 'other'), { code: 1, complained: /other not found/ });
  t.match(await run('cancel', 'r1', 'tx-1'), { code: 0, said: 'tx-1 is to be canceled; it is canceled now' });
  t.match(await run('show', 'tx-1'), { code: 0, said: /^tx-1 is mined/ }, 'whosever it is');
  services.transactions.get = async () => ({ id: 'tx-1', status: 'expired', status_reason: 'too late' });
  const waited = await run('show', 'tx-1', '--wait');
  t.match(waited, { code: 1, said: /^tx-1 is expired: too late/, complained: 'tx-1 is expired' });
  services.relayers.known.set('r2', { id: 'r2' });
  t.match(await run('show', '7'), { code: 1, complained: '7 is one of several relayers; name one of ' });
  t.match(services.lifecycle.intents, [{ kind: 'cancel', relayerId: 'r1', transactionId: 'tx-1' }]);
  for (const typed of [
    ['list', 'r1', 'x'],
    ['sell', 'r1', 'x'],
  ]) {
    t.match(await run(...typed), { code: 2, complained: /^It is: tx list/ }, typed.join(' '));
  }
});

t.test('wait', async (t) => {
  const PATH = { id: 'r1', transactionId: 'tx-1' };

  t.test('it tells of each status once, over a server that is away, until the end', async (t) => {
    const { url, services } = await startHttp(t);
    const statuses = ['pending', 'pending', 'away', 'mined', 'confirmed'];
    services.transactions.get = async () => ({ id: 'tx-1', status: statuses.shift() ?? '' });
    const client = new ApiClient({
      url,
      key: API_KEY,
      fetch: (...request) => {
        if (statuses[0] !== 'away') return fetch(...request);
        statuses.shift();
        return Promise.reject(new Error('away'));
      },
    });
    const told: string[] = [];
    await waitForTransactionEnd(client, PATH, (line) => told.push(line), 1);
    t.strictSame(told, ['tx-1 is pending', 'tx-1 is mined', 'tx-1 is confirmed']);
  });

  t.test('a refusal is the end, and so is a server that stays away', async (t) => {
    const { url } = await startHttp(t);
    const stranger = new ApiClient({ url, key: 'wrong' });
    await t.rejects(
      waitForTransactionEnd(stranger, PATH, () => {}, 1),
      { code: 'UNAUTHORIZED' },
    );
    const alone = new ApiClient({ url, key: API_KEY, fetch: () => Promise.reject(new Error('away')) });
    await t.rejects(
      waitForTransactionEnd(alone, PATH, () => {}, 1),
      /away/,
    );
  });
});

t.test('each event stands where it happened, in words', (t) => {
  const at = (seconds: number) => new Date(seconds * 1000).toISOString();
  const lines = timelineText({
    events: [
      { at: at(0), event: 'accepted' },
      { at: at(1), event: 'signed', version: 1, purpose: 'send', hash: '0x1', content: { max_time: 1, fee: 100 } },
      { at: at(1), event: 'submitted', version: 1, hash: '0x1', endpoint: 'https://node.example' },
      { at: at(5), event: 'decided', decision: 'bumped', text: 'dearer\u001b[2J' },
      { at: at(6), event: 'cancel_refused', text: 'too late' },
      { at: at(6), event: 'cancel_requested' },
      { at: at(10), event: 'ended', status: 'confirmed', hash: '0x2' },
    ],
  });
  t.match(lines, [
    /^ +0 ms {2}● +accepted$/,
    /^ +1\.0 s {2}─{4}● +signed, version 1 \(send\) 0x1 100 stroops$/,
    /submitted, version 1 to https:\/\/node\.example$/,
    /price raised: dearer\\u001b\[2J$/,
    /cancel refused: too late$/,
    /cancel requested$/,
    /^ +10\.0 s {2}─{39}● {2}confirmed$/,
  ]);
  t.strictSame(timelineText({ events: [] }), []);
  t.end();
});

t.test('logs', async (t) => {
  const call = (requestId: string, message = 'x') => ({
    pluginId: 'echo',
    requestId,
    keyId: 'k',
    at: 0,
    outcome: 'returned',
    durationMs: 1,
    lines: [{ level: 'info' as const, message }],
  });

  t.test('calls are told as they end, until the server is gone for good', async (t) => {
    const { url, pluginHost, server } = await startHttp(t);
    const told: string[] = [];
    const first = Promise.withResolvers<void>();
    const following = followCalls(
      new ApiClient({ url, key: API_KEY }),
      'echo',
      (one) => {
        told.push(one.request_id);
        first.resolve();
      },
      1,
    );
    const calling = setInterval(() => pluginHost.ended.add(call(`q${told.length}`)), 20);
    await first.promise;
    clearInterval(calling);
    await server.close(0);
    await t.rejects(following);
    t.equal(told[0], 'q0');
  });

  t.test('what a key may not see is refused at once', async (t) => {
    const { url } = await startHttp(t);
    await t.rejects(
      followCalls(new ApiClient({ url, key: 'none' }), 'echo', () => {}, 1),
      { message: 'Unauthorized' },
    );
    const env = { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY };
    t.match(await runTyped('.', ['logs', 'echo', '--json'], env), { code: 0, said: '{"request_id":"request-1"}' });
    t.match(await runTyped('.', ['logs', 'other'], env), { code: 1, complained: 'Plugin with id other not found' });
  });
});

t.test('webhooks are listed, then what became of the events of one, and one is delivered anew', async (t) => {
  const { url, services } = await startHttp(t);
  const run = (...typed: string[]) =>
    runTyped('.', ['webhooks', ...typed], { ISOLAYER_URL: url, ISOLAYER_KEY: API_KEY });
  services.resources.notification.known.set('shop', { id: 'shop', url: 'https://shop.example', has_signing_key: true });
  t.match((await run()).said, /^shop +yes +https:\/\/shop\.example$/m);
  const asked: unknown[] = [];
  const one = { id: 'e1', state: 'dead', event: 'transaction_update', created_at: '2026', tries: 3 };
  services.deliveries.list = async (...[id, part, filter]: unknown[]) => {
    asked.push([id, part, filter]);
    return { items: [{ ...one, outcome: 'HTTP 500', transaction_id: 't1' }], next: null };
  };
  t.match((await run('shop', '--state', 'dead')).said, /^e1 +dead +transaction_update +2026 +3 +HTTP 500 +t1$/m);
  t.match(asked, [['shop', { before: null, limit: 50 }, { state: 'dead' }]]);
  t.match(JSON.parse((await run('shop', '--json')).said), { id: 'e1', transaction_id: 't1' });
  t.match(await run('redeliver', 'shop', 'e9'), { code: 1, complained: /e9/ });
  services.deliveries.redeliver = async () => ({ ...one, state: 'waiting' });
  t.match(await run('redeliver', 'shop', 'e1'), { code: 0, said: 'e1 is waiting, to be delivered again' });
  for (const typed of [
    ['shop', 'e1'],
    ['redeliver', 'shop'],
    ['--state', 'dead'],
  ]) {
    t.match(await run(...typed), { code: 2, complained: /^It is: webhooks/ }, typed.join(' '));
  }
});

t.test('columns stand below each other, and nothing in them is obeyed', (t) => {
  t.strictSame(
    formatTable(
      ['ID', 'STATE'],
      [
        ['a', 'x'],
        ['long one', '\u001b[31mred\n'],
      ],
    ),
    ['ID        STATE', 'a         x', 'long one  \\u001b[31mred\\u000a'],
  );
  t.equal(escapeForTerminal('\u202eabc\u0085'), '\\u202eabc\\u0085');
  t.equal(jsonLine({ a: 2n ** 70n }), '{"a":"1180591620717411303424"}');
  t.end();
});
