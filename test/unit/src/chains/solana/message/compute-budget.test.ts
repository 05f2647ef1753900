import { ComputeBudgetProgram, SystemProgram, type TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { compileLegacy, decodeMessage } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { readComputeBudget } from '../../../../../../src/chains/solana/message/compute-budget.ts';
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { fc } from '../../../../../support/properties.ts';
import { callOf, keypair, realTransactions } from '../../../../../support/solana-messages.ts';

const payer = keypair(1).publicKey.toBase58();
const budgetOf = (...instructions: TransactionInstruction[]) =>
  readComputeBudget(compileLegacy({ payer, blockhash: payer, instructions }));
const call = (program: string, ...data: number[]) => callOf({ program, accounts: [], data: Buffer.from(data) });
const setLimit = (units: number) => ComputeBudgetProgram.setComputeUnitLimit({ units });
const setPrice = (microLamports: bigint) => ComputeBudgetProgram.setComputeUnitPrice({ microLamports });

t.test('limit and price are as the public client writes them', async (t) => {
  const property = fc.property(fc.nat(0xffffffff), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (units, price) => {
    t.strictSame(budgetOf(call(SYSTEM_PROGRAM, 2), setPrice(price), setLimit(units)), { limit: units, price });
  });
  fc.assert(property);
});

t.test('a wallet’s transaction, with lookup tables too', async (t) => {
  for (const name of [
    'a transfer of tokens that another is to pay for',
    'a transfer of tokens with two lookup tables',
  ]) {
    const bytes = realTransactions[name]?.message.serialize() ?? Buffer.alloc(0);
    t.strictSame(readComputeBudget(decodeMessage(bytes)), { limit: 60_000, price: 12_345n }, name);
  }
  const transfer = realTransactions['a transfer of SOL']?.message.serialize() ?? Buffer.alloc(0);
  t.strictSame(readComputeBudget(decodeMessage(transfer)), { limit: undefined, price: undefined });
});

t.test('what says neither says nothing', async (t) => {
  const nothing = { limit: undefined, price: undefined };
  t.strictSame(budgetOf(), nothing);
  t.strictSame(budgetOf(call(SYSTEM_PROGRAM, 2, 1, 0, 0, 0)), nothing, 'another program');
  t.equal(SystemProgram.programId.toBase58(), SYSTEM_PROGRAM);
  for (const first of [0, 1, 4, 5, 255]) {
    t.strictSame(budgetOf(call(COMPUTE_BUDGET_PROGRAM, first, 1, 0, 0, 0, 0, 0, 0, 0)), nothing, `kind ${first}`);
  }
  for (const half of [[], [2], [2, 1, 0, 0], [3], [3, 1, 0, 0, 0, 0, 0, 0]]) {
    t.strictSame(budgetOf(call(COMPUTE_BUDGET_PROGRAM, ...half)), nothing, `half: ${half.join()}`);
  }
});

t.test('bytes after the value do not hide it, for the runtime does not mind them', async (t) => {
  t.strictSame(budgetOf(call(COMPUTE_BUDGET_PROGRAM, 2, 7, 0, 0, 0, 9)), { limit: 7, price: undefined });
  const price = call(COMPUTE_BUDGET_PROGRAM, 3, 8, 0, 0, 0, 0, 0, 0, 0, 9);
  t.strictSame(budgetOf(price, setPrice(1n)), { limit: undefined, price: 8n });
});
