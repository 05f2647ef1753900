import t from 'tap';
import { networkSchema } from '../../../../../../src/chains/solana/configuration/network.ts';

t.test('an entry of nothing but endpoints is enough', async (t) => {
  t.same(networkSchema.parse({}), { average_blocktime_ms: 400 });
  const whole = {
    average_blocktime_ms: 200,
    is_testnet: true,
    tags: ['fast'],
    explorer_urls: ['https://explorer.test?cluster=custom'],
  };
  t.same(networkSchema.parse(whole), whole);
});

t.test('what no Solana network can have is refused', async (t) => {
  for (const [entry, said] of [
    [{ chain_id: 1 }, /chain_id/],
    [{ passphrase: 'Public' }, /passphrase/],
    [{ average_blocktime_ms: 0 }, /average_blocktime_ms/],
    [{ average_blocktime_ms: 2.5 }, /average_blocktime_ms/],
    [{ is_testnet: 'yes' }, /is_testnet/],
    [{ tags: [1] }, /tags/],
    [{ explorer_urls: ['nowhere'] }, /explorer_urls/],
  ] as const) {
    t.match(networkSchema.safeParse(entry).error?.message, said);
  }
});
