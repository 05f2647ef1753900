import {
  createTransferCheckedInstruction,
  createTransferCheckedWithFeeInstruction,
  createTransferInstruction,
  TOKEN_2022_PROGRAM_ID,
  TOKEN_PROGRAM_ID,
} from '@solana/spl-token';
import { PublicKey, TransactionInstruction, TransactionMessage } from '@solana/web3.js';
import t from 'tap';
import { tokenTransfers } from '../../../../../../src/chains/solana/guard/token-transfers.ts';
import { decodeMessage, type Message } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { familyInstructions } from '../../../../../support/solana-instructions.ts';
import { keyOf } from '../../../../../support/solana-node.ts';

const [SOURCE, MINT, DESTINATION, AUTHORITY] = [1, 2, 3, 4].map((seed) => new PublicKey(keyOf(seed))) as [
  PublicKey,
  PublicKey,
  PublicKey,
  PublicKey,
];
const MAX = 2n ** 64n - 1n;

function message(...instructions: TransactionInstruction[]): Message {
  const compiled = new TransactionMessage({
    payerKey: new PublicKey(keyOf(9)),
    recentBlockhash: keyOf(8),
    instructions,
  });
  return decodeMessage(compiled.compileToLegacyMessage().serialize());
}

const transfersOf = (...instructions: TransactionInstruction[]) => {
  const compiled = message(...instructions);
  return tokenTransfers(compiled, compiled.keys);
};

const moved = (program: PublicKey, mint: PublicKey | null, amount: bigint) => ({
  program: program.toBase58(),
  source: SOURCE.toBase58(),
  destination: DESTINATION.toBase58(),
  mint: mint?.toBase58() ?? null,
  authority: AUTHORITY.toBase58(),
  amount,
});

t.test('every kind of transfer of the public client is one, and nothing else of the family is', async (t) => {
  for (const program of [TOKEN_PROGRAM_ID, TOKEN_2022_PROGRAM_ID]) {
    t.strictSame(
      transfersOf(
        createTransferInstruction(SOURCE, DESTINATION, AUTHORITY, MAX, [], program),
        createTransferCheckedInstruction(SOURCE, MINT, DESTINATION, AUTHORITY, 7n, 6, [], program),
      ),
      [moved(program, null, MAX), moved(program, MINT, 7n)],
    );
  }
  const withFee = createTransferCheckedWithFeeInstruction(SOURCE, MINT, DESTINATION, AUTHORITY, 250_000n, 6, 2_500n);
  t.strictSame(transfersOf(withFee), [moved(TOKEN_2022_PROGRAM_ID, MINT, 250_000n)]);
  const transfers = familyInstructions().filter(({ instruction }) => transfersOf(instruction).length > 0);
  t.strictSame(
    transfers.map(({ name }) => name),
    [
      ...['token transfer', 'token transfer-checked', 'token batch'],
      ...['token-2022 transfer', 'token-2022 transfer-checked', 'token-2022 batch', 'token-2022 transfer-with-fee'],
    ],
  );
});

const raw = (keys: PublicKey[], data: readonly number[] | Buffer, programId = TOKEN_PROGRAM_ID) =>
  new TransactionInstruction({
    programId,
    data: Buffer.from(data),
    keys: keys.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })),
  });

t.test('half of a transfer, and one of another program, is none', async (t) => {
  const amount = Buffer.alloc(8, 1);
  const all = [SOURCE, MINT, DESTINATION, AUTHORITY];
  for (const broken of [
    raw(all.slice(0, 2), [3, ...amount]),
    raw(all.slice(0, 3), [12, ...amount, 6]),
    raw(all.slice(0, 3), [26, 1, ...amount, 6, ...amount]),
    raw(all, [3, ...amount.subarray(1)]),
    raw(all, [26, 1, ...amount.subarray(1)]),
    raw(all, [26, 0, ...amount, 6]),
    raw(all, [26]),
    raw(all, []),
    raw([], [3, ...amount]),
    raw(all, [3, ...amount], new PublicKey(keyOf(7))),
  ]) {
    t.strictSame(transfersOf(broken), [], broken.data.toString('hex'));
  }
});

t.test('transfers in a batch are transfers', async (t) => {
  const [plain, checked] = [
    createTransferInstruction(SOURCE, DESTINATION, AUTHORITY, 5n),
    createTransferCheckedInstruction(SOURCE, MINT, DESTINATION, AUTHORITY, 7n, 6),
  ];
  const part = ({ keys, data }: TransactionInstruction) => [keys.length, data.length, ...data];
  const keys = [...plain.keys, ...checked.keys].map(({ pubkey }) => pubkey);
  const batch = [255, ...part(plain), ...part(checked)];
  const both = [moved(TOKEN_PROGRAM_ID, null, 5n), moved(TOKEN_PROGRAM_ID, MINT, 7n)];
  t.strictSame(transfersOf(raw(keys, batch)), both);
  t.strictSame(transfersOf(raw(keys, batch.slice(0, -8))), both.slice(0, 1), 'one that ends too early is none');
  t.strictSame(transfersOf(raw(keys, [255])), []);
  t.strictSame(transfersOf(raw(keys, [255, 3])), []);
  t.strictSame(transfersOf(raw(keys, [255, 7, batch.length, ...batch])), [], 'the program takes no batch in a batch');
});

t.test('accounts out of lookup tables are named by who knows them', async (t) => {
  const { keys, ...compiled } = message(createTransferInstruction(SOURCE, DESTINATION, AUTHORITY, 5n));
  const place = keys.indexOf(SOURCE.toBase58());
  const looked = { ...compiled, keys: keys.with(place, keyOf(20)) };
  const instructions = compiled.instructions.map((one) => ({
    ...one,
    accounts: one.accounts.map((account) => (account === place ? keys.length : account)),
  }));
  const found = tokenTransfers({ ...looked, instructions }, [...looked.keys, SOURCE.toBase58()]);
  t.strictSame(found, [moved(TOKEN_PROGRAM_ID, null, 5n)]);
  t.match(tokenTransfers({ ...looked, instructions }, looked.keys), [{ source: '' }]);
});
