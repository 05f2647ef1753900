// What a node shows decides whether a payment is sent again. So these tests try each lie and each delay of a node that
// could change that decision.

import { Account, Keypair, Operation, TransactionBuilder, xdr } from '@stellar/stellar-sdk';
import t, { type Test } from 'tap';
import type { ObservedTransaction } from '../../../../../src/chains/chain-client.ts';
import { isEvidenced, observeTransactions, returnValueIn } from '../../../../../src/chains/stellar/confirm.ts';
import type { LedgerInclusion } from '../../../../../src/chains/stellar/rpc-calls.ts';
import { rpcDialect } from '../../../../../src/chains/stellar/rpc-error-dialect.ts';
import type { Attempt } from '../../../../../src/features/transactions/records/attempt.ts';
import { newAccount } from '../../../../doubles/stellar/ledger/account.ts';
import { keyToXdr } from '../../../../doubles/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../doubles/stellar/ledger/entry-xdr.ts';
import { openRpc } from '../../../../support/evm.ts';
import { type DoubleHandler, startRpcDouble } from '../../../../support/rpc-double.ts';
import { CLIENT } from '../../../../support/stellar-envelopes.ts';
import {
  fieldsOf,
  PASSPHRASE,
  RELAYER,
  relayerAccount,
  storedAttempt,
  storedStellar,
} from '../../../../support/stellar-relayer.ts';

/**
 * What a node shows. Defaults: a ledger time of 900 s, a history that begins at ledger 1, and 7 as the last used
 * sequence.
 */
interface World {
  latest?: number;
  oldest?: number;
  closedAt?: number;
  used?: bigint | null;
  /** The account that the node knows. Default: the relayer. */
  account?: string;
  /** The ledger of the account data. Default: the one before `latest`. */
  accountLedger?: number;
  inclusion?: Readonly<Record<string, object>>;
  /** What the next ledger brings, if it closes after the first request for a transaction. */
  closing?: Readonly<Record<string, object>>;
  /** Whether the node answers every request with status 503. */
  isDown?: boolean;
}

