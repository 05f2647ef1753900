import type { TransactionBuilder } from '@stellar/stellar-sdk';
import { xdr } from '@stellar/stellar-sdk/base';
import t, { type Test } from 'tap';
import {
  fundsShortage,
  parkedForFunds,
  preparedCostOf,
  prepareTransaction,
} from '../../../../../src/chains/stellar/prepare.ts';
import { rpcDialect } from '../../../../../src/chains/stellar/rpc-error-dialect.ts';
import type { JsonObject } from '../../../../../src/domain/json/json.ts';
import type { Transaction } from '../../../../../src/features/transactions/records/transaction.ts';
import { newAccount } from '../../../../doubles/stellar/ledger/account.ts';
import { keyToXdr } from '../../../../doubles/stellar/ledger/entry-key.ts';
import { toEntryData } from '../../../../doubles/stellar/ledger/entry-xdr.ts';
import { openRpc } from '../../../../support/evm.ts';
import { answersByMethod, startRpcDouble } from '../../../../support/rpc-double.ts';
import { CLIENT, type EnvelopeHow, envelopeText, payOp, transactionIn } from '../../../../support/stellar-envelopes.ts';
import {
  fieldsOf,
  lumens,
  PASSPHRASE,
  RELAYER,
  relayerAccount,
  storedStellar,
} from '../../../../support/stellar-relayer.ts';

const CALL = {
  type: 'invoke_contract',
  contract_address: 'CAS3J7GYLGXMF6TDJBBYYSE3HQ6BBSMLNUQ34T6TZMYMW2EVH34XOWMA',
  function_name: 'hello',
  args: [],
};

const DATA = new xdr.SorobanTransactionData({
  ext: xdr.SorobanTransactionDataExt.v0(),
  resources: new xdr.SorobanResources({
    footprint: new xdr.LedgerFootprint({ readOnly: [], readWrite: [] }),
    instructions: 5,
    diskReadBytes: 0,
    writeBytes: 0,
  }),
  resourceFee: 4_000n,
}).toXdr('base64');

const RAN: JsonObject = { transactionData: DATA, minResourceFee: '4000', results: [{ auth: [] }] };

/**
 * What a node reports. Defaults: 10 lumens, a p90 fee of 100 stroops, a ledger time of 880 s, and a resource fee of
 * 4,000 stroops.
 */
interface World {
  balance?: bigint | null;
  usual?: number;
  closedAt?: number;
  simulation?: JsonObject;
  /** The status of every transaction that is looked up; default: `NOT_FOUND`. */
  inclusion?: string;
}

function node({
  balance = 100_000_000n,
  usual = 100,
  closedAt = 880,
  simulation = RAN,
  inclusion = 'NOT_FOUND',
}: World) {
  const entry = newAccount(RELAYER.publicKey(), balance ?? 0n, 1);
  const found = { key: keyToXdr(entry).toXdr('base64'), xdr: toEntryData(entry).toXdr('base64') };
  return answersByMethod({
    getLatestLedger: { sequence: 50, closeTime: String(closedAt) },
    getFeeStats: { inclusionFee: { p90: String(usual) }, sorobanInclusionFee: { p90: String(usual + 1) } },
    simulateTransaction: simulation,
    getTransaction: {
      status: inclusion,
      ledger: 49,
      latestLedger: 50,
      oldestLedger: 1,
      latestLedgerCloseTime: String(closedAt),
    },
    getLedgerEntries: { latestLedger: 50, entries: balance === null ? [] : [found] },
  });
}

interface Asked {
  worlds?: World[];
  policies?: JsonObject;
  committed?: bigint;
  over?: Partial<Transaction>;
}

async function prepared(t: Test, asked: Asked = {}) {
  return (await opened(t, asked)).again();
}

