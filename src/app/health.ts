import { readdir, readFile, statfs } from 'node:fs/promises';
import type { EndpointStatus } from '../domain/endpoint-news.ts';
import type { Engine } from '../engine/engine.ts';
import type { PluginHost } from '../features/plugins/host/plugin-host.ts';
import type { ComponentHealth, HealthCheck } from '../observability/health.ts';
import type { Store } from '../store/store.ts';

/** The parts that a readiness check examines. */
interface CheckedParts {
  store: Pick<Store, 'now' | 'read' | 'warnings'>;
  engine: Pick<Engine, 'unreached'>;
  pluginHost: Pick<PluginHost, 'status'>;
  connections: { endpoints(): readonly (Pick<EndpointStatus, 'endpoint' | 'unanswered'> & { network: string })[] };
  /** The reason why the latest write failed, if it did. */
  writeFailure(): string | undefined;
  /** How long the oldest write that is under way has waited, in milliseconds. */
  oldestWriteMs(): number;
  /** Free space where the data folder is, in bytes. */
  freeBytes(): Promise<number>;
  /** The files and connections that the process has open, and may have; undefined where the system does not tell. */
  openFiles(): Promise<{ count: number; limit: number } | undefined>;
}

/** A write that waits for longer is stuck: the disk hangs, or the database does not answer. */
const STUCK_WRITE_MS = 5_000;

/** Shares of the open files in percent, as in OpenZeppelin Relayer. */
const MANY_FILES = 70;
const TOO_MANY_FILES = 80;

/** The least free space. A database soon fails below it: its log alone needs some megabytes. */
const MIN_FREE_BYTES = 16 * 1_048_576;

/** The checks of the service's parts, by their names in `/ready`. */
export function healthChecks(parts: CheckedParts): Record<string, HealthCheck> {
  const { store, engine, pluginHost, connections, writeFailure, oldestWriteMs, freeBytes, openFiles } = parts;
  return {
    system: async () => {
      const files = await openFiles();
      if (files === undefined) return { status: 'healthy' };
      const { count, limit } = files;
      const percent = Math.trunc((count / limit) * 100);
      const figures = { fd_count: count, fd_limit: limit, fd_usage_percent: percent };
      if (percent <= MANY_FILES) return { status: 'healthy', ...figures };
      const error = `${count} of ${limit} open files are used: raise the limit (ulimit -n)`;
      return { status: percent > TOO_MANY_FILES ? 'unhealthy' : 'degraded', error, ...figures };
    },
    store: async () => {
      const waited = oldestWriteMs();
      // A stuck store may not answer a question, either.
      if (waited > STUCK_WRITE_MS) {
        const error = `The store does not answer: a write has waited for ${Math.floor(waited / 1000)} s`;
        return { status: 'unhealthy', error };
      }
      const [warnings] = await Promise.all([store.warnings(), store.now()]);
      const error = writeFailure();
      const told = warnings.length > 0 ? { warnings } : {};
      return error === undefined ? { status: 'healthy', ...told } : { status: 'unhealthy', error, ...told };
    },
    disk: async () => {
      const free = await freeBytes();
      if (free >= MIN_FREE_BYTES) return { status: 'healthy', free_bytes: free };
      const error = `The disk of DATA_DIR is full: ${(free / 1_048_576).toFixed(1)} MB are left`;
      return { status: 'unhealthy', error, free_bytes: free };
    },
    networks: async () => {
      const unreached = engine.unreached();
      const relayers = unreached.length === 0 ? [] : await store.read.allRelayers();
      return { ...networksOf(relayers, unreached), ...unansweredOn(connections.endpoints()) };
    },
    plugins: () => {
      const { threads, processes, running, queued, plugins, startFailure, confinement } = pluginHost.status();
      const unfit = plugins
        .filter(({ state }) => state !== 'serving')
        .map(({ id, state, reason }) => ({ id, state, reason }));
      const isStuck = startFailure !== null;
      // Without plugins, no call waits for a process.
      const status = isStuck && plugins.length > 0 ? 'unhealthy' : isStuck || unfit.length > 0 ? 'degraded' : 'healthy';
      const error = isStuck ? { error: `No process for plugins starts: ${startFailure}` } : {};
      return { status, ...error, threads, processes, running, queued, confinement: { ...confinement }, unfit };
    },
  };
}

/**
 * The methods that endpoints do not answer, with what each costs: once per endpoint, however many relayers use it. They
 * only advise, so they change no status.
 */
function unansweredOn(endpoints: ReturnType<CheckedParts['connections']['endpoints']>): Pick<ComponentHealth, string> {
  const told = endpoints.flatMap(({ network, endpoint, unanswered }) =>
    unanswered.map((one) => ({ network, endpoint, ...one })),
  );
  const once = new Map(told.map((one) => [JSON.stringify([one.network, one.endpoint, one.method]), one]));
  return once.size === 0 ? {} : { unanswered_methods: [...once.values()] };
}

/**
 * An instance that reaches no chain is not ready if another instance reaches one, so that requests go there. If no
 * instance reaches one, it stays ready, because clients can still read stored data.
 */
function networksOf(relayers: readonly { id: string }[], unreached: ReturnType<Engine['unreached']>): ComponentHealth {
  if (unreached.length === 0) return { status: 'healthy' };
  const isIn = new Set(relayers.map(({ id }) => id));
  const lost = unreached.filter(({ relayerId }) => isIn.has(relayerId));
  const isAll = lost.length > 0 && lost.length === relayers.length;
  const [first] = lost;
  return {
    status: lost.length === 0 ? 'healthy' : isAll && lost.some((one) => one.isElsewhere) ? 'unhealthy' : 'degraded',
    ...(isAll && { error: `This instance reaches no network: ${first?.cause}` }),
    unreached: lost.map(({ relayerId, network, cause, isElsewhere }) => ({
      relayer_id: relayerId,
      network,
      cause,
      served_by_others: isElsewhere,
    })),
  };
}

/** The files and connections that the process has open, and may have. Linux only: proc_pid_fd(5), proc_pid_limits(5). */
export async function openFiles(): Promise<{ count: number; limit: number } | undefined> {
  try {
    const [open, limits] = await Promise.all([readdir('/proc/self/fd'), readFile('/proc/self/limits', 'utf8')]);
    const limit = Number(/^Max open files +(\d+)/m.exec(limits)?.[1]);
    return Number.isFinite(limit) && limit > 0 ? { count: open.length, limit } : undefined;
  } catch {
    return undefined;
  }
}

/** The free space of a folder's disk, in bytes. */
export async function freeDiskBytes(dataDir: string): Promise<number> {
  const { bavail, bsize } = await statfs(dataDir);
  return bavail * bsize;
}
