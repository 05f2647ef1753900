/**
 * All metrics of the service itself. Names follow https://prometheus.io/docs/practices/naming/: the application first,
 * the unit last, base units, `_total` for counters. Labels are bounded: route patterns, ids of declared resources,
 * codes; never a path, a text or a caller's choice. Metrics of the Node process are added, with the names of
 * prom-client.
 */
export const METRICS = {
  isolayer_build_info: {
    kind: 'gauge',
    help: '1, with the version of the service and that of Node.',
    labels: ['version', 'node_version'],
  },
  isolayer_http_requests_total: {
    kind: 'counter',
    help: 'Requests answered.',
    labels: ['endpoint', 'method', 'status'],
  },
  isolayer_http_request_duration_seconds: {
    kind: 'histogram',
    help: 'From the head of a request to the end of its answer, in seconds.',
    labels: ['endpoint', 'method', 'status'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 25, 50, 100],
  },
  isolayer_http_requests_in_flight: {
    kind: 'gauge',
    help: 'Requests under way.',
    labels: ['endpoint'],
  },
  isolayer_http_request_timeouts_total: {
    kind: 'counter',
    help: 'Requests whose handler was too slow.',
    labels: ['endpoint', 'method', 'timeout_type'],
  },
  isolayer_plugin_calls_total: {
    kind: 'counter',
    help: 'Plugin calls answered, by HTTP status.',
    labels: ['plugin_id', 'method', 'status'],
  },
  isolayer_plugin_call_outcomes_total: {
    kind: 'counter',
    help: 'Plugin calls by the way they ended.',
    labels: ['plugin_id', 'outcome'],
  },
  isolayer_plugin_call_duration_seconds: {
    kind: 'histogram',
    help: 'From the arrival of a plugin call to its end, in seconds.',
    labels: ['plugin_id'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300],
  },
  isolayer_plugin_cpu_seconds_total: {
    kind: 'counter',
    help: 'Time that the code of plugins ran, by how the call ended, in seconds.',
    labels: ['plugin_id', 'outcome'],
  },
  isolayer_plugin_received_bytes_total: {
    kind: 'counter',
    help: 'What plugins were given: requests and answers to capability calls, by how the call ended.',
    labels: ['plugin_id', 'outcome'],
  },
  isolayer_plugin_sent_bytes_total: {
    kind: 'counter',
    help: 'What plugins gave: results and capability calls, by how the call ended.',
    labels: ['plugin_id', 'outcome'],
  },
  isolayer_plugin_heap_peak_bytes: {
    kind: 'gauge',
    help: 'Largest heap of an isolate at the end of a call, within the last hour.',
    labels: ['plugin_id'],
  },
  isolayer_plugin_capability_calls_total: {
    kind: 'counter',
    help: 'What plugins asked of the service.',
    labels: ['plugin_id', 'method', 'answer'],
  },
  isolayer_plugin_process_ends_total: {
    kind: 'counter',
    help: 'Plugin processes that were killed or died, by cause; plugin_id is empty for a spare.',
    labels: ['plugin_id', 'cause'],
  },
  isolayer_plugin_processes: {
    kind: 'gauge',
    help: 'Plugin processes alive, the spare among them.',
    labels: [],
  },
  isolayer_plugin_calls_running: {
    kind: 'gauge',
    help: 'Plugin calls running.',
    labels: [],
  },
  isolayer_plugin_calls_queued: {
    kind: 'gauge',
    help: 'Plugin calls in the queue.',
    labels: [],
  },
  isolayer_plugin_isolates: {
    kind: 'gauge',
    help: 'Isolates alive, by plugin.',
    labels: ['plugin_id'],
  },
  isolayer_plugin_resident_memory_bytes: {
    kind: 'gauge',
    help: 'Resident memory of the processes of a plugin as last metered; plugin_id is empty for the spare.',
    labels: ['plugin_id'],
  },
  isolayer_plugin_refused: {
    kind: 'gauge',
    help: '1 while the calls of a plugin are in back-off, all of them or those of an API key, else 0.',
    labels: ['plugin_id'],
  },
  isolayer_transactions_created_total: {
    kind: 'counter',
    help: 'Transactions accepted.',
    labels: ['relayer_id', 'network_type'],
  },
  isolayer_transactions_submitted_total: {
    kind: 'counter',
    help: 'Transactions that a node took.',
    labels: ['relayer_id', 'network_type'],
  },
  isolayer_transactions_confirmed_total: {
    kind: 'counter',
    help: 'Transactions confirmed at the depth of their network.',
    labels: ['relayer_id', 'network_type'],
  },
  isolayer_transactions_failed_total: {
    kind: 'counter',
    help: 'Transactions that ended as failed, expired or canceled.',
    labels: ['relayer_id', 'network_type', 'failure_reason', 'previous_status'],
  },
  isolayer_transactions_open: {
    kind: 'gauge',
    help: 'Transactions that have not ended, by status, as the store has them.',
    labels: ['relayer_id', 'network_type', 'status'],
  },
  isolayer_transactions_oldest_open_age_seconds: {
    kind: 'gauge',
    help: 'Time since the acceptance of the oldest transaction of a relayer that has not ended, in seconds.',
    labels: ['relayer_id', 'network_type'],
  },
  isolayer_transactions_parked: {
    kind: 'gauge',
    help: 'Transactions of this instance that wait for another price, money, a budget, their turn or a network, by reason.',
    labels: ['relayer_id', 'network_type', 'reason'],
  },
  isolayer_transaction_versions_total: {
    kind: 'counter',
    help: 'Signed versions by purpose: send, bump, replace, noop.',
    labels: ['relayer_id', 'network_type', 'purpose'],
  },
  isolayer_transaction_broadcasts_total: {
    kind: 'counter',
    help: 'Broadcasts of signed versions to nodes, by the result.',
    labels: ['relayer_id', 'network_type', 'outcome'],
  },
  isolayer_intents_waiting: {
    kind: 'gauge',
    help: 'Cancellations and replacements that wait to be carried out.',
    labels: [],
  },
  isolayer_transaction_transitions_total: {
    kind: 'counter',
    help: 'Committed changes of status.',
    labels: ['relayer_id', 'network_type', 'from', 'to'],
  },
  isolayer_lane_faults_total: {
    kind: 'counter',
    help: 'Steps of a lane that ended with an unexpected error.',
    labels: ['network_type'],
  },
  isolayer_transaction_decisions_total: {
    kind: 'counter',
    help: 'Decisions about transactions besides their status: bumped, noop-signed, gap-filled, parked and the like.',
    labels: ['relayer_id', 'network_type', 'kind'],
  },
  isolayer_relayer_healthy: {
    kind: 'gauge',
    help: '1 when a relayer takes transactions, 0 when its checks have disabled it, as the store has it.',
    labels: ['relayer_id'],
  },
  isolayer_relayer_balance: {
    kind: 'gauge',
    help: 'Balance of the account of a relayer when last read, in the unit of its label, as the store has it.',
    labels: ['relayer_id', 'network_type', 'unit'],
  },
  isolayer_relayer_checks_total: {
    kind: 'counter',
    help: 'Checks of relayers by this instance, by result: passed, failed.',
    labels: ['relayer_id', 'result'],
  },
  isolayer_rpc_call_duration_seconds: {
    kind: 'histogram',
    help: 'From a call to the last byte of its answer, in seconds.',
    labels: ['endpoint', 'operation_name'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30],
  },
  isolayer_rpc_call_failures_total: {
    kind: 'counter',
    help: 'Calls that failed, by what it means: permanent, state, endpoint, transport.',
    labels: ['endpoint', 'operation_name', 'error_type'],
  },
  isolayer_rpc_endpoints: {
    kind: 'gauge',
    help: 'Endpoints of a network under one name, by how they stand: ready, paused, limited, unfit.',
    labels: ['network', 'endpoint', 'state'],
  },
  isolayer_rpc_endpoint_pauses_total: {
    kind: 'counter',
    help: 'Times that an endpoint was paused or found behind, by reason.',
    labels: ['network', 'endpoint', 'reason'],
  },
  isolayer_idempotency_requests_total: {
    kind: 'counter',
    help: 'Requests with an Idempotency-Key by result: first, again, replayed, mismatch, in-progress.',
    labels: ['result'],
  },
  isolayer_store_healthy: {
    kind: 'gauge',
    help: '1 when the store answers and the latest write was kept, else 0.',
    labels: [],
  },
  isolayer_store_write_duration_seconds: {
    kind: 'histogram',
    help: 'From asking for a write to its being on disk or not, by outcome: kept, undone, failed, in seconds.',
    labels: ['outcome'],
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  isolayer_signer_request_duration_seconds: {
    kind: 'histogram',
    help: 'From asking a signer for a signature or a public key to its answer, in seconds.',
    labels: ['signer', 'type', 'outcome'],
    buckets: [0.0001, 0.0005, 0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  isolayer_webhook_delivery_duration_seconds: {
    kind: 'histogram',
    help: "Deliveries by outcome, from the call to the receiver's status, in seconds.",
    labels: ['outcome'],
    buckets: [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  },
  isolayer_webhook_events_ended_total: {
    kind: 'counter',
    help: 'Events that were delivered, given up (dead), or dropped with their notification.',
    labels: ['end'],
  },
  isolayer_webhook_events_waiting: {
    kind: 'gauge',
    help: 'Events that have not ended.',
    labels: [],
  },
} as const satisfies Record<string, MetricRow>;

interface MetricRow {
  kind: 'counter' | 'gauge' | 'histogram';
  help: string;
  labels: readonly string[];
  /** Upper bounds, in the unit of the name. Histograms only. */
  buckets?: readonly number[];
}

type Rows = typeof METRICS;

/** The metrics of one kind. */
export type MetricName<K extends MetricRow['kind']> = {
  [N in keyof Rows]: Rows[N]['kind'] extends K ? N : never;
}[keyof Rows];

/** The labels of a metric. */
export type MetricLabel<N extends keyof Rows> = Rows[N]['labels'][number];
