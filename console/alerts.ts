import { type Figures, sumsBy } from './figures.ts';

/** An alert that can be judged by the service's metrics. The rules in `deploy/prometheus` say the same. */
export interface AlertRule {
  /** The name of the rule in `deploy/prometheus`, and of its section in the guide. */
  alert: string;
  severity: 'critical' | 'warning';
  /** How many minutes the condition has to last. */
  lasting: number;
  metric: string;
  where?: Readonly<Record<string, readonly string[]>>;
  /** The label that names the affected relayer, plugin or network. */
  by?: 'relayer_id' | 'plugin_id' | 'network';
  /** Compares the counter's rise within so many minutes. Absent: compares the value itself. */
  within?: number;
  fires: 'above' | 'below';
  limit: number;
  text(who: string, value: number): string;
  /** The page of the console that shows more. */
  page?: string;
}

const RELAYER = { by: 'relayer_id', page: 'relayers' } as const;
const PLUGIN = { by: 'plugin_id', page: 'plugins' } as const;
const AGE = 'isolayer_transactions_oldest_open_age_seconds';
const PARKED = 'isolayer_transactions_parked';
const ENDS = 'isolayer_plugin_process_ends_total';

export const ALERT_RULES: readonly AlertRule[] = [
  {
    alert: 'IsolayerRelayerUnhealthy',
    severity: 'critical',
    lasting: 5,
    ...RELAYER,
    metric: 'isolayer_relayer_healthy',
    fires: 'below',
    limit: 1,
    text: (who) => `Relayer ${who} takes no transactions.`,
  },
  {
    alert: 'IsolayerRelayerUnfunded',
    severity: 'critical',
    lasting: 5,
    ...RELAYER,
    metric: PARKED,
    where: { reason: ['balance'] },
    fires: 'above',
    limit: 0,
    text: (who, value) => `Relayer ${who} cannot pay: ${value} of its transactions wait for money on its account.`,
  },
  {
    alert: 'IsolayerTransactionOld',
    severity: 'warning',
    lasting: 10,
    ...RELAYER,
    page: 'transactions',
    metric: AGE,
    fires: 'above',
    limit: 3_600,
    text: (who, value) =>
      `The oldest open transaction of relayer ${who} was accepted ${Math.round(value / 60)} min ago.`,
  },
  {
    alert: 'IsolayerTransactionStuck',
    severity: 'critical',
    lasting: 10,
    ...RELAYER,
    page: 'transactions',
    metric: AGE,
    fires: 'above',
    limit: 14_400,
    text: (who) => `A transaction of relayer ${who} is stuck: it has not ended for more than four hours.`,
  },
  {
    alert: 'IsolayerNonceUnproved',
    severity: 'warning',
    lasting: 15,
    ...RELAYER,
    metric: PARKED,
    where: { reason: ['sequence'] },
    fires: 'above',
    limit: 0,
    text: (who) => `Nonces of relayer ${who} are used, and no endpoint can show by which transactions.`,
  },
  {
    alert: 'IsolayerLaneFaults',
    severity: 'critical',
    lasting: 5,
    metric: 'isolayer_lane_faults_total',
    within: 15,
    fires: 'above',
    limit: 3,
    text: (_, value) => `${value} unexpected errors while processing accounts: see the log.`,
  },
  {
    alert: 'IsolayerTransactionsFailing',
    severity: 'warning',
    lasting: 5,
    ...RELAYER,
    page: 'transactions',
    metric: 'isolayer_transactions_failed_total',
    where: { failure_reason: ['failed', 'expired'] },
    within: 30,
    fires: 'above',
    limit: 5,
    text: (who, value) => `${value} transactions of relayer ${who} failed or expired.`,
  },
  {
    alert: 'IsolayerFillingGaps',
    severity: 'warning',
    lasting: 1,
    ...RELAYER,
    metric: 'isolayer_transaction_decisions_total',
    where: { kind: ['gap-filled'] },
    within: 30,
    fires: 'above',
    limit: 5,
    text: (who, value) => `Relayer ${who} filled ${value} gaps in its nonces: somebody else may use its key.`,
  },
  {
    alert: 'IsolayerIntentsWaiting',
    severity: 'warning',
    lasting: 15,
    metric: 'isolayer_intents_waiting',
    fires: 'above',
    limit: 0,
    text: (_, value) => `${value} cancellations or replacements are waiting.`,
  },
  {
    alert: 'IsolayerNetworkUnreachable',
    severity: 'critical',
    lasting: 5,
    by: 'network',
    page: 'networks',
    metric: 'isolayer_rpc_endpoints',
    where: { state: ['ready'] },
    fires: 'below',
    limit: 0.5,
    text: (who) => `No endpoint of network ${who} answers.`,
  },
  {
    alert: 'IsolayerWebhooksDead',
    severity: 'warning',
    lasting: 1,
    page: 'webhooks',
    metric: 'isolayer_webhook_events_ended_total',
    where: { end: ['dead'] },
    within: 60,
    fires: 'above',
    limit: 0,
    text: (_, value) => `${value} webhook events were given up.`,
  },
  {
    alert: 'IsolayerSandboxDeaths',
    severity: 'warning',
    lasting: 1,
    ...PLUGIN,
    metric: ENDS,
    where: { cause: ['memory', 'overdue', 'died', 'protocol'] },
    within: 15,
    fires: 'above',
    limit: 3,
    text: (who, value) => `${value} processes of plugin ${who} ended unexpectedly.`,
  },
  {
    alert: 'IsolayerSandboxBroken',
    severity: 'critical',
    lasting: 1,
    metric: ENDS,
    where: { cause: ['start'] },
    within: 15,
    fires: 'above',
    limit: 3,
    text: () => 'Plugin processes cannot be started.',
  },
  {
    alert: 'IsolayerPluginRefused',
    severity: 'warning',
    lasting: 5,
    ...PLUGIN,
    metric: 'isolayer_plugin_refused',
    fires: 'above',
    limit: 0.2,
    text: (who) => `Calls of plugin ${who} are refused while it is in back-off.`,
  },
  {
    alert: 'IsolayerPluginQueue',
    severity: 'warning',
    lasting: 5,
    metric: 'isolayer_plugin_calls_queued',
    fires: 'above',
    limit: 0,
    text: (_, value) => `${value} plugin calls are queued.`,
  },
];

