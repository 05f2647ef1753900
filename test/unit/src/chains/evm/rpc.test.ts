import t from 'tap';
import { isRead } from '../../../../../src/chains/evm/rpc.ts';

t.test('only what is known to read counts as a read', async (t) => {
  for (const method of ['eth_getBalance', 'debug_traceTransaction']) t.ok(isRead(method), method);
  for (const method of ['eth_sendRawTransaction', 'eth_sendTransaction', 'anvil_mine', 'debug_setHead', 'some_other']) {
    t.notOk(isRead(method), method);
  }
});
