// These answers decide about money. So an answer that no honest node gives is a failure and is never used.
import { Account, Asset, Keypair, MuxedAccount, Operation, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import {
  getAccount,
  getPayer,
  getSpendableBalance,
  getTransaction,
  latestLedger,
  PASSPHRASE,
  usualFee,
} from '../../../../../src/chains/stellar/rpc-calls.ts';
import type { Json, JsonObject } from '../../../../../src/domain/json/json.ts';
import { type ReadFromEndpoint, RpcError } from '../../../../../src/egress/rpc/rpc-client.ts';
import { newAccount } from '../../../../doubles/stellar/ledger/account.ts';
import type { AccountEntry, DataEntry } from '../../../../doubles/stellar/ledger/entry.ts';
import { keyToXdr } from '../../../../doubles/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../doubles/stellar/ledger/entry-xdr.ts';
import { headerXdr } from '../../../../doubles/stellar/node/closed-ledger.ts';
import { knowing } from '../../../../support/stellar-ledger.ts';

const ADDRESS = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 1)).publicKey();
const OTHER = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 2)).publicKey();

const answering =
  (answer: Json): ReadFromEndpoint =>
  async (_method, _params, parse) =>
    parse(answer);

function told(...entries: (AccountEntry | DataEntry)[]): Json {
  return {
    latestLedger: 77,
    entries: entries.map((entry) => ({
      key: keyToXdr(entry).toXdr('base64'),
      xdr: toEntryData(entry).toXdr('base64'),
    })),
  };
}

t.test('an account as its ledger left it', async (t) => {
  const plain = newAccount(ADDRESS, 5n, 9);
  t.match(await getAccount(answering(told(plain)), ADDRESS), {
    ledger: 77n,
    account: {
      balance: 5n,
      promised: 0n,
      sequence: 9n << 32n,
      reserves: 2n,
      authority: { signers: [{ weight: 1 }], thresholds: { low: 0, medium: 0, high: 0 } },
    },
  });
  const rich = {
    ...plain,
    balance: 2n ** 63n - 1n,
    subEntries: 3,
    liabilities: { buying: 4n, selling: 6n },
    sequenceLedger: 8,
  };
  t.match(await getAccount(answering(told(rich)), ADDRESS), {
    account: { balance: 2n ** 63n - 1n, promised: 6n, reserves: 5n },
  });
  for (const none of [{ latestLedger: 77, entries: [] }, { latestLedger: 77, entries: null }, { latestLedger: 77 }]) {
    t.strictSame(await getAccount(answering(none), ADDRESS), { ledger: 77n, account: null });
  }
});

t.test('reserves that others sponsor are theirs', async (t) => {
  const data = toEntryData({ ...newAccount(ADDRESS, 5n, 9), sequenceLedger: 8 });
  if (data.type !== 'account' || data.account.ext.type !== 'v1') throw new Error('no extension');
  const { v1 } = data.account.ext;
  const second = new xdr.AccountEntryExtensionV2({
    numSponsored: 2,
    numSponsoring: 5,
    signerSponsoringIDs: [],
    ext: xdr.AccountEntryExtensionV2Ext.v0(),
  });
  const first = new xdr.AccountEntryExtensionV1({
    liabilities: v1.liabilities,
    ext: xdr.AccountEntryExtensionV1Ext.v2(second),
  });
  const wire = { ...data.account.toXdrObject(), ext: xdr.AccountEntryExt.v1(first).toXdrObject() };
  const entry = xdr.LedgerEntryData.account(xdr.AccountEntry.fromXdrObject(wire));
  const key = keyToXdr(newAccount(ADDRESS, 5n, 9)).toXdr('base64');
  const answer = { latestLedger: 1, entries: [{ key, xdr: entry.toXdr('base64') }] };
  t.match(await getAccount(answering(answer), ADDRESS), { account: { reserves: 5n } });
});

