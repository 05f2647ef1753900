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
  const { said } = await run('relayers');
  t.strictSame(said.split('\n'), [
    'ID  NETWORK      STATE     ADDRESS  CAUSE',
    'a   evm:sepolia  active    0x1',
    'b   evm:sepolia  disabled  0x1      "no answer"',
  ]);
  services.notifications.known.set('shop', { id: 'shop', url: 'https://shop.example', has_signing_key: true });
  t.match((await run('webhooks')).said, /^shop +yes +https:\/\/shop\.example$/m);
  services.apiKeys.known.set('k', { id: 'k', name: 'Reader', expires_at: null, permissions: ['a:read', 'b:read'] });
  t.match((await run('keys')).said, /^k +Reader +never +a:read b:read$/m);
  t.strictSame((await run('plugins', '--json')).said, '{"id":"echo"}');
});
