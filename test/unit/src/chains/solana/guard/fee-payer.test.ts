import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  AddressLookupTableProgram,
  BPF_LOADER_PROGRAM_ID,
  ComputeBudgetProgram,
  Keypair,
  PublicKey,
  StakeProgram,
  TransactionInstruction,
  TransactionMessage,
  VoteProgram,
} from '@solana/web3.js';
import t from 'tap';
import { feePayerLoss } from '../../../../../../src/chains/solana/guard/fee-payer.ts';
import { decodeMessage, type Message } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import {
  ASSOCIATED_TOKEN_PROGRAM,
  MEMO_PROGRAMS,
  SYSTEM_PROGRAM,
  TOKEN_2022_PROGRAM,
  TOKEN_PROGRAM,
} from '../../../../../../src/chains/solana/programs.ts';
import { fc } from '../../../../../support/properties.ts';
import { familyInstructions } from '../../../../../support/solana-instructions.ts';

const RELAYER = Keypair.generate().publicKey;
const BLOCKHASH = Keypair.generate().publicKey.toBase58();

/** A message that the relayer pays for, compiled by the public library. */
function message(...instructions: TransactionInstruction[]): Message {
  const compiled = new TransactionMessage({ payerKey: RELAYER, recentBlockhash: BLOCKHASH, instructions });
  return decodeMessage(compiled.compileToLegacyMessage().serialize());
}

/** The same instruction with the relayer as the account at index `place`. */
function withRelayer({ programId, keys, data }: TransactionInstruction, place: number): TransactionInstruction {
  const named = keys.map((meta, index) => (index === place ? { ...meta, pubkey: RELAYER } : meta));
  return new TransactionInstruction({ programId, keys: named, data });
}

/**
 * The account indexes where the relayer may stand: where it receives something, and where it permits a nonce to
 * advance.
 */
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

/**
 * The instructions that the guide allows: the tag their data begin with, and the account index where the relayer may
 * stand.
 */
const PLACES: Readonly<Record<string, Readonly<Record<string, [tag: number, place: number]>>>> = {
  System: { Transfer: [2, 1], TransferWithSeed: [11, 2], AdvanceNonceAccount: [4, 2] },
  'Token, Token-2022': { InitializeAccount: [1, 2], CloseAccount: [9, 1] },
  'Associated Token Account': { Create: [0, 2], CreateIdempotent: [1, 2] },
};
const PROGRAMS: Readonly<Record<string, readonly string[]>> = {
  System: [SYSTEM_PROGRAM],
  'Token, Token-2022': [TOKEN_PROGRAM, TOKEN_2022_PROGRAM],
  'Associated Token Account': [ASSOCIATED_TOKEN_PROGRAM],
  none: [
    ...[StakeProgram, VoteProgram, AddressLookupTableProgram, ComputeBudgetProgram].map((one) =>
      one.programId.toBase58(),
    ),
    BPF_LOADER_PROGRAM_ID.toBase58(),
    'BPFLoaderUpgradeab1e11111111111111111111111',
    'LoaderV411111111111111111111111111111111111',
    'metaqbxxUerdq28cj1RbAWkYQm3ybzjb6a8bt518x1s',
  ],
};
const MAX_PLACES = 12;

t.test(
  'of all that begins with one tag each program allows what the guide’s table says, in that place only',
  async (t) => {
    const guide = readFileSync(join(import.meta.dirname, '../../../../../../docs/solana.md'), 'utf8');
    const told = Object.keys(PLACES).map((family) => {
      const rows = [...guide.matchAll(/^\| ([^|]+) \| ([^|]+) \| [^|]+ \|$/gm)].filter(([, name]) => name === family);
      return [family, rows.flatMap(([, , names = '']) => names.split(', '))];
    });
    t.strictSame(
      Object.fromEntries(told),
      Object.fromEntries(Object.entries(PLACES).map(([k, v]) => [k, Object.keys(v)])),
    );

    const others = Array.from({ length: MAX_PLACES }, () => Keypair.generate().publicKey.toBase58());
    const isLoss = (program: string, data: Buffer, place: number) => {
      const accounts = others.map((_key, index) => (index === place ? 0 : index + 2));
      const keys = [RELAYER.toBase58(), program, ...others];
      const counts = { signers: 1, readonlySigners: 0, readonlyOthers: 0 };
      const called = { keys, blockhash: BLOCKHASH, instructions: [{ program: 1, accounts, data }], lookups: [] };
      return feePayerLoss({ version: 'legacy', ...counts, ...called }, { paysRent: false }) !== undefined;
    };
    const allowed: string[] = [];
    for (const [family, programs] of Object.entries(PROGRAMS)) {
      for (const program of programs) {
        for (let tag = 0; tag < 256; tag += 1) {
          const data = family === 'Associated Token Account' ? Buffer.from([tag]) : Buffer.from([tag, 0, 0, 0, 7, 7]);
          for (let place = 0; place < MAX_PLACES; place += 1) {
            if (!isLoss(program, data, place)) allowed.push(`${program} ${tag} ${place}`);
          }
        }
      }
    }
    const wanted = Object.entries(PLACES).flatMap(([family, places]) =>
      (PROGRAMS[family] ?? []).flatMap((program) =>
        Object.values(places)
          .toSorted(([one], [other]) => one - other)
          .map(([tag, place]) => `${program} ${tag} ${place}`),
      ),
    );
    t.strictSame(allowed, wanted);
    t.ok(isLoss(SYSTEM_PROGRAM, Buffer.from([2, 0, 0, 1]), 1), 'a tag of four bytes is all of them');
    t.ok(isLoss(SYSTEM_PROGRAM, Buffer.from([2, 0, 0]), 1), 'and no fewer');
    t.notOk(isLoss(ASSOCIATED_TOKEN_PROGRAM, Buffer.alloc(0), 2), 'nothing means Create');
    t.ok(isLoss(ASSOCIATED_TOKEN_PROGRAM, Buffer.from([0, 0]), 2));
  },
);

t.test('accounts of other programs than those of tokens are paid for nowhere', async (t) => {
  const create = familyInstructions().find(({ name }) => name === 'token associated create-idempotent')?.instruction;
  if (create === undefined) throw new Error('there is one');
  const paid = (program: PublicKey) => {
    const keys = create.keys.map((meta, place) => (place === 5 ? { ...meta, pubkey: program } : meta));
    return message(
      withRelayer(new TransactionInstruction({ programId: create.programId, keys, data: create.data }), 0),
    );
  };
  t.equal(feePayerLoss(paid(new PublicKey(TOKEN_2022_PROGRAM)), { paysRent: true }), undefined);
  t.match(
    feePayerLoss(paid(Keypair.generate().publicKey), { paysRent: true }),
    /names the relayer account as account 1/,
  );
  const whole = paid(new PublicKey(TOKEN_PROGRAM));
  const [{ program, accounts, data } = { program: 0, accounts: [], data: Buffer.alloc(0) }] = whole.instructions;
  const outside = {
    ...whole,
    instructions: [{ program, accounts: [...accounts.slice(0, 5), whole.keys.length], data }],
  };
  t.equal(feePayerLoss(outside, { paysRent: true }), undefined, 'as long as the tables were not asked');
  t.match(feePayerLoss(outside, { paysRent: true, lookedUp: [] }), /names the relayer account/);
  t.equal(feePayerLoss(outside, { paysRent: true, lookedUp: [TOKEN_PROGRAM] }), undefined, 'out of a lookup table');
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
