import type { Clock } from '../domain/clock.ts';
import type { EndpointNews, EndpointState } from '../domain/endpoint-news.ts';
import type { Endpoint } from './endpoint.ts';

export interface PoolSettings {
  /** Failures within {@link PoolSettings.failureMemoryMs} that pause an endpoint. */
  failureThreshold: number;
  /** What lies back longer is forgotten: failures, and that it was behind for a moment. */
  failureMemoryMs: number;
  pauseMs: number;
  /** The first pause after an endpoint said that it is asked too much, and not until when; doubles up to `limitCapMs`. */
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
  /** The endpoint said that it is asked too much, and not until when: it is left alone, the longer the oftener it says so. */
  limited(endpoint: Endpoint, reason: string): void;
  /**
   * Leaves an endpoint out of the order for a while, because what it would answer is not to be had. False, and
   * nothing done, when it is the only one that is left.
   */
  setAside(endpoint: Endpoint, ms: number, reason: string): boolean;
  /** Whether nothing speaks against the endpoint at the moment. */
  isReady(endpoint: Endpoint): boolean;
  stateOf(endpoint: Endpoint): EndpointState;
  /** Milliseconds for which this endpoint is left alone as it asked; without one, until there is one that is not. */
  heldForMs(endpoint?: Endpoint): number;
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
  /** How often in a row it said that it is asked too much. */
  limits: number;
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

/** An endpoint that fails now and then is not gone. */
const GONE_AFTER_MS = 5_000;

const NEW_HEALTH: Readonly<Health> = {
  failures: [],
  pausedUntil: 0,
  heldUntil: 0,
  asideUntil: 0,
  limits: 0,
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
      if (heldMs(endpoint) === 0 && !isAside(endpoint)) {
        health.limits = 0;
        noteTrouble(endpoint, false);
      }
      if (told === undefined || told === 'behind') return;
      if (!isAside(endpoint) && restsUntil(endpoint) <= clock.elapsed()) tellBack(endpoint);
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
      health.limits += 1;
      const most = Math.min(settings.limitMs * 2 ** Math.min(health.limits - 1, 20), settings.limitCapMs);
      holdFor(endpoint, Math.ceil(most * (1 - random() / 4)), reason);
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
    isReady: (endpoint) => !isAside(endpoint) && restsUntil(endpoint) <= clock.elapsed(),
    heldForMs(endpoint) {
      if (endpoint !== undefined) return heldMs(endpoint);
      return Math.min(...endpoints.filter((one) => !isAside(one)).map(heldMs));
    },
    contact,
    isGone: () => contact.isLost && clock.elapsed() - lostAt >= GONE_AFTER_MS,
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
