import { ComputeBudgetProgram, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import t from 'tap';
import { chainSpending } from '../../../../../src/chains/solana/spending.ts';
import { keypair } from '../../../../support/solana-messages.ts';
import { built, fieldsOf, memo, onWire, storedSolana } from '../../../../support/solana-relayer.ts';

const { spendOf, spentBy, recipient, selector } = chainSpending;

const PROGRAM = keypair(31).publicKey;
const call = (data: string) => new TransactionInstruction({ programId: PROGRAM, keys: [], data: Buffer.from(data) });
const aside = [ComputeBudgetProgram.setComputeUnitLimit({ units: 5 }), memo('why')];
const transfer = SystemProgram.transfer({
  fromPubkey: keypair(32).publicKey,
  toPubkey: keypair(33).publicKey,
  lamports: 7,
});

t.test('a request is told by the program that it calls and the first bytes of what it says', async (t) => {
  const whole = [...aside, call('transfer-much')];
  for (const request of [{ instructions: whole.map(onWire) }, { transaction: built(whole) }]) {
    t.strictSame(spendOf(request), {
      recipient: PROGRAM.toBase58(),
      selector: `0x${Buffer.from('transfer').toString('hex')}`,
      value: 0n,
      fee: null,
      beyond: null,
    });
  }
  t.match(spendOf({ instructions: [onWire(call('no'))] }), { selector: '0x6e6f' });
  t.match(spendOf({ instructions: [onWire(call(''))] }), { selector: '0x' });
});

t.test('what calls nothing has no recipient, and a second call is named', async (t) => {
  t.match(spendOf({ instructions: aside.map(onWire) }), { recipient: null, selector: null, beyond: null });
  t.match(spendOf({ transaction: built([call('one'), memo('and'), transfer]) }), {
    recipient: PROGRAM.toBase58(),
    beyond: `another instruction, of ${SystemProgram.programId.toBase58()}`,
  });
});

t.test('what ended took the fee that its block tells, or the most that it can have been', async (t) => {
  const took = (over: object) => spentBy(storedSolana({ fields: fieldsOf(over) })).fee;
  t.equal(took({ receipt: { slot: 1, succeeded: false, fee: 6_000 } }), 6_000n, 'a failure pays too');
  t.equal(took({ receipt: { slot: 1, succeeded: true }, rent: 2_039_280 }), 2_044_280n);
  t.equal(took({}), 0n, 'never in a block');
  t.strictSame(spentBy(storedSolana()), { value: 0n, fee: 0n }, 'never prepared');
});

t.test('operators name programs and first bytes', async (t) => {
  t.equal(recipient.read(PROGRAM.toBase58()), PROGRAM.toBase58());
  for (const fault of ['', '0x00', `${PROGRAM.toBase58()}1`, PROGRAM.toBase58().toLowerCase()]) {
    t.equal(recipient.read(fault), undefined, fault);
  }
  t.equal(selector.read('0xAABBccdd00112233'), '0xaabbccdd00112233');
  t.equal(selector.read('0x'), '0x');
  for (const fault of ['', 'aa', '0xa', '0xaabbccdd0011223344', '0xzz', 'transfer()']) {
    t.equal(selector.read(fault), undefined, fault);
  }
});
