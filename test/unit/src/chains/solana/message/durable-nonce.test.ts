import { SystemInstruction, TransactionMessage } from '@solana/web3.js';
import t from 'tap';
import { compileLegacy, type Instruction } from '../../../../../../src/chains/solana/message/compile.ts';
import { decodeMessage, type Message } from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { nonceOf } from '../../../../../../src/chains/solana/message/durable-nonce.ts';
import { MEMO_PROGRAMS, SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { keypair, realTransactions } from '../../../../../support/solana-messages.ts';

const [payer, account, authority, sysvar, value] = [1, 2, 3, 4, 5].map((seed) =>
  keypair(seed).publicKey.toBase58(),
) as [string, string, string, string, string];

const messageOf = (...instructions: Instruction[]): Message => compileLegacy({ payer, blockhash: value, instructions });

const advance: Instruction = {
  program: SYSTEM_PROGRAM,
  accounts: [
    { key: account, isSigner: false, isWritable: true },
    { key: sysvar, isSigner: false, isWritable: false },
    { key: authority, isSigner: true, isWritable: false },
  ],
  data: Buffer.from([4, 0, 0, 0]),
};
const memo: Instruction = { program: MEMO_PROGRAMS[0] ?? '', accounts: [], data: Buffer.from('memo') };

t.test('a wallet’s durable nonce is the one that the public client finds', async (t) => {
  for (const [name, { message }] of Object.entries(realTransactions)) {
    const nonce = nonceOf(decodeMessage(message.serialize()));
    if (name !== 'a durable nonce') {
      t.equal(nonce, undefined, name);
      continue;
    }
    const [first] = TransactionMessage.decompile(message).instructions;
    if (first === undefined) throw new Error('it has instructions');
    const { noncePubkey, authorizedPubkey } = SystemInstruction.decodeNonceAdvance(first);
    t.strictSame(nonce, {
      account: noncePubkey.toBase58(),
      authority: authorizedPubkey.toBase58(),
      value: message.recentBlockhash,
    });
  }
});

t.test('it is the first instruction, whatever follows in its data, its accounts and after it', async (t) => {
  const nonce = { account, authority, value };
  t.strictSame(nonceOf(messageOf(advance)), nonce);
  t.strictSame(nonceOf(messageOf(advance, memo)), nonce);
  t.strictSame(nonceOf(messageOf({ ...advance, data: Buffer.from([4, 0, 0, 0, 9]) })), nonce);
  const more = { ...advance, accounts: [...advance.accounts, { key: payer, isSigner: true, isWritable: true }] };
  t.strictSame(nonceOf(messageOf(more)), nonce);
  t.strictSame(nonceOf({ ...messageOf(advance), version: 0 }), nonce);
});

t.test('anything else lives by its blockhash', async (t) => {
  t.equal(nonceOf(messageOf()), undefined);
  t.equal(nonceOf(messageOf(memo, advance)), undefined, 'it is not the first');
  t.equal(nonceOf(messageOf({ ...advance, program: memo.program })), undefined, 'another program');
  for (const data of [[], [4], [4, 0, 0], [5, 0, 0, 0], [4, 1, 0, 0], [4, 0, 0, 1]]) {
    t.equal(nonceOf(messageOf({ ...advance, data: Buffer.from(data) })), undefined, `data ${data.join()}`);
  }
  for (const count of [0, 1, 2]) {
    t.equal(nonceOf(messageOf({ ...advance, accounts: advance.accounts.slice(0, count) })), undefined);
  }
  const readonly = advance.accounts.map((each) => ({ ...each, isWritable: false }));
  t.equal(nonceOf(messageOf({ ...advance, accounts: readonly })), undefined, 'the runtime would not advance it');
});

t.test('a nonce in a lookup table is none to the runtime', async (t) => {
  const message = messageOf(advance);
  const [first = { program: 0, accounts: [], data: Buffer.alloc(0) }] = message.instructions;
  const looked = message.keys.length;
  const lookups = [{ table: payer, writable: [0], readonly: [] }];
  for (const place of [0, 2]) {
    const accounts = first.accounts.map((index, at) => (at === place ? looked : index));
    t.equal(nonceOf({ ...message, version: 0, instructions: [{ ...first, accounts }], lookups }), undefined);
  }
});
