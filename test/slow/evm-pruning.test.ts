/**
 * Nodes prune the states of old blocks, receipts, the lookup by hash, and at last the blocks. A missing answer of such
 * a node proves nothing: a mined payment is never reported as failed, a payment that was seen in a block becomes final,
 * and one that nobody can prove stays open without blocking the others.
 */
import t, { type Test } from 'tap';
import { type Anvil, startAnvil } from '../support/anvil.ts';
import { EvmScenario } from '../support/evm-scenario.ts';
import type { FrontRule } from '../support/node-front.ts';

const anvil = await startAnvil({ args: ['--no-mining'] });
t.teardown(() => anvil.stop());
let accounts = 0;

function open(t: Test): Promise<EvmScenario> {
  accounts += 1;
  return EvmScenario.open(t, anvil, { account: accounts, settings: { required_confirmations: 2 } });
}

/** The node takes a transaction, and its answer is lost. */
const lostOffers: FrontRule = async ({ method }, pass) => {
  if (method !== 'eth_sendRawTransaction') return undefined;
  await pass();
  return 'hang-up';
};

const GONE = { error: { code: 4_444, message: 'pruned history unavailable' } };

/** A node that keeps states and receipts of this many blocks. It does not find older transactions by their hash. */
function prunedNode(node: Pick<Anvil, 'rpc'>, kept = 64, lost: 'null' | 'error' = 'null'): FrontRule {
  const isOld = async (block: unknown) =>
    Number(block) < Number(await node.rpc('eth_blockNumber', [])) - kept && block !== null;
  const none = lost === 'null' ? { result: null } : GONE;
  return async ({ method, params }) => {
    if (method === 'eth_getTransactionCount' && String(params[1]).startsWith('0x')) {
      const message = 'missing trie node 9a3c (path ) state 0x9a3c is not available, not found';
      return (await isOld(params[1])) ? { error: { code: -32_000, message } } : undefined;
    }
    if (method === 'eth_getTransactionReceipt' || method === 'eth_getTransactionByHash') {
      const found = (await node.rpc(method, params)) as { blockNumber: string | null } | null;
      return found !== null && (await isOld(found.blockNumber)) ? none : undefined;
    }
    if (method === 'eth_getBlockReceipts') return (await isOld(params[0])) ? none : undefined;
    return undefined;
  };
}

for (const lost of ['null', 'error'] as const) {
  t.test(
    `mined while the service was away, its receipt pruned (${lost}): open, with the reason, until it is proved`,
    async (t) => {
      const stage = await open(t);
      // Whether the node's answer arrived makes no difference.
      const status = lost === 'null' ? 'submitted' : 'sent';
      if (status === 'sent') stage.front.rule(lostOffers);
      await stage.start();
      const id = await stage.send();
      await stage.untilStatus(id, status);
      await stage.until('the node has it', async () => (await stage.nonces('pending')) === 1);
      await stage.stop();
      await stage.mine(200);
      stage.front.rule(prunedNode(anvil, 64, lost));
      await stage.start();

      const toldWhy = async () =>
        /used by attempt 0x.* No endpoint has a receipt/.test((await stage.get(id)).statusReason ?? '');
      await stage.until('it is told why it is open', toldWhy);
      t.equal((await stage.get(id)).status, status);
      const next = await stage.sendMany(3);
      await stage.untilStatus(next, 'confirmed', { mining: true });
      t.equal((await stage.get(id)).status, status, 'nobody waits for it');
      t.equal((await stage.attempts(id)).length, 1, 'nothing more is signed for it');
      stage.pass(9 * 3_600_000);
      await stage.untilStatus(await stage.send(), 'confirmed', { mining: true });
      t.match(await stage.get(id), { status, noopEnd: null }, 'nor does it expire: it may have had its effect');
      await t.rejects(
        stage.services.lifecycle.replace('r1', id, { to: stage.payee, value: 9, data: '0x', speed: 'fast' }),
        // The node may just have refused its bytes once more.
        /Cannot replace: (Nonce \d+ is used|nonce too low)/,
      );

      stage.front.rule();
      await stage.untilStatus(id, 'confirmed');
      t.equal(await stage.paid(), 35n);
    },
  );
}

/** A payment that the engine has seen in a block, and has not checked since. */
async function openSeenInBlock(t: Test) {
  const stage = await open(t);
  await stage.start();
  const id = await stage.send();
  await stage.untilStatus(id, 'submitted');
  await stage.mine();
  await stage.untilStatus(id, 'mined');
  await stage.stop();
  const { fields } = await stage.get(id);
  const seenIn = Number((fields['receipt'] as { block_number: number }).block_number);
  await stage.mine(200);
  return { stage, id, seenIn };
}

t.test('seen in a block before its receipt was pruned: final all the same', async (t) => {
  const { stage, id } = await openSeenInBlock(t);
  stage.front.rule(prunedNode(anvil));
  await stage.start();
  await stage.untilStatus(id, 'confirmed');
  t.equal(await stage.paid(), 7n);
});

t.test('seen in a block that the node has pruned since: neither final nor taken back', async (t) => {
  const { stage, id, seenIn } = await openSeenInBlock(t);
  const pruned = prunedNode(anvil);
  stage.front.rule((call, pass) =>
    call.method === 'eth_getBlockByNumber' && Number(call.params[0]) <= seenIn ? GONE : pruned(call, pass),
  );
  await stage.start();
  await stage.untilStatus(await stage.send(), 'confirmed', { mining: true });
  t.equal((await stage.get(id)).status, 'mined');
  stage.front.rule();
  await stage.untilStatus(id, 'confirmed');
});

t.test(
  'somebody else used the nonce while the service was away: found in the blocks, though states are pruned',
  async (t) => {
    const stage = await open(t);
    await stage.start();
    const id = await stage.send();
    await stage.untilStatus(id, 'submitted');
    await stage.stop();
    const other = await stage.useOutside(0);
    await stage.mine(200);
    stage.front.rule(prunedNode(anvil));
    await stage.start();
    await stage.untilStatus(id, 'failed');
    t.match(
      (await stage.get(id)).statusReason,
      new RegExp(`^Nonce 0 consumed externally .* It was used by ${other} in block`),
    );
    t.equal(await stage.paid(), 0n);
  },
);
