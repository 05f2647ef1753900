import { keys } from '../ledger/entry-key.ts';
import { accountIn } from '../ledger/state.ts';
import { PROTOCOL } from '../node/closed-ledger.ts';
import { accountResource } from './account-resource.ts';
import { timeOf } from './amount.ts';
import { feeStats } from './fee-stats.ts';
import { ledgerResource } from './ledger-resource.ts';
import { pageOf } from './page.ts';
import { accountPart } from './params.ts';
import { invalidField, PROBLEMS, Problem } from './problem.ts';
import type { Asked, Route } from './route.ts';

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
