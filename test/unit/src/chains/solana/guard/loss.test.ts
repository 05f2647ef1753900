// The guard may overlook an instruction, so a simulation shows what is left on the account. Changes by other
// transactions in the meantime do not count as a loss.
import t from 'tap';
import { lossShown } from '../../../../../../src/chains/solana/guard/loss.ts';
import type { Simulation } from '../../../../../../src/chains/solana/provider.ts';
import { keyOf, readOf } from '../../../../../support/solana-node.ts';

const PAYER = keyOf(1);
const BOUND = { payer: PAYER, trial: 'AQAB', replacesBlockhash: false, most: 5_000n };

const account = (lamports: number) => ({ lamports, owner: keyOf(0), executable: false, data: ['', 'base64'] });

/** A simulation that leaves this many lamports on the payer. Null: the account is gone. */
const leaving = (lamports: bigint | null): Simulation => ({
  error: null,
  logs: [],
  used: null,
  programs: [],
  accounts: [lamports === null ? null : { lamports, owner: keyOf(0), isExecutable: false, data: Buffer.alloc(0) }],
});

/**
 * A node where the payer has `has` lamports and a second simulation leaves `left`. Null: gone; undefined: no answer.
 */
function node(left: number | null | undefined, has: number) {
  const accounts = left === undefined ? null : [left === null ? null : account(left)];
  return readOf({
    getBalance: { value: has },
    simulateTransaction: { value: { err: null, logs: [], unitsConsumed: 1, accounts } },
  });
}

t.test('what leaves all but fee and rent is let through at once', async (t) => {
  const read = node(0, 0);
  for (const left of [995_000n, 1_000_000n, 2_000_000n]) {
    t.equal(await lossShown(read, leaving(left), 1_000_000n, BOUND), undefined);
  }
  t.equal(
    await lossShown(read, { ...leaving(0n), accounts: [] }, 1_000_000n, BOUND),
    undefined,
    'the node tells nothing',
  );
  t.equal(await lossShown(read, { ...leaving(null), error: 'AccountInUse' }, 1_000_000n, BOUND), undefined);
  t.strictSame(read.asked, []);
});

t.test('a lamport more is a loss, when a second trial shows it too', async (t) => {
  const reason =
    /^Policy violation: It takes 5001 lamports from the relayer account, of which its fee and rent are 5000$/;
  t.match(await lossShown(node(994_999, 1_000_000), leaving(994_999n), 1_000_000n, BOUND), reason);
  t.match(await lossShown(node(null, 1_000_000), leaving(null), 1_000_000n, BOUND), /It takes 1000000 lamports/);
});

t.test('what another transaction took meanwhile is none', async (t) => {
  t.equal(await lossShown(node(990_000, 995_000), leaving(990_000n), 1_000_000n, BOUND), undefined);
  t.equal(await lossShown(node(undefined, 995_000), leaving(990_000n), 1_000_000n, BOUND), undefined);
});

t.test('the second trial is between two looks at the balance', async (t) => {
  const read = node(0, 1_000_000);
  await lossShown(read, leaving(0n), 1_000_000n, BOUND);
  t.strictSame(
    read.asked.map(([method]) => method),
    ['getBalance', 'simulateTransaction', 'getBalance'],
  );
  t.match(read.asked[1], [/./, ['AQAB', { accounts: { encoding: 'base64', addresses: [PAYER] } }]]);
});
