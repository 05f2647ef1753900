import t from 'tap';
import type { ChainClient } from '../../../../src/chains/chain.ts';
import { unavailableParts } from '../../../../src/chains/unavailable.ts';
import { openRpc } from '../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../support/rpc-double.ts';

t.test('every act is refused in one way, and no endpoint hears of it', async (t) => {
  const node = await startRpcDouble(answersByMethod({}));
  const rpc = openRpc([node.url]);
  t.teardown(async () => {
    await rpc.close();
    await node.stop();
  });
  const parts = unavailableParts('solana');
  const network = { type: 'solana' as const, name: 'devnet', rpcUrls: [{ url: node.url, weight: 100 }], settings: {} };
  const client = parts.connect(network, rpc);
  const acts: Record<Exclude<keyof ChainClient, 'patienceMs' | 'checkReplacement'>, string> = {
    identity: 'The network’s identity',
    balance: 'The balance',
    nextSequence: 'The sequence number',
    hasLost: 'The sequence number',
    isNoFurther: 'The sequence number',
    moment: 'The chain’s clock',
    prepare: 'Sending transactions',
    prepareVersion: 'Sending transactions',
    sign: 'Sending transactions',
    broadcast: 'Sending transactions',
    observe: 'Sending transactions',
    signTransaction: 'Signing transactions',
    rpc: 'JSON-RPC',
  };
  for (const [act, what] of Object.entries(acts)) {
    const refusing = client[act as keyof ChainClient] as () => Promise<unknown>;
    await t.rejects(refusing(), {
      code: 'NOT_AVAILABLE_YET',
      status: 501,
      message: `${what} is not available yet for solana relayers`,
    });
  }
  const tellings = [parts.parseRequest, parts.transactionView, parts.costOf, parts.voidRequest];
  for (const telling of [...tellings, client.patienceMs, client.checkReplacement]) {
    const refusing = telling as () => unknown;
    t.throws(refusing, { message: 'Sending transactions is not available yet for solana relayers' });
  }
  t.equal(node.calls.length, 0);
});
