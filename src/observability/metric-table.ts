/**
 * All metrics of the service itself, in the order in which they are shown. {@link EXPOSED_METRICS} has their full names,
 * which follow https://prometheus.io/docs/practices/naming/: the application first, the unit last, base units, `_total`
 * for counters. Labels are bounded: route patterns, ids of declared resources, codes; never a path, a text or a caller's
 * choice. Metrics of the Node process are added, with the names of prom-client.
 */
export const METRICS = {
  http_requests: {
    kind: 'counter',
    help: 'Requests answered.',
    labels: ['endpoint', 'method', 'status'],
  },
  http_requests_in_flight: {
    kind: 'gauge',
    help: 'Requests under way.',
    labels: ['endpoint'],
  },
  plugin_calls: {
    kind: 'counter',
    help: 'Plugin calls answered, by HTTP status.',
    labels: ['plugin_id', 'method', 'status'],
  },
  http_request_duration: {
    kind: 'histogram',
    unit: 'seconds',
    help: 'From the head of a request to the end of its answer, in seconds.',
    labels: ['endpoint', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100],
  },
  http_request_timeouts: {
    kind: 'counter',
    help: 'Requests whose handler was too slow.',
    labels: ['endpoint', 'method', 'timeout_type'],
  },
  idempotency_requests: {
    kind: 'counter',
    help: 'Requests with an Idempotency-Key by result: first, again, replayed, mismatch, in-progress.',
    labels: ['result'],
  },
  plugin_call_outcomes: {
    kind: 'counter',
    help: 'Plugin calls by the way they ended.',
    labels: ['plugin_id', 'outcome'],
  },
  plugin_calls_ended: {
    kind: 'counter',
    help: 'Durable calls by their end.',
    labels: ['plugin_id', 'state'],
  },
  plugin_calls_suspended: {
    kind: 'counter',
    help: 'Runs of durable calls that ended because the call waits.',
    labels: ['plugin_id'],
  },
  plugin_call_duration: {
    kind: 'histogram',
    unit: 'seconds',
    help: 'From the arrival of a plugin call to its end, in seconds.',
    labels: ['plugin_id'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  trigger_firings: {
    kind: 'counter',
    help: 'Calls that triggers of plugins made.',
    labels: ['plugin_id', 'trigger'],
  },
  trigger_firings_skipped: {
    kind: 'counter',
    help: 'Firings of triggers that made no call: the one before ran, the rate was used up, or they were missed.',
    labels: ['plugin_id', 'trigger'],
  },
  trigger_paused: {
    kind: 'gauge',
    help: '1 for a trigger that is paused, by a person or because its calls threw.',
    labels: ['plugin_id', 'trigger', 'by'],
  },
  trigger_webhooks: {
    kind: 'counter',
    help: 'Webhooks for triggers by result: called, repeated, refused, paused, limited.',
    labels: ['result'],
  },
  plugin_capability_calls: {
    kind: 'counter',
    help: 'What plugins asked of the service.',
    labels: ['plugin_id', 'method', 'answer'],
  },
  plugin_process_ends: {
    kind: 'counter',
    help: 'Plugin processes that were killed or died, by cause; plugin_id is empty for a spare.',
    labels: ['plugin_id', 'cause'],
    starts: [{ plugin_id: '', cause: 'start' }],
  },
  plugin_processes: {
    kind: 'gauge',
    help: 'Plugin processes alive, the spare among them.',
    labels: [],
  },
  plugin_calls_running: {
    kind: 'gauge',
    help: 'Plugin calls running.',
    labels: [],
  },
  plugin_calls_queued: {
    kind: 'gauge',
    help: 'Plugin calls in the queue.',
    labels: [],
  },
  plugin_isolates: {
    kind: 'gauge',
    help: 'Isolates alive, by plugin.',
    labels: ['plugin_id'],
  },
  plugin_resident_memory: {
    kind: 'gauge',
    unit: 'bytes',
    help: 'Resident memory of the processes of a plugin as last metered; plugin_id is empty for the spare.',
    labels: ['plugin_id'],
  },
  plugin_cpu: {
    kind: 'counter',
    unit: 'seconds',
    help: 'Time that the code of plugins ran, by how the call ended, in seconds.',
    labels: ['plugin_id', 'outcome'],
  },
  plugin_received: {
    kind: 'counter',
    unit: 'bytes',
    help: 'What plugins were given: requests and answers to capability calls, by how the call ended.',
    labels: ['plugin_id', 'outcome'],
  },
  plugin_sent: {
    kind: 'counter',
    unit: 'bytes',
    help: 'What plugins gave: results and capability calls, by how the call ended.',
    labels: ['plugin_id', 'outcome'],
  },
  plugin_heap_peak: {
    kind: 'gauge',
    unit: 'bytes',
    help: 'Largest heap of an isolate at the end of a call, within the last hour.',
    labels: ['plugin_id'],
  },
  plugin_refused: {
    kind: 'gauge',
    help: '1 while the calls of a plugin are in back-off, all of them or those of an API key, else 0.',
    labels: ['plugin_id'],
  },
  transactions_created: {
    kind: 'counter',
    help: 'Transactions accepted.',
    labels: ['relayer_id', 'network_type'],
  },
  transactions_submitted: {
    kind: 'counter',
    help: 'Transactions that a node took.',
    labels: ['relayer_id', 'network_type'],
  },
  transactions_confirmed: {
    kind: 'counter',
    help: 'Transactions confirmed at the depth of their network.',
    labels: ['relayer_id', 'network_type'],
  },
  transactions_failed: {
    kind: 'counter',
    help: 'Transactions that ended as failed, expired or canceled.',
    labels: ['relayer_id', 'network_type', 'failure_reason', 'previous_status'],
  },
  transactions_open: {
    kind: 'gauge',
    help: 'Transactions that have not ended, by status, as the store has them.',
    labels: ['relayer_id', 'network_type', 'status'],
  },
  transaction_transitions: {
    kind: 'counter',
    help: 'Committed changes of status.',
    labels: ['relayer_id', 'network_type', 'from', 'to'],
  },
  transaction_decisions: {
    kind: 'counter',
    help: 'Decisions about transactions besides their status: bumped, noop-signed, gap-filled, parked and the like.',
    labels: ['relayer_id', 'network_type', 'kind'],
  },
  lane_faults: {
    kind: 'counter',
    help: 'Steps of a lane that ended with an unexpected error.',
    labels: ['network_type'],
  },
  transaction_versions: {
    kind: 'counter',
    help: 'Signed versions by purpose: send, bump, replace, noop.',
    labels: ['relayer_id', 'network_type', 'purpose'],
  },
  transaction_broadcasts: {
    kind: 'counter',
    help: 'Broadcasts of signed versions to nodes, by the result.',
    labels: ['relayer_id', 'network_type', 'outcome'],
  },
  transactions_parked: {
    kind: 'gauge',
    help: 'Transactions of this instance that wait for another price, money, a budget, their turn or a network, by reason.',
    labels: ['relayer_id', 'network_type', 'reason'],
  },
  transactions_oldest_open_age: {
    kind: 'gauge',
    unit: 'seconds',
    help: 'Time since the acceptance of the oldest transaction of a relayer that has not ended, in seconds.',
    labels: ['relayer_id', 'network_type'],
  },
  intents_waiting: {
    kind: 'gauge',
    help: 'Cancellations and replacements that wait to be carried out.',
    labels: [],
  },
  relayer_healthy: {
    kind: 'gauge',
    help: '1 when a relayer takes transactions, 0 when its checks have disabled it, as the store has it.',
    labels: ['relayer_id'],
  },
  relayer_balance: {
    kind: 'gauge',
    help: 'Balance of the account of a relayer when last read, in the unit of its label, as the store has it.',
    labels: ['relayer_id', 'network_type', 'unit'],
  },
  relayer_checks: {
    kind: 'counter',
    help: 'Checks of relayers by this instance, by result: passed, failed.',
    labels: ['relayer_id', 'result'],
  },
  rpc_call_duration: {
    kind: 'histogram',
    unit: 'seconds',
    help: 'From a call to the last byte of its answer, in seconds.',
    labels: ['endpoint', 'operation_name'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  rpc_call_failures: {
    kind: 'counter',
    help: 'Calls that failed, by what it means: permanent, state, endpoint, transport.',
    labels: ['endpoint', 'operation_name', 'error_type'],
  },
  rpc_endpoint_pauses: {
    kind: 'counter',
    help: 'Times that an endpoint was paused or found behind, by reason.',
    labels: ['network', 'endpoint', 'reason'],
  },
  rpc_endpoints: {
    kind: 'gauge',
    help: 'Endpoints of a network under one name, by how they stand: ready, paused, limited, unfit.',
    labels: ['network', 'endpoint', 'state'],
  },
  signer_request_duration: {
    kind: 'histogram',
    unit: 'seconds',
    help: 'From asking a signer for a signature or a public key to its answer, in seconds; signer is empty for all keys in this process together, unless they fail.',
    labels: ['signer', 'type', 'outcome'],
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  store_healthy: {
    kind: 'gauge',
    help: '1 when the store answers and the latest write was kept, else 0.',
    labels: [],
  },
  store_roundtrip: {
    kind: 'histogram',
    unit: 'seconds',
    help: 'From asking the store for its time to the answer, which is the least that any question takes, in seconds.',
    labels: [],
    buckets: [0.0001, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
  },
  store_write_duration: {
    kind: 'histogram',
    unit: 'seconds',
    help: 'From asking for a write to its being on disk or not, by outcome: kept, undone, failed, in seconds.',
    labels: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
    starts: [{ outcome: 'failed' }],
  },
  webhook_delivery_duration: {
    kind: 'histogram',
    unit: 'seconds',
    help: "Deliveries by outcome, from the call to the receiver's status, in seconds.",
    labels: ['outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  webhook_events_ended: {
    kind: 'counter',
    help: 'Events that were delivered, given up (dead), or dropped with their notification.',
    labels: ['end'],
    starts: [{ end: 'dead' }],
  },
  webhook_events_waiting: {
    kind: 'gauge',
    help: 'Events that have not ended.',
    labels: [],
  },
  build_info: {
    kind: 'gauge',
    help: '1, with the version of the service and that of Node.',
    labels: ['version', 'node_version'],
  },
} as const satisfies Record<string, MetricRow>;

/** One row of the table. */
export type MetricRow = {
  help: string;
  labels: readonly string[];
  /** Series that start at 0. Prometheus sees no increase in a series that starts with its first count. */
  starts?: readonly Readonly<Record<string, string>>[];
} & (
  | { kind: 'counter' | 'gauge'; unit?: 'seconds' | 'bytes' }
  /** With upper bounds, in the unit. */
  | { kind: 'histogram'; unit: 'seconds'; buckets: readonly number[] }
);

type Rows = typeof METRICS;

/** The metrics of one kind. */
export type MetricName<K extends MetricRow['kind'] = MetricRow['kind']> = {
  [N in keyof Rows]: Rows[N]['kind'] extends K ? N : never;
}[keyof Rows];

/** The labels of a metric, each with its value. */
export type MetricLabels<N extends MetricName> = { [L in Rows[N]['labels'][number]]: string | number };

/** All metrics by the names that Prometheus sees. */
export const EXPOSED_METRICS: ReadonlyMap<string, MetricRow & { name: MetricName }> = new Map(
  (Object.entries(METRICS) as [MetricName, MetricRow][]).map(([name, row]) => {
    const unit = row.unit === undefined ? '' : `_${row.unit}`;
    return [`isolayer_${name}${unit}${row.kind === 'counter' ? '_total' : ''}`, { ...row, name }];
  }),
);
