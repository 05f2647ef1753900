import type { Clock } from '../../domain/clock.ts';
import type { EndpointNews, EndpointState } from '../../domain/endpoint-news.ts';
import type { Endpoint } from './endpoint.ts';

export interface PoolSettings {
  /** Failures within {@link PoolSettings.failureMemoryMs} that pause an endpoint. */
  failureThreshold: number;
  /** Failures that lie back longer are forgotten. So is a lag, unless it is noticed again within this time. */
  failureMemoryMs: number;
  pauseMs: number;
  /**
   * The pause after an endpoint said that it is asked too much, without saying until when. It is also the time between
   * two requests from then on. It doubles with each further refusal in a row, up to `limitCapMs`, and shrinks with each
   * request that is served.
   */
  limitMs: number;
  limitCapMs: number;
}

/** The endpoints of one network and how each has behaved of late. */
export interface EndpointPool {
  /** Those that are switched on, in the order of the configuration. */
  readonly endpoints: readonly Endpoint[];
  /**
   * The endpoints in the order in which to try them. Healthy endpoints come first, drawn by weight. Paused endpoints
   * follow, the one whose pause ends first before the others, so that there is always something to try. Endpoints that
   * are set aside are left out.
   */
  order(): Endpoint[];
  /** Notes a failure of this very endpoint. */
  failed(endpoint: Endpoint, reason: string): void;
  /** Notes that the endpoint served a call. That says nothing about its height. */
  served(endpoint: Endpoint): void;
  /** Notes that the endpoint is a little behind. It is not blamed for that. */
  lagged(endpoint: Endpoint, reason: string): void;
  /** Notes that the endpoint is as high as the others. Nothing else ends that it counts as behind. */
  caughtUp(endpoint: Endpoint): void;
  /** Leaves the endpoint alone for so long, because it asked for that (`Retry-After`). */
  hold(endpoint: Endpoint, ms: number): void;
  /**
   * Notes that the endpoint is asked too much and did not say until when. It is left alone, then asked at a slower
   * pace.
   */
  limited(endpoint: Endpoint, reason: string): void;
  /** Notes that a request is sent to the endpoint. The next one has to wait as long as the endpoint's pace asks. */
  leaves(endpoint: Endpoint): void;
  /** Notes that the endpoint answered without saying that it is asked too much. So it can take this pace. */
  bore(endpoint: Endpoint): void;
  /**
   * Leaves an endpoint out of the order for a while, because its answers are of no use. If it is the only one that is
   * left, does nothing and returns false.
   */
  setAside(endpoint: Endpoint, ms: number, reason: string): boolean;
  /**
   * Whether the endpoint can be asked now: it is not set aside, paused or left alone, and its pace allows a request.
   */
  isReady(endpoint: Endpoint): boolean;
  stateOf(endpoint: Endpoint): EndpointState;
  /**
   * Milliseconds until a request may be sent to this endpoint. Without an endpoint: until one may be sent to any of
   * them.
   */
  heldForMs(endpoint?: Endpoint): number;
  /** Whether a call does best to wait for this endpoint: no other is ready, and the contact is not gone. */
  isWorthWaiting(endpoint: Endpoint): boolean;
  readonly contact: Contact;
  /** Whether the contact has been lost for so long that asking again at once is of little use. */
  isGone(): boolean;
}

/** How the endpoints of a network have answered so far. */
export interface Contact {
  /** True while the last result of every endpoint was trouble. */
  isLost: boolean;
  /** When an endpoint last served a call, on the clock that never goes back; null before. */
  servedAt: number | null;
}

/** What a pool tells of its endpoints. */
export interface PoolListeners {
  onNews?: ((news: EndpointNews) => void) | undefined;
  /** Called when the contact is lost, and when it is there again. */
  onContact?: ((isLost: boolean) => void) | undefined;
}

interface Health {
  failures: number[];
  pausedUntil: number;
  heldUntil: number;
  asideUntil: number;
  /** The time between two requests; 0 is full speed. */
  paceMs: number;
  /** Whether the endpoint's last word on its pace was that it is asked too much. */
  isRefusing: boolean;
  nextAt: number;
  isInTrouble: boolean;
  /** The last news that was told of it. */
  told: Exclude<EndpointNews['kind'], 'back'> | undefined;
  behindSince: number | undefined;
  laggedAt: number;
}