/** An alert whose condition holds now. */
export interface Alert extends Pick<AlertRule, 'alert' | 'severity' | 'lasting' | 'page'> {
  text: string;
  /** The affected relayer, plugin or network; empty for the service. */
  who: string;
}

/** The metrics at a time, which is in milliseconds. */
export interface Scrape {
  at: number;
  figures: Figures;
}

/** All metrics that the rules need. */
export const ALERT_METRICS = [...new Set(ALERT_RULES.map(({ metric }) => metric))];

/** The metrics whose earlier values the rules need. */
export const RISING = new Set(ALERT_RULES.flatMap(({ within, metric }) => (within === undefined ? [] : [metric])));

/** The alerts at the latest of several scrapes, critical ones first. */
export function alertsOf(scrapes: readonly Scrape[]): Alert[] {
  const latest = scrapes.at(-1);
  if (latest === undefined) return [];
  const alerts = ALERT_RULES.flatMap((rule) => {
    const { alert, severity, lasting, page, by, fires, limit, text } = rule;
    return [...valuesOf(rule, scrapes, latest)].flatMap(([who, value]) => {
      const isMet = fires === 'above' ? value > limit : value < limit;
      if (!isMet || (by !== undefined && who === '')) return [];
      return [{ alert, severity, lasting, who, text: text(who, value), ...(page !== undefined && { page }) }];
    });
  });
  return alerts.sort((a, b) => Number(b.severity === 'critical') - Number(a.severity === 'critical'));
}

function valuesOf({ metric, by, where, within }: AlertRule, scrapes: readonly Scrape[], latest: Scrape) {
  const now = sumsBy(latest.figures.get(metric), by, where);
  if (within === undefined) return now;
  const first = scrapes.find(({ at }) => at >= latest.at - within * 60_000) ?? latest;
  const before = sumsBy(first.figures.get(metric), by, where);
  // A counter that fell has started again with the service. Its rise counts as 0.
  return new Map([...now].map(([who, value]) => [who, value - Math.min(before.get(who) ?? value, value)]));
}
