// What the chain shows decides whether money moves again, so each lag and each lie of a node that could turn it is tried.
import { xdr } from '@stellar/stellar-sdk';
import t, { type Test } from 'tap';
import type { ObservedEntry } from '../../../../../src/chains/client.ts';
import { observe } from '../../../../../src/chains/stellar/confirm.ts';
import { dialect } from '../../../../../src/chains/stellar/dialect.ts';
import type { Attempt } from '../../../../../src/domain/transaction/attempt.ts';
import { openRpc } from '../../../../support/evm.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';
import { newAccount } from '../../../../support/stellar/ledger/account.ts';
import { keyToXdr } from '../../../../support/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../support/stellar/ledger/entry-xdr.ts';
import {
  fieldsOf,
  RELAYER,
  relayerAccount,
  storedAttempt,
  storedStellar,
} from '../../../../support/stellar-relayer.ts';

/** What a node shows; absent: 900 s have passed, its history goes back to ledger 1, and the account has used 7. */
interface World {
  latest?: number;
  oldest?: number;
  closedAt?: number;
  used?: bigint | null;
  /** Of what the account is told. */
  accountLedger?: number;
  landed?: Readonly<Record<string, object>>;
  /** Whatever it is asked, it answers nothing useful. */
  isDown?: boolean;
}

function node(world: World): DoubleHandler {
  const { latest = 60, oldest = 1, closedAt = 900, used = 7n, landed = {}, accountLedger = latest } = world;
  const entry = { ...newAccount(RELAYER.publicKey(), 1n, 1), sequence: used ?? 0n };
  const found = { key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
  return ({ method, params }) => {
    if (world.isDown) return { status: 503, body: '' };
    if (method === 'getLedgerEntries') {
      return { result: { latestLedger: accountLedger, entries: used === null ? [] : [found] } };
    }
    const { hash } = params as unknown as { hash: string };
    const common = { latestLedger: latest, oldestLedger: oldest, latestLedgerCloseTime: String(closedAt) };
    return { result: { ...common, status: 'NOT_FOUND', ...landed[hash] } };
  };
}

function entry(...attempts: Attempt[]): ObservedEntry {
  return { transaction: storedStellar(), attempts, account: relayerAccount() };
}

async function look(t: Test, worlds: World[], ...entries: ObservedEntry[]) {
  const doubles = await Promise.all(worlds.map((world) => startRpcDouble(node(world))));
  const urls = doubles.map(({ url }) => url);
  const rpc = openRpc(urls, undefined, dialect);
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  return observe(rpc, entries);
}

const success = new xdr.TransactionResult({
  feeCharged: 100n,
  result: xdr.TransactionResultResult.txSuccess([]),
  ext: xdr.TransactionResultExt.v0(),
}).toXdr('base64');

const shown = { status: 'SUCCESS', ledger: 55, resultXdr: success };

t.test('what is in a ledger is final', async (t) => {
  t.strictSame(await look(t, [{ landed: { a: shown } }], entry(storedAttempt('a'))), [
    {
      kind: 'included',
      hash: 'a',
      succeeded: true,
      final: true,
      reason: null,
      fields: { ...fieldsOf({ sequence: 8 }), receipt: { ledger: 55, succeeded: true, fee: 100 } },
    },
  ]);
  const odd = { ...shown, status: 'FAILED', resultXdr: 'of a newer protocol' };
  t.match(await look(t, [{ landed: { a: odd } }], entry(storedAttempt('a'))), [
    { kind: 'included', succeeded: false, final: true, reason: 'Transaction failed on-chain. reason=unknown' },
  ]);
});

t.test('any attempt counts, dead or not', async (t) => {
  const attempts = [storedAttempt('a', { deadAt: 5 }), storedAttempt('b', { ordinal: 2 })];
  t.match(await look(t, [{ landed: { a: shown } }], entry(...attempts)), [{ kind: 'included', hash: 'a' }]);
});

t.test('what another endpoint denies is not final', async (t) => {
  const claim = { landed: { a: shown } };
  t.match(await look(t, [claim, {}], entry(storedAttempt('a'))), [{ kind: 'included', final: false }]);
  t.match(await look(t, [claim, { latest: 54 }], entry(storedAttempt('a'))), [{ final: true }], 'it is only behind');
  t.match(await look(t, [claim, { oldest: 56 }], entry(storedAttempt('a'))), [{ final: true }], 'it has forgotten');
  t.match(await look(t, [claim, { isDown: true }], entry(storedAttempt('a'))), [{ final: true }]);
});

t.test('it is dead only when a ledger has closed after its time', async (t) => {
  for (const [closedAt, dead] of [
    [999, undefined],
    [1_000, undefined],
    [1_001, [1]],
  ] as const) {
    const [seen] = await look(t, [{ closedAt }], entry(storedAttempt('a')));
    t.strictSame(seen, { kind: 'open', ...(dead === undefined ? {} : { dead }) }, String(closedAt));
  }
});

t.test('or when its sequence is used, by anything', async (t) => {
  t.strictSame(await look(t, [{ used: 7n }], entry(storedAttempt('a'))), [{ kind: 'open' }]);
  t.match(await look(t, [{ used: 8n }], entry(storedAttempt('a'))), [
    { kind: 'dead', anchor: 'used', reason: 'Sequence 8 was used by another transaction' },
  ]);
  t.match(await look(t, [{ used: 1_000n }], entry(storedAttempt('a'))), [{ kind: 'dead' }], 'a leap uses all below');
  t.strictSame(await look(t, [{ used: null }], entry(storedAttempt('a'))), [{ kind: 'open' }], 'no account, no proof');
});

t.test('a history that begins after it was signed proves nothing', async (t) => {
  const late = { closedAt: 5_000, used: 9n };
  t.strictSame(await look(t, [{ ...late, oldest: 52 }], entry(storedAttempt('a'))), [{ kind: 'open' }]);
  t.match(await look(t, [{ ...late, oldest: 51 }], entry(storedAttempt('a'))), [{ kind: 'dead' }]);
});

t.test('one endpoint of several proves nothing', async (t) => {
  const late = { closedAt: 5_000 };
  t.match(await look(t, [late, late], entry(storedAttempt('a'))), [{ kind: 'open', dead: [1] }]);
  t.strictSame(await look(t, [late, {}], entry(storedAttempt('a'))), [{ kind: 'open' }], 'the other is not so far');
  t.strictSame(await look(t, [late, { isDown: true }], entry(storedAttempt('a'))), [{ kind: 'open' }]);
  const denied = await look(t, [late, late, { landed: { a: shown } }], entry(storedAttempt('a')));
  t.strictSame(denied, [{ kind: 'open' }], 'one that has it outweighs all');
});

t.test('behind a gateway, a history that ends before the account’s ledger is not believed', async (t) => {
  const mixed = { used: 8n, accountLedger: 61, latest: 60 };
  await t.rejects(look(t, [mixed], entry(storedAttempt('a'))), { message: /ends at ledger 60, before 61/ });
});

t.test('without attempts nothing is asked', async (t) => {
  t.strictSame(await look(t, [{ isDown: true }], entry()), [{ kind: 'open' }]);
});
