import t, { type Test } from 'tap';
import { dialect } from '../../../../../src/chains/stellar/dialect.ts';
import { costOf, prepare } from '../../../../../src/chains/stellar/prepare.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import type { Transaction } from '../../../../../src/domain/transaction/transaction.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../../support/rpc-double.ts';
import { newAccount } from '../../../../support/stellar/ledger/account.ts';
import { keyToXdr } from '../../../../support/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../support/stellar/ledger/entry-xdr.ts';
import {
  fieldsOf,
  lumens,
  PASSPHRASE,
  RELAYER,
  relayerAccount,
  storedStellar,
} from '../../../../support/stellar-relayer.ts';

/** What a node tells; absent: 10 lumens, a p90 of 100 stroops, 880 s. */
interface World {
  balance?: bigint | null;
  usual?: number;
  closedAt?: number;
}

function node({ balance = 100_000_000n, usual = 100, closedAt = 880 }: World) {
  const entry = newAccount(RELAYER.publicKey(), balance ?? 0n, 1);
  const found = { key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
  return answersByMethod({
    getLatestLedger: { sequence: 50, closeTime: String(closedAt) },
    getFeeStats: { inclusionFee: { p90: String(usual) } },
    getLedgerEntries: { latestLedger: 50, entries: balance === null ? [] : [found] },
  });
}

interface Asked {
  worlds?: World[];
  policies?: JsonObject;
  committed?: bigint;
  over?: Partial<Transaction>;
}

async function prepared(t: Test, { worlds = [{}], policies = {}, committed = 0n, over = {} }: Asked = {}) {
  const doubles = await Promise.all(worlds.map((world) => startRpcDouble(node(world))));
  const rpc = openRpc(
    doubles.map(({ url }) => url),
    undefined,
    dialect,
  );
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  return prepare(rpc, storedStellar(over), relayerAccount(policies), { committed });
}

t.test('fee and time come from the network and the policy', async (t) => {
  t.strictSame(await prepared(t), { kind: 'ready', fields: fieldsOf(), cost: 105n });
  t.match(await prepared(t, { policies: { timeout_seconds: 30 } }), { fields: { max_time: 910 } });
  t.match(await prepared(t, { over: { validUntil: 900_999 } }), { fields: { max_time: 900 } });
  t.match(await prepared(t, { worlds: [{ usual: 700 }] }), { fields: { fee: 700 }, cost: 705n });
  t.match(await prepared(t, { worlds: [{ usual: 700 }], policies: { max_fee: 250 } }), { fields: { fee: 250 } });
  t.match(await prepared(t, { worlds: [{ usual: 2 ** 40 }] }), { fields: { fee: 1_000_000 } }, 'capped all the same');
  t.match(await prepared(t), { fields: { passphrase: PASSPHRASE } }, 'that of its lane');
});

t.test('what is too late or too dear for good is refused', async (t) => {
  t.match(await prepared(t, { over: { validUntil: 880_000 } }), { kind: 'refused', end: 'expired' });
  t.match(await prepared(t, { policies: { max_fee: 99 } }), { kind: 'refused', reason: 'Max fee exceeded: 99' });
});

t.test('reserves, promises and what is under way are not there to spend', async (t) => {
  const pays = (amount: number) => ({ over: { request: { operations: [lumens(amount)] } } });
  // Ten lumens, of which one is the account's own reserve.
  t.match(await prepared(t, pays(90_000_000 - 100)), { kind: 'ready' });
  t.match(await prepared(t, pays(90_000_000 - 99)), {
    kind: 'parked',
    cause: 'balance',
    reason: 'Insufficient balance: Required: 90000001, Available: 100000000, Stays: 10000000',
  });
  t.match(await prepared(t, { ...pays(90_000_000 - 100), committed: 1n }), { reason: /Under way: 1/ });
  t.match(await prepared(t, { ...pays(5), policies: { min_balance: 100_000_000 } }), { reason: /Stays: 100000000/ });
  t.match(await prepared(t, { worlds: [{ balance: null }] }), { kind: 'parked', reason: /does not exist/ });
  const credits = {
    ...lumens('9223372036854775807'),
    asset: { type: 'credit4', code: 'USD', issuer: RELAYER.publicKey() },
  };
  const paid = await prepared(t, { over: { request: { operations: [credits] } } });
  t.match(paid, { kind: 'ready', cost: 100n }, 'only lumens are counted');
});

t.test('one node alone makes no account poor, and says not how late it is', async (t) => {
  t.match(await prepared(t, { worlds: [{ balance: 1n }, {}] }), { kind: 'ready' });
  t.match(await prepared(t, { worlds: [{ balance: 1n }, { balance: 1n }] }), { kind: 'parked' });
  const far = { closedAt: 9_000_000 };
  t.match(await prepared(t, { worlds: [far, {}, {}] }), { fields: { max_time: 1_000 } });
  t.match(await prepared(t, { worlds: [far, {}] }), { fields: { max_time: 1_000 } }, 'of two the earlier');
});

t.test('what it can cost is told again from the store', (t) => {
  const request = { operations: [lumens(5), lumens(7)] };
  t.equal(costOf({ request, fields: fieldsOf({ fee: 200 }) }), 212n);
  t.equal(costOf({ request, fields: {} }), 0n, 'nothing is bid yet');
  t.end();
});