/** News by weight. Heavier news is told even when lighter news was told before. */
const BY_WEIGHT: readonly Health['told'][] = [undefined, 'behind', 'limited', 'paused', 'unfit'];

/** How long an endpoint has to be behind before that is told. Nodes are a block behind each other now and then. */
const BEHIND_FOR_MS = 30_000;

/**
 * The factor on the pace after a request that was served. The pace doubles at the second refusal in a row, so it
 * settles where about half of the requests are refused. All of a plan's rate is used then. If a third of the requests
 * is refused whatever the pace is, it goes back to full speed.
 */
const PACE_LEFT = 0.7;
/** Below this part of the first pause, the pace is full speed again. */
const MIN_PACE = 0.1;

/**
 * How long the contact must be lost, and no request answered, to count as gone. An endpoint that fails now and then is
 * not gone, even if no call that takes several requests has come through.
 */
const GONE_AFTER_MS = 5_000;

const NEW_HEALTH: Readonly<Health> = {
  failures: [],
  pausedUntil: 0,
  heldUntil: 0,
  asideUntil: 0,
  paceMs: 0,
  isRefusing: false,
  nextAt: 0,
  isInTrouble: false,
  told: undefined,
  behindSince: undefined,
  laggedAt: 0,
};

/** Starts with every endpoint in good health. */
export function createEndpointPool(
  all: readonly Endpoint[],
  settings: PoolSettings,
  clock: Clock,
  random: () => number,
  { onNews = () => {}, onContact = () => {} }: PoolListeners = {},
): EndpointPool {
  const endpoints = all.filter(({ weight }) => weight > 0);
  const records = new Map<Endpoint, Health>();
  const contact: Contact = { isLost: false, servedAt: null };
  let lostAt = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;

  function healthOf(endpoint: Endpoint): Health {
    const known = records.get(endpoint) ?? { ...NEW_HEALTH };
    records.set(endpoint, known);
    return known;
  }

  /** Tells news, unless the same or heavier news was told before. */
  function tell(endpoint: Endpoint, news: Exclude<EndpointNews, { kind: 'back' }>): void {
    const health = healthOf(endpoint);
    if (BY_WEIGHT.indexOf(news.kind) <= BY_WEIGHT.indexOf(health.told)) return;
    health.told = news.kind;
    onNews(news);
  }

  function tellBack(endpoint: Endpoint): void {
    healthOf(endpoint).told = undefined;
    onNews({ kind: 'back', endpoint: endpoint.name });
  }

  function noteTrouble(endpoint: Endpoint, isInTrouble: boolean): void {
    healthOf(endpoint).isInTrouble = isInTrouble;
    const isLost = endpoints.every((one) => healthOf(one).isInTrouble);
    if (isLost === contact.isLost) return;
    contact.isLost = isLost;
    lostAt = clock.elapsed();
    onContact(isLost);
  }

  function holdFor(endpoint: Endpoint, ms: number, reason: string): void {
    const health = healthOf(endpoint);
    health.heldUntil = Math.max(health.heldUntil, clock.elapsed() + ms);
    tell(endpoint, { kind: 'limited', endpoint: endpoint.name, reason, forMs: ms });
    noteTrouble(endpoint, true);
  }

  const heldMs = (endpoint: Endpoint) => Math.max(0, healthOf(endpoint).heldUntil - clock.elapsed());
  const waitMs = (endpoint: Endpoint) => Math.max(heldMs(endpoint), healthOf(endpoint).nextAt - clock.elapsed());
  const isAside = (endpoint: Endpoint) => healthOf(endpoint).asideUntil > clock.elapsed();
  const restsUntil = (endpoint: Endpoint) => {
    const { pausedUntil, heldUntil, nextAt } = healthOf(endpoint);
    return Math.max(pausedUntil, heldUntil, nextAt);
  };
  const isReady = (endpoint: Endpoint) => !isAside(endpoint) && restsUntil(endpoint) <= clock.elapsed();
  const isGone = () => contact.isLost && clock.elapsed() - Math.max(lostAt, answeredAt) >= GONE_AFTER_MS;

  return {
    endpoints,
    order() {
      const now = clock.elapsed();
      const usable = endpoints.filter((endpoint) => !isAside(endpoint));
      const resting = usable.filter((endpoint) => restsUntil(endpoint) > now);
      const ready = usable.filter((endpoint) => !resting.includes(endpoint));
      return [...drawByWeight(ready, random), ...resting.sort((a, b) => restsUntil(a) - restsUntil(b))];
    },
    failed(endpoint, reason) {
      const now = clock.elapsed();
      const health = healthOf(endpoint);
      health.failures = [...health.failures.filter((at) => at > now - settings.failureMemoryMs), now];
      if (health.failures.length >= settings.failureThreshold) {
        health.pausedUntil = now + settings.pauseMs;
        tell(endpoint, { kind: 'paused', endpoint: endpoint.name, reason, forMs: settings.pauseMs });
      }
      // No more failures are remembered than the threshold needs.
      health.failures = health.failures.slice(-settings.failureThreshold);
      noteTrouble(endpoint, true);
    },
    served(endpoint) {
      const health = healthOf(endpoint);
      const { told } = health;
      contact.servedAt = clock.elapsed();
      // A call that was under way when the endpoint asked to be left alone, or showed to be unfit, does not end its
      // trouble.
      if (heldMs(endpoint) === 0 && !isAside(endpoint)) noteTrouble(endpoint, false);
      if (told === undefined || told === 'behind') return;
      if (isReady(endpoint) && health.paceMs === 0) tellBack(endpoint);
    },
    lagged(endpoint, reason) {
      const now = clock.elapsed();
      const health = healthOf(endpoint);
      // Two lags that lie far apart are not one long lag: there may have been no look in between.
      if (now - health.laggedAt > settings.failureMemoryMs) health.behindSince = undefined;
      health.behindSince ??= now;
      health.laggedAt = now;
      if (now - health.behindSince >= BEHIND_FOR_MS)
        tell(endpoint, { kind: 'behind', endpoint: endpoint.name, reason });
    },
    caughtUp(endpoint) {
      const health = healthOf(endpoint);
      health.behindSince = undefined;
      if (health.told === 'behind') tellBack(endpoint);
    },
    hold(endpoint, ms) {
      if (ms > 0) holdFor(endpoint, ms, 'it asked for a pause');
    },
    limited(endpoint, reason) {
      // Many refusals within one burst count as one.
      if (heldMs(endpoint) > 0) return;
      const health = healthOf(endpoint);
      const factor = health.isRefusing ? 2 : 1;
      health.isRefusing = true;
      health.paceMs = Math.min(health.paceMs === 0 ? settings.limitMs : health.paceMs * factor, settings.limitCapMs);
      holdFor(endpoint, Math.ceil(health.paceMs * (1 - random() / 4)), reason);
    },
    leaves(endpoint) {
      const health = healthOf(endpoint);
      if (health.paceMs > 0) health.nextAt = clock.elapsed() + Math.ceil(health.paceMs);
    },
    bore(endpoint) {
      const health = healthOf(endpoint);
      answeredAt = clock.elapsed();
      // A request that was under way when the endpoint refused says nothing about the pace since.
      if (health.paceMs === 0 || heldMs(endpoint) > 0) return;
      health.isRefusing = false;
      health.paceMs *= PACE_LEFT;
      if (health.paceMs < settings.limitMs * MIN_PACE) health.paceMs = 0;
      // At a slow pace, a call that takes several requests may take long. Each answer shows that the endpoint is there.
      contact.servedAt = clock.elapsed();
      if (!isAside(endpoint)) noteTrouble(endpoint, false);
    },
    setAside(endpoint, ms, reason) {
      if (endpoints.every((other) => other === endpoint || isAside(other))) return false;
      const health = healthOf(endpoint);
      health.asideUntil = Math.max(health.asideUntil, clock.elapsed() + ms);
      tell(endpoint, { kind: 'unfit', endpoint: endpoint.name, reason, forMs: ms });
      noteTrouble(endpoint, true);
      return true;
    },
    stateOf(endpoint) {
      const now = clock.elapsed();
      if (isAside(endpoint)) return 'unfit';
      if (heldMs(endpoint) > 0) return 'limited';
      return healthOf(endpoint).pausedUntil > now ? 'paused' : 'ready';
    },
    isReady,
    heldForMs(endpoint) {
      if (endpoint !== undefined) return waitMs(endpoint);
      return Math.min(...endpoints.filter((one) => !isAside(one)).map(waitMs));
    },
    isWorthWaiting: (endpoint) => !isGone() && !endpoints.some((other) => other !== endpoint && isReady(other)),
    contact,
    isGone,
  };
}

/** The endpoints in a random order. Heavier endpoints come first more often. */
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
