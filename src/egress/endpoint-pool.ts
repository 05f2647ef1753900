import type { Clock } from '../domain/clock.ts';
import type { Endpoint } from './endpoint.ts';

export interface PoolSettings {
  /** Failures within {@link PoolSettings.failureMemoryMs} that pause an endpoint. */
  failureThreshold: number;
  failureMemoryMs: number;
  pauseMs: number;
}

/** The endpoints of one network and how each has behaved of late. */
export interface EndpointPool {
  /** Those that are switched on, in the order of the configuration. */
  readonly endpoints: readonly Endpoint[];
  /**
   * All of them, in the order in which to try them: the healthy first, drawn by weight; then those that are paused,
   * the one whose pause ends first before the others, so that there is always something to try. Those that are set
   * aside are left out.
   */
  order(): Endpoint[];
  /** Notes a failure of this very endpoint. */
  failed(endpoint: Endpoint): void;
  /** The endpoint asked to be left alone (`Retry-After`). */
  hold(endpoint: Endpoint, ms: number): void;
  /**
   * Leaves an endpoint out of the order for a while, because what it would answer is not to be had. False, and
   * nothing done, when it is the only one that is left.
   */
  setAside(endpoint: Endpoint, ms: number): boolean;
  /** Whether nothing speaks against the endpoint at the moment. */
  isReady(endpoint: Endpoint): boolean;
  /** Milliseconds until an endpoint is there that did not ask to be left alone. */
  heldForMs(): number;
}

interface Health {
  failures: number[];
  pausedUntil: number;
  heldUntil: number;
  asideUntil: number;
}

/** Starts with every endpoint in good health. */
export function createEndpointPool(
  all: readonly Endpoint[],
  settings: PoolSettings,
  clock: Clock,
  random: () => number,
): EndpointPool {
  const endpoints = all.filter(({ weight }) => weight > 0);
  const records = new Map<Endpoint, Health>();

  function healthOf(endpoint: Endpoint): Health {
    const known = records.get(endpoint) ?? { failures: [], pausedUntil: 0, heldUntil: 0, asideUntil: 0 };
    records.set(endpoint, known);
    return known;
  }

  const isAside = (endpoint: Endpoint) => healthOf(endpoint).asideUntil > clock.elapsed();
  const restsUntil = (endpoint: Endpoint) => Math.max(healthOf(endpoint).pausedUntil, healthOf(endpoint).heldUntil);

  return {
    endpoints,
    order() {
      const now = clock.elapsed();
      const usable = endpoints.filter((endpoint) => !isAside(endpoint));
      const resting = usable.filter((endpoint) => restsUntil(endpoint) > now);
      const ready = usable.filter((endpoint) => !resting.includes(endpoint));
      return [...drawByWeight(ready, random), ...resting.sort((a, b) => restsUntil(a) - restsUntil(b))];
    },
    failed(endpoint) {
      const now = clock.elapsed();
      const health = healthOf(endpoint);
      health.failures = [...health.failures.filter((at) => at > now - settings.failureMemoryMs), now];
      if (health.failures.length >= settings.failureThreshold) health.pausedUntil = now + settings.pauseMs;
      // A burst of failures needs no longer memory than the threshold.
      health.failures = health.failures.slice(-settings.failureThreshold);
    },
    hold(endpoint, ms) {
      const health = healthOf(endpoint);
      health.heldUntil = Math.max(health.heldUntil, clock.elapsed() + ms);
    },
    setAside(endpoint, ms) {
      const isLast = endpoints.every((other) => other === endpoint || isAside(other));
      if (!isLast) healthOf(endpoint).asideUntil = Math.max(healthOf(endpoint).asideUntil, clock.elapsed() + ms);
      return !isLast;
    },
    isReady: (endpoint) => !isAside(endpoint) && restsUntil(endpoint) <= clock.elapsed(),
    heldForMs() {
      const usable = endpoints.filter((endpoint) => !isAside(endpoint));
      return Math.max(0, Math.min(...usable.map((endpoint) => healthOf(endpoint).heldUntil)) - clock.elapsed());
    },
  };
}

/** All of them in a random order in which the heavier come first more often. */
function drawByWeight(endpoints: readonly Endpoint[], random: () => number): Endpoint[] {
  const left = [...endpoints];
  const drawn: Endpoint[] = [];
  while (left.length > 0) {
    let point = random() * left.reduce((sum, { weight }) => sum + weight, 0);
    const index = left.findIndex(({ weight }) => {
      point -= weight;
      return point < 0;
    });
    drawn.push(...left.splice(Math.max(0, index), 1));
  }
  return drawn;
}
