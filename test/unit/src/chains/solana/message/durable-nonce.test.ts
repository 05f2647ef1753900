import { NONCE_ACCOUNT_LENGTH, NonceAccount, PublicKey, SystemInstruction, TransactionMessage } from '@solana/web3.js';
import t from 'tap';
import {
  compileLegacy,
  decodeMessage,
  type Message,
} from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { nonceOf, nonceState } from '../../../../../../src/chains/solana/message/durable-nonce.ts';
import { MEMO_PROGRAMS, SYSTEM_PROGRAM, TOKEN_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { type Call, callOf, keypair, realTransactions } from '../../../../../support/solana-messages.ts';
import { keyOf, type NodeAccount, openSolana } from '../../../../../support/solana-node.ts';

const [payer, account, authority, sysvar, value] = [1, 2, 3, 4, 5].map((seed) =>
  keypair(seed).publicKey.toBase58(),
) as [string, string, string, string, string];

const messageOf = (...calls: Call[]): Message =>
  compileLegacy({ payer, blockhash: value, instructions: calls.map(callOf) });

const advance: Call = {
  program: SYSTEM_PROGRAM,
  accounts: [
    { key: account, isSigner: false, isWritable: true },
    { key: sysvar, isSigner: false, isWritable: false },
    { key: authority, isSigner: true, isWritable: false },
  ],
  data: Buffer.from([4, 0, 0, 0]),
};
const memo: Call = { program: MEMO_PROGRAMS[0] ?? '', accounts: [], data: Buffer.from('memo') };

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

const [NONCE, AUTHORITY, VALUE] = [keyOf(41), keyOf(42), keyOf(43)];

/** A nonce account in the layout of the System program: version 1, state, authority, value, lamports per signature. */
function nonceData({ state = 1 } = {}): Buffer {
  const data = Buffer.alloc(80);
  data.writeUInt32LE(1, 0);
  data.writeUInt32LE(state, 4);
  new PublicKey(AUTHORITY).toBuffer().copy(data, 8);
  new PublicKey(VALUE).toBuffer().copy(data, 40);
  data.writeBigUInt64LE(5_000n, 72);
  return data;
}

t.test('the value is what the public client reads', async (t) => {
  t.equal(nonceData().length, NONCE_ACCOUNT_LENGTH);
  t.equal(NonceAccount.fromAccountData(nonceData()).nonce, VALUE);
  const { rpc, doubles } = await openSolana(t, { accounts: { [NONCE]: { owner: SYSTEM_PROGRAM, data: nonceData() } } });
  const told = await rpc.onOne((read) => nonceState(read, NONCE, 'finalized'));
  t.strictSame(told, { slot: 968n, value: VALUE });
  t.match(doubles[0]?.calls, [{ method: 'getMultipleAccounts', params: [[NONCE], { commitment: 'finalized' }] }]);
});

t.test('what is no nonce has no value', async (t) => {
  const others: Record<string, NodeAccount> = {
    [keyOf(1)]: { owner: TOKEN_PROGRAM, data: nonceData() },
    [keyOf(2)]: { owner: SYSTEM_PROGRAM, data: nonceData({ state: 0 }) },
    [keyOf(3)]: { owner: SYSTEM_PROGRAM, data: Buffer.alloc(0) },
    [keyOf(4)]: { owner: SYSTEM_PROGRAM, data: nonceData().subarray(0, 79) },
    [keyOf(5)]: { owner: SYSTEM_PROGRAM, data: Buffer.concat([nonceData(), Buffer.alloc(1)]) },
  };
  const { rpc } = await openSolana(t, { accounts: others });
  for (const account of [...Object.keys(others), keyOf(6)]) {
    t.match(
      await rpc.onOne((read) => nonceState(read, account, 'confirmed')),
      { slot: 998n, value: undefined },
      account,
    );
  }
});
