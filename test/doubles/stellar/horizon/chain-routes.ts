import { keys } from '../ledger/entry-key.ts';
import { accountIn } from '../ledger/state.ts';
import { type ClosedLedger, type Landed, PROTOCOL } from '../node/closed-ledger.ts';
import { modeOf, percentile } from '../rpc/fee-window.ts';
import type { View } from '../rpc/view.ts';
import { accountResource } from './account-resource.ts';
import { amountOf, timeOf } from './amount.ts';
import { pageOf, placeOf } from './page.ts';
import { accountPart } from './params.ts';
import { invalidField, PROBLEMS, Problem } from './problem.ts';
import type { Asked, Route } from './route.ts';

/** The number of recent ledgers that count. */
const WINDOW = 5;

const SHARES = [10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99];

/** The recent prices and bids of operations. Contracts' operations count in full, with their resource fees. */
function feeStats(view: View) {
  const { latest } = view;
  const ledgers = Array.from({ length: WINDOW }, (_, back) => view.ledgerAt(latest.sequence - back) ?? []).flat();
  const landed = ledgers.flatMap((ledger) => ledger.landed);
  const operations = landed.reduce((count, { frame }) => count + frame.inner.size, 0);
  const capacity = ledgers.reduce((sum, { maxOperations }) => sum + maxOperations, 0);
  const each = (fee: (one: Landed) => bigint) =>
    distribution(
      landed.map((one) => upBy(fee(one), BigInt(one.frame.size))),
      latest.baseFee,
    );
  return {
    last_ledger: String(latest.sequence),
    last_ledger_base_fee: String(latest.baseFee),
    ledger_capacity_usage: String(Math.round((operations / capacity) * 100) / 100),
    fee_charged: each(({ feeCharged }) => feeCharged),
    max_fee: each(({ frame }) => frame.fullFee),
  };
}

/** Without any transactions, all values are the base fee. */
function distribution(some: readonly bigint[], baseFee: bigint) {
  const fees = (some.length === 0 ? [baseFee] : [...some]).sort((one, other) => (one < other ? -1 : 1));
  return {
    max: String(fees.at(-1)),
    min: String(fees[0]),
    mode: String(modeOf(fees)),
    ...Object.fromEntries(SHARES.map((share) => [`p${share}`, String(percentile(fees, share))])),
  };
}

const upBy = (fee: bigint, count: bigint): bigint => (fee + count - 1n) / count;

/** Routes about the server, its ledgers, and the accounts in them. */
export const chainRoutes: readonly Route[] = [
  { method: 'GET', path: '/', name: 'root', answer: root },
  { method: 'GET', path: '/fee_stats', name: 'feeStats', answer: ({ view }) => feeStats(view) },
  { method: 'GET', path: '/ledgers', name: 'ledgers', answer: ledgers },
  { method: 'GET', path: '/ledgers/:sequence', name: 'ledger', answer: ledger },
  { method: 'GET', path: '/accounts/:account_id', name: 'account', answer: account },
  { method: 'GET', path: '/accounts/:account_id/data/:key', name: 'data', answer: data },
];

function root({ base, view }: Asked) {
  const link = (path: string) => ({ href: `${base}${path}`, ...(path.includes('{') ? { templated: true } : {}) });
  return {
    _links: {
      self: link('/'),
      account: link('/accounts/{account_id}'),
      fee_stats: link('/fee_stats'),
      ledger: link('/ledgers/{sequence}'),
      ledgers: link('/ledgers{?cursor,limit,order}'),
      transaction: link('/transactions/{hash}'),
      transactions: link('/transactions{?cursor,limit,order}'),
    },
    horizon_version: '28.0.0-41b2f0ff41b2f0ff41b2f0ff41b2f0ff41b2f0ff',
    core_version: 'stellar-core 28.0.0 (a9b861321a9b861321a9b861321a9b861321a9b8)',
    ingest_latest_ledger: view.latest.sequence,
    history_latest_ledger: view.latest.sequence,
    history_latest_ledger_closed_at: timeOf(view.latest.closeTime),
    history_elder_ledger: view.oldest.sequence,
    core_latest_ledger: view.latest.sequence,
    network_passphrase: view.passphrase,
    current_protocol_version: PROTOCOL,
    supported_protocol_version: PROTOCOL,
    core_supported_protocol_version: PROTOCOL,
  };
}

function ledgers(asked: Asked) {
  const { view, base } = asked;
  const first = view.oldest.sequence;
  return pageOf(asked, () =>
    Array.from({ length: view.latest.sequence - first + 1 }, (_, index) => view.ledgerAt(first + index)).flatMap(
      (found) => (found === undefined ? [] : [ledgerResource(base, found)]),
    ),
  );
}

function ledger({ view, base, parts }: Asked) {
  const text = parts['sequence'] ?? '';
  if (!/^\d+$/.test(text)) throw invalidField('ledger_id', 'Ledger ID must be an integer higher than 0');
  if (Number(text) < view.oldest.sequence) throw new Problem(PROBLEMS.beforeHistory);
  const found = view.ledgerAt(Number(text));
  if (found === undefined) throw new Problem(PROBLEMS.notFound);
  return ledgerResource(base, found);
}

function account(asked: Asked) {
  const { view, base } = asked;
  const entry = accountIn(view.node.state, accountPart(asked, 'account_id'));
  if (entry === undefined) throw new Problem(PROBLEMS.notFound);
  return accountResource(base, view, entry);
}

function data(asked: Asked) {
  const key = keys.data(accountPart(asked, 'account_id'), asked.parts['key'] ?? '');
  const entry = asked.view.node.state.get(key)?.entry;
  if (entry?.kind !== 'data') throw new Problem(PROBLEMS.notFound);
  return { value: entry.value };
}

function ledgerResource(base: string, ledger: ClosedLedger) {
  const { sequence, hash, header, landed } = ledger;
  const successful = landed.filter(({ isSuccessful }) => isSuccessful);
  const operations = (of: typeof landed) => of.reduce((count, { frame }) => count + frame.inner.size, 0);
  return {
    _links: links(base, sequence),
    id: hash,
    paging_token: String(placeOf(sequence)),
    hash,
    prev_hash: Buffer.from(header.previousLedgerHash.toBytes()).toString('hex'),
    sequence,
    successful_transaction_count: successful.length,
    failed_transaction_count: landed.length - successful.length,
    operation_count: operations(successful),
    tx_set_operation_count: operations(landed),
    closed_at: timeOf(ledger.closeTime),
    total_coins: amountOf(header.totalCoins),
    fee_pool: amountOf(header.feePool),
    base_fee_in_stroops: Number(ledger.baseFee),
    base_reserve_in_stroops: Number(ledger.baseReserve),
    max_tx_set_size: ledger.maxOperations,
    protocol_version: PROTOCOL,
    header_xdr: header.toXdr('base64'),
  };
}

function links(base: string, sequence: number) {
  const self = `${base}/ledgers/${sequence}`;
  const paged = (of: string) => ({ href: `${self}/${of}{?cursor,limit,order}`, templated: true });
  return {
    self: { href: self },
    ...Object.fromEntries(['transactions', 'operations', 'payments', 'effects'].map((of) => [of, paged(of)])),
  };
}
