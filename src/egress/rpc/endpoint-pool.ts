import type { Clock } from '../../domain/clock.ts';
import type { EndpointNews, EndpointState } from '../../domain/endpoint-news.ts';
import type { Endpoint } from './endpoint.ts';

export interface EndpointPoolSettings {
  /** Failures within {@link EndpointPoolSettings.failureMemoryMs} that pause an endpoint. */
  failureThreshold: number;
  /** How long a failure counts. A lag is forgotten after this time too, unless it is noticed again. */
  failureMemoryMs: number;
  pauseMs: number;
  /** The first interval of an endpoint's {@link RateBucket}, and the longest. */
  limitMs: number;
  limitCapMs: number;
}

/** The endpoints of one network and how each has behaved of late. */
export interface EndpointPool {
  /** Those that are switched on, in the order of the configuration. */
  readonly endpoints: readonly Endpoint[];
  /**
   * The endpoints in the order in which to try them. Ready endpoints come first, drawn by weight. The others follow,
   * the one that is ready first before the rest, so that there is always something to try. Excluded endpoints are left
   * out.
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
  /** Sends nothing to the endpoint for so long, because it asked for that (`Retry-After`). */
  hold(endpoint: Endpoint, ms: number): void;
  /** Notes that the endpoint got too many requests and did not say until when. It gets fewer from now on. */
  limited(endpoint: Endpoint, reason: string): void;
  /** Notes that a request is sent to the endpoint. */
  requestSent(endpoint: Endpoint): void;
  /** Notes that the endpoint answered a request without saying that there are too many. */
  requestAnswered(endpoint: Endpoint): void;
  /**
   * Leaves an endpoint out of the order for a while, because its answers are of no use. If it is the only one that is
   * left, does nothing and returns false.
   */
  exclude(endpoint: Endpoint, ms: number, reason: string): boolean;
  /** Whether the endpoint can be asked now: it is not excluded or paused, and its bucket allows a request. */
  isReady(endpoint: Endpoint): boolean;
  stateOf(endpoint: Endpoint): EndpointState;
  /**
   * Milliseconds until a request may be sent to this endpoint. Without an endpoint: until one may be sent to any of
   * them.
   */
  waitMs(endpoint?: Endpoint): number;
  /** Whether a call does best to wait for this endpoint: no other is ready, and the contact is not gone. */
  isWorthWaiting(endpoint: Endpoint): boolean;
  readonly contact: EndpointContact;
  /** Whether the contact has been lost for so long that asking again at once is of little use. */
  isGone(): boolean;
}

/** How the endpoints of a network have answered so far. */
export interface EndpointContact {
  /** True while the last result of every endpoint was trouble. */
  isLost: boolean;
  /** When an endpoint last served a call, on the clock that never goes back; null before. */
  servedAt: number | null;
}

/** What a pool tells of its endpoints. */
export interface EndpointPoolListeners {
  onNews?: ((news: EndpointNews) => void) | undefined;
  /** Called when the contact is lost, and when it is there again. */
  onContact?: ((isLost: boolean) => void) | undefined;
}

/** What a penalty does: a paused endpoint is the last resort, an unfit one is not asked at all. */
type Sanction = 'paused' | 'unfit';

interface Health {
  /** The penalty: a failure adds 1, and 1 is forgiven in each {@link EndpointPoolSettings.failureMemoryMs}. */
  penalty: number;
  penalizedAt: number;
  /** When each sanction ends. */
  until: Record<Sanction, number>;
  bucket: RateBucket;
  isInTrouble: boolean;
  /** The last news of it; none after `back`. */
  news: Exclude<EndpointNews['kind'], 'back'> | undefined;
  behindSince: number | undefined;
  laggedAt: number;
}

/** News by weight. Heavier news is told even when lighter news was told before. */
const BY_WEIGHT: readonly Health['news'][] = [undefined, 'behind', 'limited', 'paused', 'unfit'];

/** How long an endpoint has to be behind before that is told. Nodes are a block behind each other now and then. */
const BEHIND_FOR_MS = 30_000;

/**
 * How long the contact must be lost, and no request answered, to count as gone. An endpoint that fails now and then is
 * not gone, even if no call that takes several requests has come through.
 */
const GONE_AFTER_MS = 5_000;

