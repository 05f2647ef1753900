import { Keypair, PublicKey, TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import t from 'tap';
import { feePayerLoss } from '../../../../../../src/chains/solana/guard/fee-payer.ts';
import { decodeMessage, type Message } from '../../../../../../src/chains/solana/message/message.ts';
import { MEMO_PROGRAMS } from '../../../../../../src/chains/solana/programs.ts';
import { fc } from '../../../../../support/properties.ts';
import { familyInstructions } from '../../../../../support/solana-instructions.ts';

const RELAYER = Keypair.generate().publicKey;
const BLOCKHASH = Keypair.generate().publicKey.toBase58();

/** A message that the relayer pays for, as the public library compiles it. */
function message(...instructions: TransactionInstruction[]): Message {
  const compiled = new TransactionMessage({ payerKey: RELAYER, recentBlockhash: BLOCKHASH, instructions });
  return decodeMessage(compiled.compileToLegacyMessage().serialize());
}

/** The same instruction with the relayer in one place. */
function withRelayer({ programId, keys, data }: TransactionInstruction, place: number): TransactionInstruction {
  const named = keys.map((meta, index) => (index === place ? { ...meta, pubkey: RELAYER } : meta));
  return new TransactionInstruction({ programId, keys: named, data });
}

/** Where the relayer may be named: as who is given something, and as who lets a nonce move on. */
const BOUNDED = new Map([
  ['system transfer', [1]],
  ['system transfer-with-seed', [2]],
  ['nonce advance', [2]],
  ['token close', [1]],
  ['token initialize-account', [2]],
  ['token associated create', [2]],
  ['token associated create-idempotent', [2]],
  ['token-2022 close', [1]],
  ['token-2022 initialize-account', [2]],
  ['token-2022 associated create', [2]],
  ['token-2022 associated create-idempotent', [2]],
]);

t.test('in every place of every instruction the relayer is refused, but where it loses nothing', async (t) => {
  let refused = 0;
  for (const { name, instruction } of familyInstructions()) {
    for (const place of instruction.keys.keys()) {
      const loss = feePayerLoss(message(withRelayer(instruction, place)), { paysRent: false });
      const isBounded = BOUNDED.get(name)?.includes(place) === true;
      if (isBounded) t.equal(loss, undefined, `${name}, account ${place + 1}`);
      else t.type(loss, 'string', `${name}, account ${place + 1}`);
      refused += Number(!isBounded);
    }
    t.equal(feePayerLoss(message(instruction), { paysRent: false }), undefined, `${name} among others`);
  }
  t.ok(refused > 150, `${refused} places are refused`);
});

t.test('whatever the data are, an instruction of an unknown program may not name the relayer', async (t) => {
  const refused = fc.check(
    fc.property(fc.uint8Array({ maxLength: 40 }), fc.nat(5), fc.nat(5), (data, count, place) => {
      const keys = Array.from({ length: count + 1 }, () => ({
        pubkey: Keypair.generate().publicKey,
        isSigner: false,
        isWritable: false,
      }));
      const programId = Keypair.generate().publicKey;
      const instruction = new TransactionInstruction({ programId, keys, data: Buffer.from(data) });
      const named = withRelayer(instruction, place % keys.length);
      return feePayerLoss(message(named), { paysRent: true }) !== undefined;
    }),
    { numRuns: 100 },
  );
  t.notOk(refused.failed, JSON.stringify(refused.counterexample));
});

t.test('a memo may name the relayer', async (t) => {
  for (const program of MEMO_PROGRAMS) {
    const keys = [{ pubkey: RELAYER, isSigner: true, isWritable: false }];
    const memo = new TransactionInstruction({ programId: new PublicKey(program), keys, data: Buffer.from('hi') });
    t.equal(feePayerLoss(message(memo), { paysRent: false }), undefined);
  }
});

t.test('accounts for tokens are paid for where users pay it back', async (t) => {
  const creations = familyInstructions().filter(({ name }) => name.includes('associated create'));
  t.equal(creations.length, 4);
  const paid = message(...creations.map(({ instruction }) => withRelayer(instruction, 0)));
  t.match(feePayerLoss(paid, { paysRent: false }), /names the relayer account as account 1/);
  t.equal(feePayerLoss(paid, { paysRent: true }), undefined);
});

t.test('a transfer from the relayer is refused in the reference’s words', async (t) => {
  const [transfer] = familyInstructions();
  const from = transfer === undefined ? [] : [withRelayer(transfer.instruction, 0)];
  t.equal(
    feePayerLoss(message(...from), { paysRent: false }),
    'Lamports transfers are not allowed from the relayer account',
  );
});
