import type { Clock } from '../domain/clock.ts';
import type { WireValue } from '../domain/json/json.ts';
import { withTimeout } from '../domain/with-timeout.ts';

export type HealthStatus = 'healthy' | 'degraded' | 'unhealthy';

/** The health of one part of the service. `error` says why it is not healthy. Other details are shown unchanged. */
export interface ComponentHealth {
  status: HealthStatus;
  error?: string;
  [detail: string]: WireValue;
}

/** Checks one part. An exception makes the part unhealthy. */
export type HealthCheck = () => ComponentHealth | Promise<ComponentHealth>;

/** The body of `/ready`. */
export interface HealthReport {
  /** False only when a part is unhealthy. */
  ready: boolean;
  /** The worst of the parts. */
  status: HealthStatus;
  /** The errors of unhealthy parts, joined with `; `. */
  reason?: string;
  components: Record<string, ComponentHealth>;
  /** The time of the check, RFC 3339. */
  timestamp: string;
}

export interface Health {
  check(): Promise<HealthReport>;
}

/** The time limit for checking one part. */
const CHECK_LIMIT_MS = 2000;
/** How long a report is reused. The probe needs no key, so this bounds its cost. */
const REPORT_LIFE_MS = 1000;

/**
 * Checks all parts in parallel, each within its time limit. Callers within {@link REPORT_LIFE_MS} share one report. A
 * part whose earlier check has not ended is not asked again: on a hung disk each check would hold another thread.
 */
export function createHealth(given: Record<string, HealthCheck>, clock: Clock, limitMs = CHECK_LIMIT_MS): Health {
  const checks = Object.fromEntries(Object.entries(given).map(([name, check]) => [name, oneAtATime(check)]));
  let latest: { since: number; report: Promise<HealthReport> } | undefined;
  return {
    check() {
      const now = clock.elapsed();
      if (latest === undefined || now - latest.since >= REPORT_LIFE_MS) {
        latest = { since: now, report: examine(checks, clock, limitMs) };
      }
      return latest.report;
    },
  };
}

async function examine(checks: Record<string, HealthCheck>, clock: Clock, limitMs: number): Promise<HealthReport> {
  const named = await Promise.all(
    Object.entries(checks).map(async ([name, check]) => [name, await within(limitMs, check)] as const),
  );
  const worst = (status: HealthStatus) => named.some(([, component]) => component.status === status);
  const status = worst('unhealthy') ? 'unhealthy' : worst('degraded') ? 'degraded' : 'healthy';
  const reasons = named
    .filter(([, component]) => component.status === 'unhealthy')
    .map(([name, component]) => component.error ?? `${name} is unhealthy`);
  return {
    ready: status !== 'unhealthy',
    status,
    ...(reasons.length > 0 ? { reason: reasons.join('; ') } : {}),
    components: Object.fromEntries(named),
    timestamp: new Date(clock.now()).toISOString(),
  };
}

function oneAtATime(check: HealthCheck): HealthCheck {
  let pending: Promise<ComponentHealth> | undefined;
  return () => {
    pending ??= (async () => check())().finally(() => {
      pending = undefined;
    });
    return pending;
  };
}

/**
 * The report for callers who may not know relayers, networks, plugins, paths or endpoints: nothing but status words, and
 * the names of the parts, which are the same everywhere.
 */
export function withoutDetails({ components, reason, ...report }: HealthReport): HealthReport {
  const words = Object.entries(components).map(([name, { status }]) => [name, { status }] as const);
  const unwell = words.filter(([, { status }]) => status === 'unhealthy').map(([name]) => `${name} is unhealthy`);
  return {
    ...report,
    ...(reason === undefined || unwell.length === 0 ? {} : { reason: unwell.join('; ') }),
    components: Object.fromEntries(words),
  };
}

async function within(limitMs: number, check: HealthCheck): Promise<ComponentHealth> {
  try {
    const health = await withTimeout(limitMs, (async () => check())());
    return health ?? { status: 'unhealthy', error: `no answer within ${limitMs} ms` };
  } catch (error) {
    return { status: 'unhealthy', error: error instanceof Error ? error.message : String(error) };
  }
}
