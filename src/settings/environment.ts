import '../domain/json/issue-text.ts';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { fileErrorCode } from './json-file.ts';
import type { ConfigurationFindings } from './problems.ts';
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
export function findUnsupportedVariables(variables: Variables): string[] {
  return Object.keys(variables)
    .filter((name) => WITHOUT_MEANING.some((pattern) => pattern.test(name)))
    .toSorted();
}

/** The shortest API key. A shorter key could be guessed. The reference has the same limit. */
export const MIN_KEY_LENGTH = 32;

const flag = z
  .string()
  .toLowerCase()
  .pipe(z.enum(['true', 'false', '1', '0'], 'must be true or false'))
  .transform((value) => value === 'true' || value === '1');

const integer = (least: number, most: number) => {
  const range = `must be a whole number from ${least} to ${most}`;
  return z
    .string()
    .regex(/^\d{1,15}$/, range)
    .transform(Number)
    .refine((value) => value >= least && value <= most, range);
};

const folder = z.string().min(1);

const marketUrl = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' });

const marketKey = z.string().regex(/^[\x21-\x7e]{1,1024}$/, 'must be visible ASCII without spaces');

const contract = z.string().regex(/^C[A-Z2-7]{55}$/, 'must be the address of a contract of Stellar (C…)');

/** Every variable that the service reads, with its range and default. An empty variable counts as not set. */
export const environmentSchema = z.object({
  API_KEY: z
    .string()
    .regex(
      new RegExp(`^[\\x21-\\x7e]{${MIN_KEY_LENGTH},1024}$`),
      `must have at least ${MIN_KEY_LENGTH} characters, all of them visible ASCII without spaces`,
    )
    .optional(),
  HOST: z.string().min(1).optional(),
  APP_PORT: integer(0, 65_535).default(8080),
  CONFIG_DIR: folder.default('./config'),
  CONFIG_FILE_NAME: z.string().min(1).default('config.json'),
  DATA_DIR: folder.default('./data'),
  PLUGINS_DIR: folder.default('./plugins'),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/./, 'must be a postgres:// URL')
    .optional(),
  DATABASE_CONNECTIONS: integer(2, 1_000).optional(),
  STORAGE_ENCRYPTION_KEY: z
    .string()
    .refine(
      (text) => text.split(',').every(isStorageKey),
      'must be 32 bytes in base64; while it is changed, the new and the old one with a comma between',
    )
    .optional(),
  RESET_STORAGE_ON_START: flag.default(false),
  TRANSACTION_EXPIRATION_HOURS: z
    .string()
    .regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be a number from 0.01 to 87600')
    .transform(Number)
    .refine((hours) => hours >= 0.01 && hours <= 87_600, 'must be a number from 0.01 to 87600')
    .default(4),
  AUDIT_EXPIRATION_DAYS: integer(1, 36_500).default(90),
  CALL_EXPIRATION_DAYS: integer(1, 36_500).default(7),
  LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(
      z.enum(
        ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
        'must be one of trace, debug, info, warn, error, fatal, silent',
      ),
    )
    .default('info'),
  LOG_FORMAT: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['human', 'json', 'compact', 'pretty'], 'must be human or json'))
    // The reference also has `compact` and `pretty`.
    .transform((format) => (format === 'json' ? 'json' : 'human'))
    .optional(),
  CONSOLE_ENABLED: flag.default(true),
  METRICS_ENABLED: flag.default(true),
  METRICS_PORT: integer(0, 65_535).default(8081),
  REQUEST_TIMEOUT_SECONDS: integer(1, 3600).default(30),
  SHUTDOWN_GRACE_SECONDS: integer(0, 3600).default(8),
  RATE_LIMIT_REQUESTS_PER_SECOND: integer(1, 1_000_000).default(100),
  RATE_LIMIT_BURST_SIZE: integer(1, 1_000_000).default(300),
  RELAYER_RATE_LIMIT_REQUESTS_PER_SECOND: integer(0, 1_000_000).default(0),
  RELAYER_RATE_LIMIT_BURST_SIZE: integer(1, 1_000_000).default(300),
  RPC_ALLOWED_HOSTS: z
    .string()
    .default('')
    .transform((list) => list.split(',').flatMap((host) => host.trim().toLowerCase() || [])),
  RPC_BLOCK_PRIVATE_IPS: flag.default(false),
  RPC_TIMEOUT_MS: integer(100, 600_000).default(10_000),
  PROVIDER_MAX_RETRIES: integer(0, 255).default(3),
  PROVIDER_RETRY_BASE_DELAY_MS: integer(0, 600_000).default(100),
  PROVIDER_RETRY_MAX_DELAY_MS: integer(0, 600_000).default(2000),
  PROVIDER_MAX_FAILOVERS: integer(0, 255).default(3),
  PROVIDER_FAILURE_THRESHOLD: integer(1, 1000).default(3),
  PROVIDER_PAUSE_DURATION_SECS: integer(1, 86_400).default(60),
  PROVIDER_FAILURE_EXPIRATION_SECS: integer(1, 86_400).default(60),
  JUPITER_API_URL: marketUrl.default('https://api.jup.ag'),
  JUPITER_API_KEY: marketKey.optional(),
  SOROSWAP_API_URL: marketUrl.default('https://api.soroswap.finance'),
  SOROSWAP_API_KEY: marketKey.optional(),
  STELLAR_MAINNET_SOROSWAP_ROUTER_ADDRESS: contract.default('CAG5LRYQ5JVEUI5TEID72EYOVX44TTUJT5BQR2J6J77FH65PCCFAJDDH'),
  STELLAR_TESTNET_SOROSWAP_ROUTER_ADDRESS: contract.optional(),
  PLUGIN_MAX_PROCESSES: integer(1, 1024).default(16),
  WEBHOOK_BLOCK_PRIVATE_IPS: flag.default(true),
  API_SIGNERS_USE_SERVER_IDENTITY: flag.default(false),
});

