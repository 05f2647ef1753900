import t from 'tap';
import { declaredPassphrase, networkSchema } from '../../../../../../src/chains/stellar/configuration/network.ts';

t.test('an entry of nothing but endpoints is enough', async (t) => {
  t.same(networkSchema.parse({}), { average_blocktime_ms: 5_000 });
  const whole = {
    passphrase: 'Standalone Network ; February 2017',
    horizon_url: 'http://127.0.0.1:8000',
    average_blocktime_ms: 1_000,
    is_testnet: true,
    tags: ['local'],
    explorer_urls: ['https://explorer.test'],
  };
  t.same(networkSchema.parse(whole), whole);
});

t.test('what no Stellar network can have is refused', async (t) => {
  for (const [entry, said] of [
    [{ chain_id: 1 }, /chain_id/],
    [{ passphrase: '' }, /passphrase/],
    [{ horizon_url: 'horizon' }, /must be an http or https URL/],
    [{ horizon_url: 'ftp://horizon.test' }, /must be an http or https URL/],
    [{ average_blocktime_ms: 0 }, /average_blocktime_ms/],
    [{ explorer_urls: ['nowhere'] }, /explorer_urls/],
  ] as const) {
    t.match(networkSchema.safeParse(entry).error?.message, said);
  }
});

t.test('a network need not declare its passphrase', async (t) => {
  const network = { type: 'stellar', name: 'n', rpcUrls: [] };
  t.equal(declaredPassphrase({ ...network, type: 'stellar', settings: {} }), null);
  t.equal(declaredPassphrase({ ...network, type: 'stellar', settings: { passphrase: 'Mine' } }), 'Mine');
});
