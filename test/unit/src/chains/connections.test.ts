import t from 'tap';
import { NO_CONTACTS } from '../../../../src/chains/connections.ts';

t.test('of endpoints that nobody watches none is ever lost', (t) => {
  const relayer = { networkType: 'evm', network: 'local', customRpcUrls: null } as const;
  t.match(NO_CONTACTS.contactOf(relayer), { isLost: false, servedAt: Number.POSITIVE_INFINITY });
  const stop = NO_CONTACTS.onContact(() => t.fail('nothing is told'));
  stop();
  t.end();
});
