import t from 'tap';
import { runTyped } from '../../../../support/command.ts';
import { API_KEY, startHttp } from '../../../../support/http-server.ts';

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
  services.apiKeys.known.set('k', { id: 'k', name: 'Reader', expires_at: null, permissions: ['a:read', 'b:read'] });
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
