import {
  ComputeBudgetInstruction,
  ComputeBudgetProgram,
  PublicKey,
  SystemProgram,
  TransactionInstruction,
} from '@solana/web3.js';
import t from 'tap';
import { compileLegacy, type Instruction } from '../../../../../../src/chains/solana/message/compile.ts';
import { decodeMessage } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { readComputeBudget, setLimit, setPrice } from '../../../../../../src/chains/solana/message/compute-budget.ts';
import { COMPUTE_BUDGET_PROGRAM, SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { fc } from '../../../../../support/properties.ts';
import { keypair, realTransactions } from '../../../../../support/solana-messages.ts';

const payer = keypair(1).publicKey.toBase58();
const budgetOf = (...instructions: Instruction[]) =>
  readComputeBudget(compileLegacy({ payer, blockhash: payer, instructions }));
const call = (program: string, ...data: number[]): Instruction => ({ program, accounts: [], data: Buffer.from(data) });
const theirs = ({ program, data }: Instruction) =>
  new TransactionInstruction({ programId: new PublicKey(program), keys: [], data });

t.test('limit and price are as the public client writes and reads them', async (t) => {
  const property = fc.property(fc.nat(0xffffffff), fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (units, price) => {
    t.same(setLimit(units).data, ComputeBudgetProgram.setComputeUnitLimit({ units }).data);
    t.same(setPrice(price).data, ComputeBudgetProgram.setComputeUnitPrice({ microLamports: price }).data);
    t.equal(ComputeBudgetInstruction.decodeSetComputeUnitLimit(theirs(setLimit(units))).units, units);
    t.strictSame(budgetOf(call(SYSTEM_PROGRAM, 2), setPrice(price), setLimit(units)), { limit: units, price });
  });
  fc.assert(property);
  t.equal(setLimit(1).program, ComputeBudgetProgram.programId.toBase58());
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

t.test('what does not fit is not written', async (t) => {
  for (const units of [-1, 2 ** 32]) t.throws(() => setLimit(units), RangeError);
  for (const price of [-1n, 2n ** 64n]) t.throws(() => setPrice(price), RangeError);
});
