import t from 'tap';
import { unavailableParts } from '../../../../src/chains/unavailable.ts';
import { openRpc } from '../../../support/evm.ts';
import { NO_MARKET } from '../../../support/no-market.ts';
import { answersByMethod, startRpcDouble } from '../../../support/rpc-double.ts';

t.test('every act is refused in one way, and no endpoint hears of it', async (t) => {
  const node = await startRpcDouble(answersByMethod({}));
  const rpc = openRpc([node.url]);
  t.teardown(async () => {
    await rpc.close();
    await node.stop();
  });
  const { connect, ...tellings } = unavailableParts('solana');
  const network = { type: 'solana' as const, name: 'devnet', rpcUrls: [{ url: node.url, weight: 100 }], settings: {} };
  const acts: Record<string, string> = {
    identity: 'The network’s identity',
    balance: 'The balance',
    moment: 'The chain’s clock',
    prepare: 'Sending transactions',
    sign: 'Sending transactions',
    broadcast: 'Sending transactions',
    observe: 'Sending transactions',
    signTransaction: 'Signing transactions',
    rpc: 'JSON-RPC',
  };
  const client = Object.entries<unknown>({ ...connect(network, rpc, NO_MARKET) });
  t.strictSame(client.map(([act]) => act).sort(), Object.keys(acts).sort());
  for (const [act, refusing] of client) {
    await t.rejects((refusing as () => Promise<unknown>)(), {
      code: 'NOT_AVAILABLE_YET',
      status: 501,
      message: `${acts[act]} is not available yet for solana relayers`,
    });
  }
  t.ok(Object.keys(tellings).length > 0);
  for (const telling of Object.values(tellings)) {
    const refusing = telling as () => unknown;
    t.throws(refusing, { message: 'Sending transactions is not available yet for solana relayers' });
  }
  t.equal(node.calls.length, 0);
});