t.test('the newest ledger, with its time', async (t) => {
  t.strictSame(await latestLedger(answering({ sequence: 58_000_000, closeTime: '1700000000' })), {
    sequence: 58_000_000n,
    closedAt: 1_700_000_000_000,
    baseReserve: 5_000_000n,
  });
  const header = (baseReserve: bigint) => {
    const told = { sequence: 5, closeTime: 0n, baseFee: 100n, baseReserve };
    const sums = { feePool: 0n, nextId: 0n, maxOperations: 5 };
    return headerXdr(told, '00'.repeat(32), Buffer.alloc(32), sums).toXdr('base64');
  };
  const told = { sequence: 5, closeTime: '5' };
  t.match(await latestLedger(answering({ ...told, headerXdr: header(7n) })), { baseReserve: 7n });
  t.match(await latestLedger(answering({ ...told, headerXdr: 'newer' })), { baseReserve: 5_000_000n });
});

t.test('a node before stellar-rpc 25 tells the time of its newest ledger beside a transaction', async (t) => {
  const asked: string[] = [];
  const read: ReadFromEndpoint = async (method, params, parse) => {
    asked.push(`${method} ${JSON.stringify(params)}`);
    return method === 'getLatestLedger'
      ? parse({ id: 'a', protocolVersion: 22, sequence: 5 })
      : parse({ status: 'NOT_FOUND', latestLedger: 6, latestLedgerCloseTime: '30', oldestLedger: 1 });
  };
  t.match(await latestLedger(read), { sequence: 6n, closedAt: 30_000, baseReserve: 5_000_000n });
  t.equal(asked[1], `getTransaction {"hash":"${'00'.repeat(32)}"}`);
  await t.rejects(latestLedger(answering({ sequence: 5 })), TypeError, 'a time that is nowhere is not made up');
});

t.test('what places cost is advice: the base fee stands in for it', async (t) => {
  t.equal(await usualFee(answering({ inclusionFee: { p90: '250' } }), 'inclusionFee'), 250n);
  const failing: ReadFromEndpoint = async () => {
    throw new RpcError('node', 'method not found', { code: -32_601 });
  };
  t.equal(await usualFee(failing, 'inclusionFee'), 100n);
  const asParsed: ReadFromEndpoint = async (_method, _params, parse) => {
    try {
      return parse({ inclusionFee: { p90: -5 } });
    } catch (error) {
      throw new RpcError('malformed', String(error));
    }
  };
  t.equal(await usualFee(asParsed, 'inclusionFee'), 100n);
});

t.test('who takes no payment without a memo is told beside the payer', async (t) => {
  const wanting = (value: string): DataEntry => ({
    kind: 'data',
    account: OTHER,
    name: 'config.memo_required',
    value: Buffer.from(value).toString('base64'),
  });
  const payer = newAccount(ADDRESS, 5n, 9);
  const pay = (destination: string) => Operation.payment({ destination, asset: Asset.native(), amount: '1' });
  const at = (value: string, operation: xdr.Operation, memo: xdr.Memo = xdr.Memo.memoNone()) =>
    getPayer(answering(told(payer, wanting(value))), ADDRESS, { memo, operations: [operation] });
  t.match(await at('1', pay(OTHER)), { account: { balance: 5n }, memoRequiredBy: OTHER });
  t.match(await at('0', pay(OTHER)), { memoRequiredBy: undefined });
  const keysOf = async (operation: xdr.Operation, memo: xdr.Memo = xdr.Memo.memoNone()) => {
    let keys: Json = null;
    const read: ReadFromEndpoint = async (_method, params, parse) => {
      keys = (params as JsonObject)['keys'] ?? null;
      return parse(told(payer));
    };
    await getPayer(read, ADDRESS, { memo, operations: [operation] });
    return (keys as Json[] | null)?.length;
  };
  const asset = new Asset('USD', OTHER);
  const path = { destination: OTHER, sendAsset: asset, destAsset: asset };
  t.equal(await keysOf(pay(OTHER)), 2, 'one question');
  t.equal(await keysOf(pay(OTHER), xdr.Memo.memoText('tea')), 1);
  t.equal(await keysOf(pay(new MuxedAccount(new Account(OTHER, '0'), '7').accountId())), 1, 'its id is in its address');
  t.equal(await keysOf(pay(ADDRESS)), 1);
  t.equal(await keysOf(Operation.createAccount({ destination: OTHER, startingBalance: '1' })), 1);
  t.equal(await keysOf(Operation.pathPaymentStrictSend({ ...path, sendAmount: '1', destMin: '1' })), 2);
  t.equal(await keysOf(Operation.pathPaymentStrictReceive({ ...path, sendMax: '1', destAmount: '1' })), 2);
  t.equal(await keysOf(Operation.accountMerge({ destination: OTHER })), 2);
});

