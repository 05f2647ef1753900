// These answers decide about money. So an answer that no honest node gives is a failure and is never used.
import { Asset, Keypair, xdr } from '@stellar/stellar-sdk';
import t from 'tap';
import { accountAt, latestLedger, PASSPHRASE, spendableOf } from '../../../../../src/chains/stellar/provider.ts';
import type { Json } from '../../../../../src/domain/json/json.ts';
import type { ReadOne } from '../../../../../src/egress/rpc/rpc-client.ts';
import { newAccount } from '../../../../support/stellar/ledger/account.ts';
import type { AccountEntry } from '../../../../support/stellar/ledger/entry.ts';
import { keyToXdr } from '../../../../support/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../support/stellar/ledger/entry-xdr.ts';
import { headerXdr } from '../../../../support/stellar/node/closed-ledger.ts';
import { knowing } from '../../../../support/stellar-ledger.ts';

const ADDRESS = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 1)).publicKey();
const OTHER = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 2)).publicKey();

const answering =
  (answer: Json): ReadOne =>
  async (_method, _params, parse) =>
    parse(answer);

function told(entry: AccountEntry): Json {
  return {
    latestLedger: 77,
    entries: [{ key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') }],
  };
}

t.test('an account as its ledger left it', async (t) => {
  const plain = newAccount(ADDRESS, 5n, 9);
  t.match(await accountAt(answering(told(plain)), ADDRESS), {
    ledger: 77n,
    account: {
      ...{ balance: 5n, promised: 0n, sequence: 9n << 32n, reserves: 2n },
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
  t.match(await accountAt(answering(told(rich)), ADDRESS), {
    account: { balance: 2n ** 63n - 1n, promised: 6n, reserves: 5n },
  });
  for (const none of [{ latestLedger: 77, entries: [] }, { latestLedger: 77, entries: null }, { latestLedger: 77 }]) {
    t.strictSame(await accountAt(answering(none), ADDRESS), { ledger: 77n, account: null });
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
  t.match(await accountAt(answering(answer), ADDRESS), { account: { reserves: 5n } });
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
  await t.rejects(latestLedger(answering({ sequence: 5 })), { name: 'EndpointUnfit' }, 'another node may be newer');
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
    await t.rejects(accountAt(answering(bad), ADDRESS), JSON.stringify(bad));
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
  t.equal(await spendableOf(read, ADDRESS, asset), 45n, 'what offers promise is not there');
  t.equal(await spendableOf(read, OTHER, asset), null);
  t.equal(await spendableOf(answering({ latestLedger: 5 }), OTHER, asset), null);
  const entry = newAccount(ADDRESS, 1n, 1);
  await t.rejects(spendableOf(answering(told(entry)), ADDRESS, asset), TypeError, 'another entry');
  const line = xdr.LedgerKey.trustline(
    new xdr.LedgerKeyTrustLine({ accountId: holder.xdrAccountId(), asset: asset.toTrustLineXdrObject() }),
  );
  const lie = { key: line.toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
  await t.rejects(
    spendableOf(answering({ latestLedger: 5, entries: [lie] }), ADDRESS, asset),
    TypeError,
    'of another kind',
  );
});