/** Starts with every endpoint in good health. */
export function createEndpointPool(
  all: readonly Endpoint[],
  settings: EndpointPoolSettings,
  clock: Clock,
  random: () => number,
  { onNews = () => {}, onContact = () => {} }: EndpointPoolListeners = {},
): EndpointPool {
  const endpoints = all.filter(({ weight }) => weight > 0);
  const records = new Map<Endpoint, Health>();
  const contact: EndpointContact = { isLost: false, servedAt: null };
  let lostAt = 0;
  let answeredAt = Number.NEGATIVE_INFINITY;

  function healthOf(endpoint: Endpoint): Health {
    const known = records.get(endpoint) ?? {
      penalty: 0,
      penalizedAt: 0,
      until: { paused: 0, unfit: 0 },
      bucket: new RateBucket(settings, random),
      isInTrouble: false,
      news: undefined,
      behindSince: undefined,
      laggedAt: 0,
    };
    records.set(endpoint, known);
    return known;
  }

  /** Tells news, unless the same or heavier news was told before. */
  function tell(endpoint: Endpoint, news: Exclude<EndpointNews, { kind: 'back' }>): void {
    const health = healthOf(endpoint);
    if (BY_WEIGHT.indexOf(news.kind) <= BY_WEIGHT.indexOf(health.news)) return;
    health.news = news.kind;
    onNews(news);
  }

  function tellBack(endpoint: Endpoint): void {
    healthOf(endpoint).news = undefined;
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

  function sanction(endpoint: Endpoint, kind: Sanction, forMs: number, reason: string): void {
    const { until } = healthOf(endpoint);
    until[kind] = Math.max(until[kind], clock.elapsed() + forMs);
    tell(endpoint, { kind, endpoint: endpoint.name, reason, forMs });
  }

  function tellLimited(endpoint: Endpoint, reason: string, forMs: number): void {
    tell(endpoint, { kind: 'limited', endpoint: endpoint.name, reason, forMs });
    noteTrouble(endpoint, true);
  }

  const bucketOf = (endpoint: Endpoint) => healthOf(endpoint).bucket;
  const waitMs = (endpoint: Endpoint) => bucketOf(endpoint).waitMs(clock.elapsed());
  const isRefused = (endpoint: Endpoint) => bucketOf(endpoint).isRefused(clock.elapsed());
  const isExcluded = (endpoint: Endpoint) => healthOf(endpoint).until.unfit > clock.elapsed();
  const readyInMs = (endpoint: Endpoint) =>
    Math.max(0, healthOf(endpoint).until.paused - clock.elapsed(), waitMs(endpoint));
  const isReady = (endpoint: Endpoint) => !isExcluded(endpoint) && readyInMs(endpoint) === 0;
  const isGone = () => contact.isLost && clock.elapsed() - Math.max(lostAt, answeredAt) >= GONE_AFTER_MS;

  return {
    endpoints,
    order() {
      const usable = endpoints.filter((endpoint) => !isExcluded(endpoint));
      const waiting = usable.filter((endpoint) => readyInMs(endpoint) > 0);
      const ready = usable.filter((endpoint) => !waiting.includes(endpoint));
      return [...drawByWeight(ready, random), ...waiting.sort((a, b) => readyInMs(a) - readyInMs(b))];
    },
    failed(endpoint, reason) {
      const now = clock.elapsed();
      const health = healthOf(endpoint);
      const forgiven = (now - health.penalizedAt) / settings.failureMemoryMs;
      health.penalty = Math.max(0, health.penalty - forgiven) + 1;
      health.penalizedAt = now;
      if (health.penalty > settings.failureThreshold - 1) {
        health.penalty = 0;
        sanction(endpoint, 'paused', settings.pauseMs, reason);
      }
      noteTrouble(endpoint, true);
    },
    served(endpoint) {
      const { news, bucket } = healthOf(endpoint);
      contact.servedAt = clock.elapsed();
      // A call that was under way when the endpoint asked to be left alone, or showed to be unfit, does not end its
      // trouble.
      if (!isRefused(endpoint) && !isExcluded(endpoint)) noteTrouble(endpoint, false);
      if (news === undefined || news === 'behind') return;
      if (isReady(endpoint) && bucket.isUnlimited) tellBack(endpoint);
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
      if (health.news === 'behind') tellBack(endpoint);
    },
    hold(endpoint, ms) {
      if (ms <= 0) return;
      bucketOf(endpoint).hold(clock.elapsed(), ms);
      tellLimited(endpoint, 'it asked for a pause', ms);
    },
    limited(endpoint, reason) {
      // Many refusals within one burst count as one.
      if (!isRefused(endpoint)) tellLimited(endpoint, reason, bucketOf(endpoint).refuse(clock.elapsed()));
    },
    requestSent(endpoint) {
      bucketOf(endpoint).take(clock.elapsed());
    },
    requestAnswered(endpoint) {
      answeredAt = clock.elapsed();
      const { bucket } = healthOf(endpoint);
      // A request that was under way when the endpoint refused says nothing about its limit since.
      if (bucket.isUnlimited || isRefused(endpoint)) return;
      bucket.grant();
      // With few requests, a call that takes several of them may take long. Each answer shows that the endpoint is there.
      contact.servedAt = clock.elapsed();
      if (!isExcluded(endpoint)) noteTrouble(endpoint, false);
    },
    exclude(endpoint, ms, reason) {
      if (endpoints.every((other) => other === endpoint || isExcluded(other))) return false;
      sanction(endpoint, 'unfit', ms, reason);
      noteTrouble(endpoint, true);
      return true;
    },
    stateOf(endpoint) {
      if (isExcluded(endpoint)) return 'unfit';
      if (isRefused(endpoint)) return 'limited';
      return healthOf(endpoint).until.paused > clock.elapsed() ? 'paused' : 'ready';
    },
    isReady,
    waitMs(endpoint) {
      if (endpoint !== undefined) return waitMs(endpoint);
      return Math.min(...endpoints.filter((one) => !isExcluded(one)).map(waitMs));
    },
    isWorthWaiting: (endpoint) => !isGone() && !endpoints.some((other) => other !== endpoint && isReady(other)),
    contact,
    isGone,
  };
}

/**
 * The factor on the interval after a request that was answered. The interval doubles at the second refusal in a row, so
 * it settles where about half of the requests are refused. All of a plan's rate is used then. If a third of the
 * requests is refused whatever the interval is, the bucket is unlimited again.
 */
const INTERVAL_LEFT = 0.7;
/** Below this part of the first interval, the bucket is unlimited again. */
const MIN_INTERVAL = 0.1;

/**
 * A token bucket for one request, without a limit until the endpoint says that it gets too many. Then it fills in
 * `limitMs`, in twice the time after each further refusal in a row, up to `limitCapMs`, and faster with each request
 * that is answered.
 */
class RateBucket {
  readonly #settings: Pick<EndpointPoolSettings, 'limitMs' | 'limitCapMs'>;
  readonly #random: () => number;
  /** The time between two requests; 0 is unlimited. */
  #intervalMs = 0;
  #filledAt = 0;
  #refusedUntil = 0;
  #isRefusing = false;

  constructor(settings: Pick<EndpointPoolSettings, 'limitMs' | 'limitCapMs'>, random: () => number) {
    this.#settings = settings;
    this.#random = random;
  }

  get isUnlimited(): boolean {
    return this.#intervalMs === 0;
  }

  waitMs(now: number): number {
    return Math.max(0, this.#filledAt - now);
  }

  /** Whether the endpoint's last refusal still holds. */
  isRefused(now: number): boolean {
    return this.#refusedUntil > now;
  }

  take(now: number): void {
    if (this.#intervalMs > 0) this.#filledAt = Math.max(this.#filledAt, now + Math.ceil(this.#intervalMs));
  }

  grant(): void {
    this.#isRefusing = false;
    this.#intervalMs *= INTERVAL_LEFT;
    if (this.#intervalMs < this.#settings.limitMs * MIN_INTERVAL) this.#intervalMs = 0;
  }

  /** Returns for how long nothing is sent. */
  refuse(now: number): number {
    const next = this.#intervalMs === 0 ? this.#settings.limitMs : this.#intervalMs * (this.#isRefusing ? 2 : 1);
    this.#isRefusing = true;
    this.#intervalMs = Math.min(next, this.#settings.limitCapMs);
    const ms = Math.ceil(this.#intervalMs * (1 - this.#random() / 4));
    this.hold(now, ms);
    return ms;
  }

  hold(now: number, ms: number): void {
    this.#refusedUntil = Math.max(this.#refusedUntil, now + ms);
    this.#filledAt = Math.max(this.#filledAt, this.#refusedUntil);
  }
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