function accountEntry(address: string, sequence: bigint) {
  const entry = { ...newAccount(address, 1n, 1), sequence };
  return { key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
}

function node(world: World): DoubleHandler {
  const {
    latest = 60,
    oldest = 1,
    closedAt = 900,
    used = 7n,
    inclusion = {},
    accountLedger = latest - 1,
    closing,
  } = world;
  let looks = 0;
  return ({ method, params }) => {
    if (world.isDown) return { status: 503, body: '' };
    if (method === 'getLedgerEntries') {
      const { keys } = params as unknown as { keys: [string] };
      const found = accountEntry(world.account ?? RELAYER.publicKey(), used ?? 0n);
      if (found.key !== keys[0]) throw new Error('another account was asked for');
      return { result: { latestLedger: accountLedger, entries: used === null ? [] : [found] } };
    }
    const { hash } = params as unknown as { hash: string };
    const common = { latestLedger: latest, oldestLedger: oldest, latestLedgerCloseTime: String(closedAt) };
    looks += 1;
    if (closing !== undefined && looks > 1) {
      return { result: { ...common, latestLedger: latest + 1, status: 'NOT_FOUND', ...closing[hash] } };
    }
    return { result: { ...common, status: 'NOT_FOUND', ...inclusion[hash] } };
  };
}

function entry(...attempts: Attempt[]): ObservedTransaction {
  return { transaction: storedStellar(), attempts, account: relayerAccount() };
}

async function look(t: Test, worlds: World[], ...entries: ObservedTransaction[]) {
  const doubles = await Promise.all(worlds.map((world) => startRpcDouble(node(world))));
  const urls = doubles.map(({ url }) => url);
  const rpc = openRpc(urls, undefined, rpcDialect);
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  return observeTransactions(rpc, entries);
}

const success = new xdr.TransactionResult({
  feeCharged: 100n,
  result: xdr.TransactionResultResult.txSuccess([]),
  ext: xdr.TransactionResultExt.v0(),
}).toXdr('base64');

const shown = { status: 'SUCCESS', ledger: 55, resultXdr: success };

t.test('what is in a ledger is final', async (t) => {
  t.strictSame(await look(t, [{ inclusion: { a: shown } }], entry(storedAttempt('a'))), [
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
  t.match(await look(t, [{ inclusion: { a: odd } }], entry(storedAttempt('a'))), [
    { kind: 'included', succeeded: false, final: true, reason: 'Transaction failed on-chain. reason=unknown' },
  ]);
});

t.test('any attempt counts, dead or not', async (t) => {
  const attempts = [storedAttempt('a', { deadAt: 5 }), storedAttempt('b', { ordinal: 2 })];
  t.match(await look(t, [{ inclusion: { a: shown } }], entry(...attempts)), [{ kind: 'included', hash: 'a' }]);
});

t.test('what another endpoint denies is not final', async (t) => {
  const claim = { inclusion: { a: shown } };
  t.match(await look(t, [claim, {}], entry(storedAttempt('a'))), [{ kind: 'included', final: false }]);
  t.match(await look(t, [claim, claim], entry(storedAttempt('a'))), [{ final: true }]);
});

t.test('what no other endpoint has a word on is final where the node has the transaction itself', async (t) => {
  const bytes = new TransactionBuilder(new Account(RELAYER.publicKey(), '7'), {
    fee: '100',
    networkPassphrase: PASSPHRASE,
  })
    .addOperation(Operation.bumpSequence({ bumpTo: '0' }))
    .setTimeout(0)
    .build();
  const hash = Buffer.from(bytes.hash()).toString('hex');
  const whole = { inclusion: { [hash]: { ...shown, envelopeXdr: bytes.toXdr() } } };
  const bare = { inclusion: { [hash]: shown } };
  // A node that is behind, one that has forgotten the ledger, and one that is down.
  for (const other of [{ latest: 54 }, { oldest: 56 }, { isDown: true }]) {
    t.match(await look(t, [whole, other], entry(storedAttempt(hash))), [{ final: true }], JSON.stringify(other));
    t.match(await look(t, [bare, other], entry(storedAttempt(hash))), [{ final: false }], JSON.stringify(other));
  }
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
  // A node looks for the transaction first, and names its latest ledger after it.
  const racing = await look(t, [{ used: 8n, latest: 60, accountLedger: 60 }], entry(storedAttempt('a')));
  t.strictSame(racing, [{ kind: 'open' }], 'the last ledger that it names was perhaps not searched');
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
  const denied = await look(t, [late, late, { inclusion: { a: shown } }], entry(storedAttempt('a')));
  t.strictSame(denied, [{ kind: 'open' }], 'one that has it outweighs all');
});

t.test('behind a gateway, a history that ends before the account’s ledger is not believed', async (t) => {
  const mixed = { used: 8n, accountLedger: 61, latest: 60 };
  await t.rejects(look(t, [mixed], entry(storedAttempt('a'))), { message: /ends at ledger 60, before 61/ });
});

t.test('without attempts nothing is asked', async (t) => {
  t.strictSame(await look(t, [{ isDown: true }], entry()), [{ kind: 'open' }]);
});

const inner = { hash: 'within', source: CLIENT.publicKey(), sequence: 40 };
const feeBump = (hash: string, over: Partial<Attempt> = {}) =>
  storedAttempt(hash, { anchor: { kind: 'text', text: `${inner.source}:40` }, fields: fieldsOf({ inner }), ...over });
const client = { account: CLIENT.publicKey(), used: 39n };

t.test('a client’s transaction counts wherever it is, and is paid for only in a fee bump of ours', async (t) => {
  const ours = await look(t, [{ ...client, inclusion: { a: shown } }], entry(feeBump('a')));
  t.match(ours, [{ kind: 'included', hash: 'a', fields: { receipt: { fee: 100, hash: undefined } } }]);
  const alone = await look(t, [{ ...client, inclusion: { within: shown } }], entry(feeBump('a')));
  t.match(alone, [{ kind: 'included', hash: 'a', final: true, fields: { receipt: { fee: 0, hash: 'within' } } }]);
  const attempts = [feeBump('a', { deadAt: 5 }), feeBump('b', { ordinal: 2 })];
  const both = await look(t, [{ ...client, inclusion: { a: shown, within: shown } }], entry(...attempts));
  t.match(both, [{ kind: 'included', hash: 'a', fields: { receipt: { fee: 100 } } }], 'the one that is there');
});

t.test('a fee bump of ours that lands between two questions is ours', async (t) => {
  const later = { ...shown, ledger: 61 };
  const ours = await look(t, [{ ...client, closing: { a: later, within: later } }], entry(feeBump('a')));
  t.match(ours, [{ kind: 'included', hash: 'a', fields: { receipt: { fee: 100, hash: undefined } } }]);
  const foreign = await look(t, [{ ...client, closing: { within: later } }], entry(feeBump('a')));
  t.match(foreign, [{ kind: 'included', fields: { receipt: { fee: 0, hash: 'within' } } }]);
});

t.test('it dies by its own time, or with the sequence of the client', async (t) => {
  t.strictSame(await look(t, [client], entry(feeBump('a'))), [{ kind: 'open' }]);
  t.match(await look(t, [{ ...client, closedAt: 1_001 }], entry(feeBump('a'))), [{ kind: 'open', dead: [1] }]);
  const endless = feeBump('a', { fields: fieldsOf({ inner, max_time: 0 }) });
  t.strictSame(await look(t, [{ ...client, closedAt: 5_000 }], entry(endless)), [{ kind: 'open' }], 'without an end');
  t.match(await look(t, [{ ...client, used: 40n }], entry(feeBump('a'))), [
    { kind: 'dead', anchor: 'used', reason: /^Sequence 40 of G\w+ was used/ },
  ]);
});

t.test('return value', async (t) => {
  const ext = xdr.ExtensionPoint.v0();
  const none = { txChangesBefore: [], operations: [], txChangesAfter: [] };

  function newer(returnValue: xdr.ScVal | null): string {
    const sorobanMeta = new xdr.SorobanTransactionMetaV2({ ext: xdr.SorobanTransactionMetaExt.v0(), returnValue });
    const meta = new xdr.TransactionMetaV4({ ext, ...none, sorobanMeta, events: [], diagnosticEvents: [] });
    return xdr.TransactionMeta.v4(meta).toXdr('base64');
  }

  function older(returnValue: xdr.ScVal): string {
    const sorobanMeta = new xdr.SorobanTransactionMeta({
      ext: xdr.SorobanTransactionMetaExt.v0(),
      events: [],
      diagnosticEvents: [],
      returnValue,
    });
    return xdr.TransactionMeta.v3(new xdr.TransactionMetaV3({ ext, ...none, sorobanMeta })).toXdr('base64');
  }

  t.test('what came back is told, of both forms', (t) => {
    const value = xdr.ScVal.scvU32(7);
    t.equal(returnValueIn(newer(value)), value.toXdr('base64'));
    t.equal(returnValueIn(older(value)), value.toXdr('base64'));
    t.equal(returnValueIn(newer(null)), undefined);
    t.end();
  });

  t.test('what is unknown or too long is left out', (t) => {
    t.equal(returnValueIn('AAAACQ=='), undefined, 'of a newer protocol');
    t.equal(returnValueIn('no'), undefined);
    const classic = new xdr.TransactionMetaV4({ ext, ...none, sorobanMeta: null, events: [], diagnosticEvents: [] });
    t.equal(returnValueIn(xdr.TransactionMeta.v4(classic).toXdr('base64')), undefined);
    t.equal(returnValueIn(xdr.TransactionMeta.v2(new xdr.TransactionMetaV2(none)).toXdr('base64')), undefined);
    t.equal(returnValueIn(newer(xdr.ScVal.scvBytes(Buffer.alloc(64 * 1024)))), undefined);
    t.end();
  });
});

t.test('evidence', async (t) => {
  const PAYER = Keypair.fromRawEd25519Seed(Buffer.alloc(32, 3));
  const Result = xdr.TransactionResultResult;
  const resultOf = (result: xdr.TransactionResultResult) =>
    new xdr.TransactionResult({ feeCharged: 100n, result, ext: xdr.TransactionResultExt.v0() }).toXdr('base64');

  const account = new Account(RELAYER.publicKey(), '7');
  const inner = new TransactionBuilder(account, { fee: '100', networkPassphrase: PASSPHRASE })
    .addOperation(Operation.bumpSequence({ bumpTo: '0' }))
    .setTimeout(0)
    .build();
  const bump = TransactionBuilder.buildFeeBumpTransaction(PAYER, '200', inner, PASSPHRASE);
  const hashOf = (of: { hash(): Uint8Array }) => Buffer.from(of.hash()).toString('hex');

  const inclusion = (over: Partial<LedgerInclusion> = {}): LedgerInclusion => ({
    ledger: 7n,
    succeeded: true,
    meta: undefined,
    events: [],
    result: resultOf(Result.txSuccess([])),
    envelope: inner.toXdr(),
    ...over,
  });

  t.test('the envelope has the hash, and the result is of that kind', (t) => {
    t.ok(isEvidenced(inclusion(), hashOf(inner), PASSPHRASE));
    t.ok(isEvidenced(inclusion({ envelope: bump.toXdr() }), hashOf(bump), PASSPHRASE));
    t.ok(isEvidenced(inclusion({ envelope: bump.toXdr() }), hashOf(inner), PASSPHRASE), 'known by what is within');
    t.notOk(isEvidenced(inclusion(), hashOf(bump), PASSPHRASE));
    t.notOk(isEvidenced(inclusion(), hashOf(inner), 'another network'));
    for (const over of [{ envelope: undefined }, { envelope: 'AAAA' }, { result: undefined }, { result: 'AAAA' }]) {
      t.notOk(isEvidenced(inclusion(over), hashOf(inner), PASSPHRASE), JSON.stringify(over));
    }
    t.notOk(isEvidenced(inclusion({ succeeded: false }), hashOf(inner), PASSPHRASE));
    t.end();
  });
});
