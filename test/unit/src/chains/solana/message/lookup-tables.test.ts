import { AddressLookupTableAccount, PublicKey, TransactionMessage } from '@solana/web3.js';
import t, { type Test } from 'tap';
import {
  decodeMessage,
  isWritable,
  type TableLookup,
} from '../../../../../../src/chains/solana/message/compiled-message.ts';
import { lookUp } from '../../../../../../src/chains/solana/message/lookup-tables.ts';
import { ADDRESS_LOOKUP_TABLE_PROGRAM, SYSTEM_PROGRAM } from '../../../../../../src/chains/solana/programs.ts';
import { fc, runsOf } from '../../../../../support/properties.ts';
import { messagePlan } from '../../../../../support/solana-messages.ts';
import { keyOf, openSolana, readOf } from '../../../../../support/solana-node.ts';

/**
 * A table in the layout of its program (`LookupTableMeta`): discriminator, slots, authority, padding; then the
 * addresses.
 */
function tableData(addresses: readonly Uint8Array[]): Buffer {
  const meta = Buffer.alloc(56);
  meta.writeUInt32LE(1, 0);
  meta.writeBigUInt64LE(2n ** 64n - 1n, 4);
  return Buffer.concat([meta, ...addresses]);
}

const message = (...lookups: TableLookup[]) => ({ ...decodeMessage(empty), lookups });
const empty = new TransactionMessage({ payerKey: new PublicKey(keyOf(1)), recentBlockhash: keyOf(2), instructions: [] })
  .compileToLegacyMessage()
  .serialize();

t.test('what tables name is what the public client finds in them, in its order', async (t) => {
  const property = fc.asyncProperty(messagePlan, async ({ payer, blockhash, instructions, tables }) => {
    const theirs = new TransactionMessage({ payerKey: payer, recentBlockhash: blockhash, instructions });
    const compiled = theirs.compileToV0Message(tables);
    const keys = compiled.getAccountKeys({ addressLookupTableAccounts: tables });
    const ours = decodeMessage(compiled.serialize());
    const value = ours.lookups.map(({ table }) => {
      const { state } = tables.find(({ key }) => key.toBase58() === table) as AddressLookupTableAccount;
      const data = tableData(state.addresses.map((address) => address.toBytes()));
      if (AddressLookupTableAccount.deserialize(data).addresses.length !== state.addresses.length) return null;
      const there = { lamports: 1, owner: ADDRESS_LOOKUP_TABLE_PROGRAM, executable: false };
      return { ...there, data: [data.toString('base64'), 'base64'] };
    });
    const found = await lookUp(readOf({ getMultipleAccounts: { context: { slot: 1 }, value } }), ours);
    const { writable = [], readonly = [] } = keys.accountKeysFromLookups ?? {};
    const first = ours.keys.length;
    return (
      found.kind === 'found' &&
      found.writable === writable.length &&
      found.addresses.join() === [...writable, ...readonly].map((key) => key.toBase58()).join() &&
      found.addresses.every((_address, index) => isWritable(ours, first + index) === index < found.writable)
    );
  });
  await fc.assert(property, { numRuns: runsOf(100) });
  t.pass('100 messages');
});

t.test('without tables no node is asked', async (t) => {
  const read = readOf({});
  t.strictSame(await lookUp(read, message()), { kind: 'found', addresses: [], writable: 0 });
  t.strictSame(read.asked, []);
});

const [TABLE, ONE, OTHER] = [keyOf(11), keyOf(12), keyOf(13)];

/** The result of a look-up where the table is this account. */
async function found(t: Test, account: { owner: string; data: Buffer } | undefined, lookup: Partial<TableLookup>) {
  const { rpc } = await openSolana(t, { accounts: account === undefined ? {} : { [TABLE]: account } });
  const asked = message({ table: TABLE, writable: [], readonly: [], ...lookup });
  return rpc.onOne((read) => lookUp(read, asked));
}

t.test('what a table does not have is a fault that names it', async (t) => {
  const addresses = [ONE, OTHER].map((key) => new PublicKey(key).toBytes());
  const table = { owner: ADDRESS_LOOKUP_TABLE_PROGRAM, data: tableData(addresses) };
  t.strictSame(await found(t, table, { writable: [1], readonly: [0] }), {
    kind: 'found',
    addresses: [OTHER, ONE],
    writable: 1,
  });
  const cases = [
    [undefined, { writable: [0] }, `Lookup table ${TABLE} does not exist`],
    [{ ...table, owner: SYSTEM_PROGRAM }, { writable: [0] }, `${TABLE} is not a lookup table`],
    [table, { readonly: [1, 2] }, `Lookup table ${TABLE} has 2 addresses and none at 2`],
    [table, { writable: [255] }, `Lookup table ${TABLE} has 2 addresses and none at 255`],
    [{ ...table, data: Buffer.alloc(4) }, { writable: [0] }, `Lookup table ${TABLE} has 0 addresses and none at 0`],
    [
      { ...table, data: table.data.subarray(0, -1) },
      { writable: [1] },
      `Lookup table ${TABLE} has 0 addresses and none at 1`,
    ],
  ] as const;
  const twice = { ...table, data: tableData([...addresses, ...addresses, new PublicKey(keyOf(1)).toBytes()]) };
  for (const [lookup, key] of [
    [{ writable: [0], readonly: [2] }, ONE],
    [{ readonly: [1, 4] }, keyOf(1)],
  ] as const) {
    const reason = `Account ${key} is loaded twice, by a lookup table for the second time`;
    t.strictSame(await found(t, twice, lookup as Partial<TableLookup>), { kind: 'fault', reason, mayBeBehind: false });
  }
  for (const [account, lookup, reason] of cases) {
    const mayBeBehind = !reason.includes('is not a lookup table');
    t.strictSame(await found(t, account, lookup as Partial<TableLookup>), { kind: 'fault', reason, mayBeBehind });
  }
});
