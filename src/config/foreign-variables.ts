import type { Variables } from './secrets.ts';

/** Variables of the reference for features that do not exist here: Redis, its queues, its pool, its runtime. */
const WITHOUT_MEANING = [
  /^REDIS_/,
  /^REPOSITORY_STORAGE_TYPE$/,
  /^PLUGIN_(USE_POOL|MAX_CONCURRENCY|POOL_\w+|SOCKET_\w+|TRACE_TIMEOUT_MS|WORKER_HEAP_MB)$/,
  /^(QUEUE_BACKEND|SQS_\w+|PUBSUB_\w+|RABBITMQ_\w+|BACKGROUND_WORKER_\w+)$/,
  /^(ACTIX_WORKERS|TOKIO_WORKER_THREADS|DISTRIBUTED_MODE|IN_DOCKER|ENABLE_SWAGGER)$/,
  /^(MAX_CONNECTIONS|CONNECTION_BACKLOG|RELAYER_CONCURRENCY_LIMIT)$/,
  /^(RUST_LOG|LOG_MODE|LOG_DATA_DIR|LOG_MAX_SIZE)$/,
];

/** Returns the given variables that work in the reference but have no effect here. */
export function foreignVariables(variables: Variables): string[] {
  return Object.keys(variables)
    .filter((name) => WITHOUT_MEANING.some((pattern) => pattern.test(name)))
    .toSorted();
}