t.test('what no honest node answers is no answer', async (t) => {
  const entry = { key: keyToXdr(newAccount(OTHER, 1n, 1)).toXdr('base64'), xdr: 'AAAA' };
  const key = keyToXdr(newAccount(ADDRESS, 1n, 1)).toXdr('base64');
  for (const bad of [
    null,
    [],
    'account',
    {},
    { latestLedger: 77, entries: [entry] },
    { latestLedger: 77, entries: [{ key, xdr: 'AAAA' }] },
    { latestLedger: 77, entries: [{ key, xdr: 5 }] },
    { latestLedger: 77, entries: 'none' },
    { latestLedger: -1, entries: [] },
    { latestLedger: 1.5, entries: [] },
  ] as Json[]) {
    await t.rejects(getAccount(answering(bad), ADDRESS), JSON.stringify(bad));
  }
  for (const bad of [null, { sequence: '', closeTime: '1' }, { sequence: 1, closeTime: 'now' }] as Json[]) {
    await t.rejects(latestLedger(answering(bad)), TypeError);
  }
  t.equal(PASSPHRASE.served({ passphrase: 'Some Network' }), 'Some Network');
  for (const bad of [null, {}, { passphrase: 5 }, { passphrase: '' }] as Json[]) {
    t.throws(() => PASSPHRASE.served(bad), TypeError);
  }
});

t.test('what an account can give away of an asset', async (t) => {
  const [holder, asset] = [Keypair.fromPublicKey(ADDRESS), new Asset('USD', OTHER)];
  const read = knowing({ lines: [[holder, asset, 50n]] });
  t.equal(await getSpendableBalance(read, ADDRESS, asset), 45n, 'what offers promise is not there');
  t.equal(await getSpendableBalance(read, OTHER, asset), null);
  t.equal(await getSpendableBalance(answering({ latestLedger: 5 }), OTHER, asset), null);
  const entry = newAccount(ADDRESS, 1n, 1);
  await t.rejects(getSpendableBalance(answering(told(entry)), ADDRESS, asset), TypeError, 'another entry');
  const line = xdr.LedgerKey.trustline(
    new xdr.LedgerKeyTrustLine({ accountId: holder.xdrAccountId(), asset: asset.toTrustLineXdrObject() }),
  );
  const lie = { key: line.toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
  await t.rejects(
    getSpendableBalance(answering({ latestLedger: 5, entries: [lie] }), ADDRESS, asset),
    TypeError,
    'of another kind',
  );
});

t.test('a status that the result contradicts is no answer', async (t) => {
  const resultOf = (result: xdr.TransactionResultResult) =>
    new xdr.TransactionResult({ feeCharged: 100n, result, ext: xdr.TransactionResultExt.v0() }).toXdr('base64');
  const success = resultOf(xdr.TransactionResultResult.txSuccess([]));
  const failure = resultOf(xdr.TransactionResultResult.txFailed([]));
  const look = (status: string, resultXdr?: string) =>
    getTransaction(
      answering({
        latestLedger: 9,
        oldestLedger: 1,
        latestLedgerCloseTime: '5',
        status,
        ledger: 7,
        ...(resultXdr === undefined ? {} : { resultXdr }),
      }),
      'hash',
    );
  await t.rejects(look('FAILED', success), TypeError);
  await t.rejects(look('SUCCESS', failure), TypeError);
  for (const [status, result] of [
    ['SUCCESS', success],
    ['FAILED', failure],
    ['FAILED', 'of a newer protocol'],
    ['SUCCESS', undefined],
  ] as const) {
    t.equal((await look(status, result)).inclusion?.succeeded, status === 'SUCCESS', `${status} ${result}`);
  }
});
