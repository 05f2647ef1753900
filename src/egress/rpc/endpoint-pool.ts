import type { Clock } from '../../domain/clock.ts';
import type { EndpointNews, EndpointState } from '../../domain/endpoint-news.ts';
import type { Endpoint } from './endpoint.ts';

export interface PoolSettings {
  /** Failures within {@link PoolSettings.failureMemoryMs} that pause an endpoint. */
  failureThreshold: number;
  /** What lies back longer is forgotten: failures, and that it was behind for a moment. */
  failureMemoryMs: number;
  pauseMs: number;
  /**
   * The pause after an endpoint said that it is asked too much, and not until when; also the time between two requests
   * from then on. It doubles with each further refusal in a row, up to `limitCapMs`, and shrinks with each request that
   * is served.
   */
  limitMs: number;
  limitCapMs: number;
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
  failed(endpoint: Endpoint, reason: string): void;
  /** Notes that the endpoint did what it was asked, which says nothing of its height. */
  served(endpoint: Endpoint): void;
  /** Notes that the endpoint is a little behind, for which it is not blamed. */
  lagged(endpoint: Endpoint, reason: string): void;
  /** Notes that the endpoint was found as high as the others: nothing else ends that it is behind. */
  caughtUp(endpoint: Endpoint): void;
  /** The endpoint asked to be left alone for so long (`Retry-After`). */
  hold(endpoint: Endpoint, ms: number): void;
  /** The endpoint said that it is asked too much, and not until when: it is left alone, and asked at a slower pace then. */
  limited(endpoint: Endpoint, reason: string): void;
  /** A request leaves for the endpoint: the next one has to wait as long as its pace asks. */
  leaves(endpoint: Endpoint): void;
  /** The endpoint answered a request without saying that it is asked too much: it bears this pace. */
  bore(endpoint: Endpoint): void;
  /**
   * Leaves an endpoint out of the order for a while, because what it would answer is not to be had. False, and
   * nothing done, when it is the only one that is left.
   */
  setAside(endpoint: Endpoint, ms: number, reason: string): boolean;
  /** Whether nothing speaks against the endpoint at the moment. */
  isReady(endpoint: Endpoint): boolean;
  stateOf(endpoint: Endpoint): EndpointState;
  /** Milliseconds for which nothing may leave for this endpoint; without one, until there is one for which something may. */
  heldForMs(endpoint?: Endpoint): number;
  /** Whether to wait for this endpoint is the best that a call can do: no other is ready, and this one is not gone. */
  isWorthWaiting(endpoint: Endpoint): boolean;
  readonly contact: Contact;
  /** Whether the contact has been lost for so long that to ask again at once is of little use. */
  isGone(): boolean;
}

/** How the endpoints of a network answer, by what was asked of them so far. */
export interface Contact {
  /** True while the last word of every one of them was trouble. */
  isLost: boolean;
  /** When one of them last did what it was asked, on the clock that never goes back; null before. */
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
  /** Its last word on its pace was that it is asked too much. */
  isRefusing: boolean;
  nextAt: number;
  isInTrouble: boolean;
  /** What was last told of it. */
  told: Exclude<EndpointNews['kind'], 'back'> | undefined;
  behindSince: number | undefined;
  laggedAt: number;
}

/** What weighs more is told even when something lighter was told before. */
const BY_WEIGHT: readonly Health['told'][] = [undefined, 'behind', 'limited', 'paused', 'unfit'];

/** Nodes are a block behind each other now and then; only who stays so is spoken of. */
const BEHIND_FOR_MS = 30_000;

/**
 * What is left of the pace after a request that was served. With doubling at the second refusal in a row a pace settles
 * where about half of the requests are refused: all of a plan's rate is used, and where a third is refused whatever the
 * pace is, it goes back to full speed.
 */
const PACE_LEFT = 0.7;
/** The part of the first pause below which the pace is full speed again. */
const LEAST_PACE = 0.1;

/** An endpoint that fails now and then is not gone. */
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

  function healthOf(endpoint: Endpoint): Health {
    const known = records.get(endpoint) ?? { ...NEW_HEALTH };
    records.set(endpoint, known);
    return known;
  }

  /** The same again is no news. */
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
  const isGone = () => contact.isLost && clock.elapsed() - lostAt >= GONE_AFTER_MS;

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
      // A burst of failures needs no longer memory than the threshold.
      health.failures = health.failures.slice(-settings.failureThreshold);
      noteTrouble(endpoint, true);
    },
    served(endpoint) {
      const health = healthOf(endpoint);
      const { told } = health;
      contact.servedAt = clock.elapsed();
      // What was under way when it asked to be left alone, or showed to be unfit, says nothing of that.
      if (heldMs(endpoint) === 0 && !isAside(endpoint)) noteTrouble(endpoint, false);
      if (told === undefined || told === 'behind') return;
      if (isReady(endpoint) && health.paceMs === 0) tellBack(endpoint);
    },
    lagged(endpoint, reason) {
      const now = clock.elapsed();
      const health = healthOf(endpoint);
      // Two moments that lie far apart are no long time: nobody may have looked in between.
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
      // The many answers to one burst are one refusal.
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
      // What was under way when it refused says nothing of the pace since.
      if (health.paceMs === 0 || heldMs(endpoint) > 0) return;
      health.isRefusing = false;
      health.paceMs *= PACE_LEFT;
      if (health.paceMs < settings.limitMs * LEAST_PACE) health.paceMs = 0;
      // A call that takes several requests may be long under way at such a pace: the endpoint is there all the same.
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