/** The environment with all defaults; `HOST` is the address to listen on. */
export type Environment = z.infer<typeof environmentSchema> & { HOST: string };

/** The service's own credentials. No plugin may be granted these variables. */
export const SECRET_VARIABLES = [
  'API_KEY',
  'STORAGE_ENCRYPTION_KEY',
  'DATABASE_URL',
  'JUPITER_API_KEY',
  'SOROSWAP_API_KEY',
];

/** The contracts that the environment names, by the names of their variables. */
export function readContractAddresses(environment: Environment): Record<string, string> {
  const named = Object.entries(environment).filter(
    (entry): entry is [string, string] => /^STELLAR_\w+_ADDRESS$/.test(entry[0]) && typeof entry[1] === 'string',
  );
  return Object.fromEntries(named);
}

/** Reads the variables. Each invalid value is a problem that states its range. No value is replaced by a default. */
export function readEnvironment(variables: Variables, findings: ConfigurationFindings): Environment | undefined {
  const given = Object.fromEntries(
    Object.entries(variables).filter(([, value]) => value !== undefined && value !== ''),
  );
  const foreign = findUnsupportedVariables(given);
  if (foreign.length > 0) {
    findings.warn('environment', '', `these variables have no meaning here and are ignored: ${foreign.join(', ')}`);
  }

  const result = environmentSchema.safeParse(given);
  // The message does not show the value, because it may be a key.
  for (const issue of result.error?.issues ?? []) findings.problem('environment', String(issue.path[0]), issue.message);

  const { HOST = given['API_KEY'] === undefined ? '127.0.0.1' : '0.0.0.0' } = given;
  if (given['API_KEY'] === undefined && !isLoopback(HOST)) {
    const message = `without API_KEY the service listens on loopback only, not on ${HOST}`;
    findings.problem('environment', 'HOST', message, `Set API_KEY to at least ${MIN_KEY_LENGTH} characters`);
    return undefined;
  }
  if (given['DATABASE_URL']?.startsWith('postgres') && given['STORAGE_ENCRYPTION_KEY'] === undefined) {
    const message = 'is required with DATABASE_URL: every instance on that database must have the same key';
    findings.problem('environment', 'STORAGE_ENCRYPTION_KEY', message, 'Make one with `openssl rand -base64 32`');
    return undefined;
  }
  return result.success ? { ...result.data, HOST } : undefined;
}

function isStorageKey(text: string): boolean {
  const key = text.trim();
  return /^[A-Za-z0-9+/]+={0,2}$/.test(key) && Buffer.from(key, 'base64').length === 32;
}

/** Whether an address can only be reached from this machine. */
function isLoopback(host: string): boolean {
  if (host === 'localhost') return true;
  const version = isIP(host);
  return version === 4 ? host.startsWith('127.') : version === 6 && host === '::1';
}

/** Reads `.env` in the working directory. The process's own variables override it. */
export async function readVariables(env: Variables, cwd: string, findings: ConfigurationFindings): Promise<Variables> {
  try {
    return { ...parseEnv(await readFile(join(cwd, '.env'), 'utf8')), ...env };
  } catch (error) {
    if (fileErrorCode(error) !== 'ENOENT') findings.problem('.env', '', `cannot be read (${fileErrorCode(error)})`);
    return env;
  }
}
