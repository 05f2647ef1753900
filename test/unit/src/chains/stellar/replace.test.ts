import t, { type Test } from 'tap';
import type { ObservedTransaction, ReplacementSpec } from '../../../../../src/chains/chain-client.ts';
import {
  canReplace,
  NOOP_REQUEST,
  prepareReplacement,
  replacementDelayMs,
} from '../../../../../src/chains/stellar/replace.ts';
import { rpcDialect } from '../../../../../src/chains/stellar/rpc-error-dialect.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import type { Attempt } from '../../../../../src/features/transactions/records/attempt.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { newAccount } from '../../../../doubles/stellar/ledger/account.ts';
import { keyToXdr } from '../../../../doubles/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../doubles/stellar/ledger/entry-xdr.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../../support/rpc-double.ts';
import {
  fieldsOf,
  RELAYER,
  relayerAccount,
  storedAttempt,
  storedStellar,
} from '../../../../support/stellar-relayer.ts';

interface Given {
  policies?: JsonObject;
  over?: Partial<Transaction>;
  attempts?: Attempt[];
}

const entryOf = ({ policies = {}, over = {}, attempts = [storedAttempt('a')] }: Given = {}): ObservedTransaction => ({
  transaction: storedStellar(over),
  attempts,
  account: relayerAccount(policies),
});

async function prepared(
  t: Test,
  wanted: ReplacementSpec,
  given: Given & { usual?: number; balance?: bigint | null } = {},
) {
  const { usual = 100, balance = 100_000_000n } = given;
  const entry = newAccount(RELAYER.publicKey(), balance ?? 0n, 1);
  const found = { key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
  const double = await startRpcDouble(
    answersByMethod({
      getLatestLedger: { sequence: 60, closeTime: '900' },
      getFeeStats: { inclusionFee: { p90: String(usual) } },
      getLedgerEntries: { latestLedger: 60, entries: balance === null ? [] : [found] },
    }),
  );
  const rpc = openRpc([double.url], undefined, rpcDialect);
  t.teardown(() => Promise.all([rpc.close(), double.stop()]));
  return prepareReplacement(rpc, entryOf(given), wanted, { committed: 105n });
}

t.test('what can be had in the place of another', (t) => {
  t.ok(canReplace(entryOf(), 'bump'));
  t.notOk(canReplace(entryOf({ policies: { max_fee: 100 } }), 'bump'), 'it bids all that it may');
  t.notOk(canReplace(entryOf({ attempts: [] }), 'bump'));
  t.notOk(canReplace(entryOf(), 'replace'));
  t.ok(canReplace(entryOf(), 'noop'));
  t.ok(canReplace(entryOf({ over: { noopEnd: 'canceled' } }), 'noop'));
  t.notOk(canReplace(entryOf({ over: { noopEnd: 'expired' } }), 'noop'), 'it is dead soon enough');
  for (const purpose of ['bump', 'noop'] as const) {
    t.notOk(canReplace(entryOf({ over: { anchorKind: 'text' } }), purpose), 'it is the client’s');
  }
  t.equal(replacementDelayMs(5_000), 30_000);
  t.end();
});

t.test('a bump doubles its bid, or follows what is usual, up to the cap', async (t) => {
  const bump = { purpose: 'bump' } as const;
  const { request } = storedStellar();
  t.strictSame(await prepared(t, bump), {
    kind: 'ready',
    fields: fieldsOf({ sequence: 8, fee: 200 }),
    cost: 205n,
    request,
  });
  t.match(await prepared(t, bump, { usual: 700 }), { fields: { fee: 700 } });
  t.match(await prepared(t, bump, { policies: { max_fee: 150 } }), { fields: { fee: 150 } });
  t.match(await prepared(t, bump, { policies: { max_fee: 100 } }), { kind: 'parked', cause: 'price' });
  t.match(await prepared(t, bump, { balance: 1n }), { kind: 'parked', cause: 'balance', reason: /Insufficient/ });
  t.match(await prepared(t, bump, { balance: null }), { kind: 'parked', cause: 'balance', reason: /does not exist/ });
  await t.rejects(prepared(t, bump, { attempts: [] }), TypeError);
});

t.test('nothing in its place', async (t) => {
  const noop = { purpose: 'noop' } as const;
  t.match(await prepared(t, noop, { over: { noopEnd: 'canceled', validUntil: 5_000 } }), {
    kind: 'ready',
    request: NOOP_REQUEST,
    cost: 100n,
    fields: { fee: 100, max_time: 1_020, ledger: 60 },
  });
  t.match(await prepared(t, noop, { balance: 1n }), { kind: 'parked', cause: 'balance' });
});