async function opened(t: Test, { worlds = [{}], policies = {}, committed = 0n, over = {} }: Asked) {
  const doubles = await Promise.all(worlds.map((world) => startRpcDouble(node(world))));
  const rpc = openRpc(
    doubles.map(({ url }) => url),
    undefined,
    rpcDialect,
  );
  t.teardown(() => Promise.all([rpc.close(), ...doubles.map((double) => double.stop())]));
  const again = () => prepareTransaction(rpc, storedStellar(over), relayerAccount(policies), { committed });
  return { again, doubles };
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

t.test('a contract’s resources are paid beside its place, within the cap', async (t) => {
  const over = { request: { operations: [CALL] } };
  const contract = { data: DATA, consents: [] };
  t.match(await prepared(t, { over }), { kind: 'ready', fields: { fee: 4_101, contract }, cost: 4_101n });
  const policies = { max_fee: 4_100 };
  t.match(await prepared(t, { over, policies }), { fields: { fee: 4_100 } }, 'its place takes what is left');
  t.match(await prepared(t, { over, policies: { max_fee: 4_099 } }), {
    kind: 'refused',
    reason: 'Max fee exceeded: 4099, of which its resources take 4000',
  });
  const failed = { simulation: { error: 'HostError: Error(Storage, MissingValue)' } };
  t.match(await prepared(t, { over, worlds: [failed] }), {
    kind: 'refused',
    reason: /HostError: Error\(Storage, MissingValue\)$/,
  });
  t.match(await prepared(t, { over, worlds: [failed, {}] }), { kind: 'ready' }, 'one node alone refuses nothing');
});

t.test('what is too late or too dear for good is refused', async (t) => {
  t.match(await prepared(t, { over: { validUntil: 880_000 } }), { kind: 'refused', end: 'expired' });
  t.match(await prepared(t, { policies: { max_fee: 99 } }), { kind: 'refused', reason: 'Max fee exceeded: 99' });
});

t.test('what no ledger takes yet is refused, as it would hold up what comes after it', async (t) => {
  const withThe = (how: EnvelopeHow) => {
    const text = envelopeText(RELAYER, [payOp('1')], { ...how, signers: [] });
    return { over: { request: { transaction: text } } };
  };
  const from = (minTime: number) => withThe({ minTime });
  const after = (ledger: number) => withThe({ with: (one) => one.setLedgerbounds(ledger, 0) });
  t.match(await prepared(t, from(896)), { kind: 'refused', reason: /begin at 896, and it is 880 on the chain/ });
  t.match(await prepared(t, from(895)), { kind: 'ready' }, 'the client’s clock may be ahead');
  t.match(await prepared(t, after(52)), { kind: 'refused', reason: 'It is good from ledger 52, and the last is 50' });
  t.match(await prepared(t, after(51)), { kind: 'ready' });
});

t.test('reserves, promises and what is under way are not there to spend', async (t) => {
  const pays = (amount: number) => ({ over: { request: { operations: [lumens(amount)] } } });
  // The account has ten lumens. One of them is its own reserve.
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

t.test('what the policies forbid by themselves ends at once, whoever hangs', async (t) => {
  const bump = { inner: envelopeText(CLIENT, [payOp('1')]), max_fee: 500 };
  for (const request of [{ operations: [lumens('1'), lumens('2')] }, bump]) {
    const { again, doubles } = await opened(t, { over: { request }, policies: { max_fee: 199 }, worlds: [{}, {}] });
    doubles[1]?.answer(() => 'silence');
    t.match(await again(), { kind: 'refused', reason: 'Max fee exceeded: 199' });
  }
});

t.test('what one node refuses while the other hangs waits, and is sent when that one can', async (t) => {
  const cases: Asked[] = [
    {
      over: { request: { operations: [CALL] } },
      worlds: [{ simulation: { error: 'HostError: Error(Storage, MissingValue)' } }, {}],
    },
    { over: { validUntil: 8_000_000 }, worlds: [{ closedAt: 9_000_000 }, {}] },
  ];
  for (const asked of cases) {
    const { again, doubles } = await opened(t, asked);
    const other = doubles[1];
    other?.answer(() => 'silence');
    t.match(await again(), { kind: 'parked', reason: /by one endpoint/ });
    other?.answer(node({}));
    t.match(await again(), { kind: 'ready', fields: { max_time: 1_000 } });
    other?.answer(node(asked.worlds?.[0] ?? {}));
    t.match(await again(), { kind: 'refused' }, 'both');
  }
});

t.test('the time of another ledger comes late: nothing expires by one node’s ledger', async (t) => {
  const { again, doubles } = await opened(t, {
    over: { validUntil: 8_000_000 },
    worlds: [{ closedAt: 9_000_000 }, {}],
  });
  const honest = node({});
  let isFirst = true;
  doubles[1]?.answer((call) => {
    if (call.method !== 'getLatestLedger' || !isFirst) return honest(call);
    isFirst = false;
    return 'hang-up';
  });
  t.match(await again(), { kind: 'ready', fields: { max_time: 1_000 } });
});

t.test('an envelope of its own is no shorter paid and no longer good than it says', async (t) => {
  const own = (how = {}) => ({ over: { request: { transaction: envelopeText(RELAYER, [payOp('0.0000005')], how) } } });
  t.match(await prepared(t, own()), { fields: { fee: 100, max_time: 1_000 }, cost: 105n });
  t.match(await prepared(t, own({ fee: '700', maxTime: 990 })), { fields: { fee: 700, max_time: 990 } });
  t.match(await prepared(t, { ...own({ fee: '700' }), policies: { max_fee: 600 } }), { fields: { fee: 600 } });
  t.match(await prepared(t, own({ maxTime: 880 })), { kind: 'refused', end: 'expired' });
  const upTo = (ledger: number) => own({ with: (one: TransactionBuilder) => one.setLedgerbounds(0, ledger) });
  t.match(await prepared(t, upTo(51)), { kind: 'refused', end: 'expired' }, 'the next ledger is 51');
  t.match(await prepared(t, upTo(52)), { kind: 'ready' });
});

t.test('a fee bump costs what it bids, and has the sequence of its client', async (t) => {
  const inner = envelopeText(CLIENT, [payOp('1')], { maxTime: 900 });
  const bump = { over: { request: { inner, max_fee: 5_000 } } };
  const hash = Buffer.from(transactionIn(inner).hash()).toString('hex');
  const source = CLIENT.publicKey();
  t.strictSame(await prepared(t, bump), {
    kind: 'ready',
    fields: fieldsOf({ fee: 5_000, max_time: 900, inner: { hash, source, sequence: 8 } }),
    cost: 5_000n,
    anchor: { kind: 'text', text: `${source}:8` },
  });
  t.match(await prepared(t, { ...bump, policies: { max_fee: 4_999 } }), {
    kind: 'refused',
    reason: /Max fee exceeded/,
  });
  t.match(await prepared(t, { ...bump, worlds: [{ closedAt: 900 }] }), { kind: 'ready' }, 'the last second is good');
  t.match(await prepared(t, { ...bump, worlds: [{ closedAt: 901 }] }), { kind: 'refused', end: 'expired' });
  const late = { closedAt: 901, inclusion: 'SUCCESS' };
  t.match(await prepared(t, { ...bump, worlds: [late] }), { kind: 'ready' }, 'it is in a ledger already');
  t.match(await prepared(t, { ...bump, worlds: [{ balance: 1n }] }), { kind: 'parked', cause: 'balance' });
  const endless = { over: { request: { inner: envelopeText(CLIENT, [payOp('1')], { maxTime: 0 }), max_fee: 200 } } };
  t.match(await prepared(t, endless), { fields: { max_time: 0 } });
  t.equal(preparedCostOf({ request: { inner, max_fee: 5_000 }, fields: fieldsOf({ fee: 5_000 }) }), 5_000n);
});

t.test('what it can cost is told again from the store', (t) => {
  const request = { operations: [lumens(5), lumens(7)] };
  t.equal(preparedCostOf({ request, fields: fieldsOf({ fee: 200 }) }), 212n);
  t.equal(preparedCostOf({ request, fields: {} }), 0n, 'nothing is bid yet');
  t.end();
});

t.test('what the ledger, the policy and the lane keep is not there to spend', (t) => {
  const account = { balance: 100n, promised: 10n, sequence: 1n, reserves: 3n };
  const bill = { account, committed: 5n, cost: 45n, minBalance: 20n, baseReserve: 10n };
  t.equal(fundsShortage(bill), undefined);
  t.equal(
    fundsShortage({ ...bill, cost: 56n }),
    'Insufficient balance: Required: 56, Available: 100, Stays: 40, Under way: 5',
  );
  t.match(fundsShortage({ ...bill, minBalance: 60n }), /Stays: 60/);
  t.match(fundsShortage({ ...bill, baseReserve: 20n, committed: 0n }), /Stays: 70$/, 'the network’s reserve may rise');
  t.match(parkedForFunds('why'), { kind: 'parked', cause: 'balance', reason: 'why' });
  t.end();
});
