import type { Clock } from '../../domain/clock.ts';
import { EndablePause } from '../../domain/endable-pause.ts';
import type { WebhookAnswer, WebhookClient } from '../../egress/webhook-client.ts';
import { hasDeclaredAddress } from '../../features/webhooks/records/notification.ts';
import type { WebhookDeliveryResult, WebhookEvent } from '../../features/webhooks/records/webhook-event.ts';
import type { Log } from '../../observability/log.ts';
import type { Metrics } from '../../observability/metrics.ts';
import { UnsealableSecret } from '../../store/sealing.ts';
import type { Store } from '../../store/store.ts';

/** The pace of deliveries. Times are in milliseconds. */
export interface WebhookTiming {
  /** Deliveries under way to one receiver while it takes them; one at a time after a failure. */
  atOnce: number;
  /** How long a receiver is left alone after a failure; it doubles with each up to `restCapMs`. */
  restMs: number;
  restCapMs: number;
  /** The time after which a delivery that was begun and not reported is begun again: longer than any delivery takes. */
  claimMs: number;
  /** An event's pause after its first failure; doubles up to `retryCapMs`, up to a quarter is taken off at random. */
  retryMs: number;
  retryCapMs: number;
  /**
   * How long an event is tried before it is dead, and (`leastTries`) how often at the least, as the service may have
   * been down.
   */
  giveUpMs: number;
  leastTries: number;
  /** The longest and the shortest time between two searches for due events. */
  sweepMs: number;
  sweepFloorMs: number;
  /** How long the end waits for deliveries under way. */
  closeMs: number;
}

/** Pauses from two seconds to a quarter of an hour, for a day. */
export const defaultWebhookTiming: WebhookTiming = {
  atOnce: 32,
  restMs: 500,
  restCapMs: 30_000,
  claimMs: 15_000,
  retryMs: 2_000,
  retryCapMs: 900_000,
  giveUpMs: 86_400_000,
  leastTries: 8,
  sweepMs: 5_000,
  sweepFloorMs: 50,
  closeMs: 5_000,
};

/** Nothing is delivered unsigned to a receiver that expects a signature. */
const DAMAGED_KEY: WebhookAnswer = { kind: 'blocked', reason: 'its stored signing key is damaged: set it again' };

export interface WebhookDeliveryDeps {
  store: Store;
  client: Pick<WebhookClient, 'post'>;
  log: Log;
  metrics: Metrics;
  clock: Pick<Clock, 'elapsed' | 'now'>;
  /** In [0, 1), for jitter. */
  random(): number;
  timing?: WebhookTiming;
}

/** The recent behaviour of a notification's receiver; kept while it matters. */
interface Receiver {
  running: number;
  /** Since it last took a delivery. */
  failures: number;
  /** By the clock that never goes back. */
  restsUntil: number;
}

/**
 * Delivers the events in the outbox at least once, each subject's events in order. A receiver that hangs or fails does
 * not delay other receivers. Work is found in the store; a lost hint only costs time.
 */
export class WebhookDelivery {
  readonly #deps: WebhookDeliveryDeps;
  readonly #timing: WebhookTiming;
  readonly #receivers = new Map<string, Receiver>();
  readonly #running = new Set<Promise<void>>();
  readonly #pause = new EndablePause();
  #sweeping: Promise<void> | null = null;
  #closing: Promise<void> | null = null;
  #closed = false;
  #countedAt = Number.NEGATIVE_INFINITY;

  constructor(deps: WebhookDeliveryDeps) {
    this.#deps = deps;
    this.#timing = deps.timing ?? defaultWebhookTiming;
  }

  /** Takes up what was left and delivers from now on. */
  start(): void {
    if (!this.#closed) this.#sweeping ??= this.#sweep();
  }

  /** A hint that something may be due. */
  wake(): void {
    this.#pause.end();
  }

  /** Begins no more deliveries and waits a while for those under way; one that is cut off is begun anew later. */
  close(): Promise<void> {
    this.#closing ??= this.#end();
    return this.#closing;
  }

  async #end(): Promise<void> {
    this.#closed = true;
    this.#pause.end();
    await this.#sweeping;
    const patience = new EndablePause();
    void Promise.all(this.#running).then(() => patience.end());
    await patience.last(this.#timing.closeMs);
  }

  async #sweep(): Promise<void> {
    await this.#resume();
    while (!this.#closed) {
      await this.#pause.last(await this.#beginDue());
    }
  }

  /**
   * Makes deliveries that were begun before the start due at once, when no other instance shares the store: they were
   * cut off and need not wait for their claim.
   */
  async #resume(): Promise<void> {
    const { store, log } = this.#deps;
    if (Number.isFinite(store.leases.lastsMs)) return;
    try {
      await store.write((writer) => writer.resumeEvents(this.#timing.claimMs));
    } catch (error) {
      log.error({ err: error }, 'webhook events could not be resumed');
    }
  }

  /** @returns how long the next search may wait, in milliseconds */
  async #beginDue(): Promise<number> {
    const { store, log } = this.#deps;
    const { sweepMs, sweepFloorMs } = this.#timing;
    try {
      const now = await store.now();
      await Promise.all((await store.read.dueNotifications(now)).map((id) => this.#begin(id)));
      await this.#count();
      const next = await store.read.nextEventAt(now);
      const soonest = Math.min(next === null ? sweepMs : next - now, ...this.#rests());
      return Math.min(Math.max(soonest, sweepFloorMs), sweepMs);
    } catch (error) {
      log.error({ err: error }, 'search for webhook events failed');
      return sweepMs;
    }
  }

  async #begin(notificationId: string): Promise<void> {
    const receiver = this.#receivers.get(notificationId) ?? { running: 0, failures: 0, restsUntil: 0 };
    const free = (receiver.failures > 0 ? 1 : this.#timing.atOnce) - receiver.running;
    if (free <= 0 || receiver.restsUntil > this.#deps.clock.elapsed() || this.#closed) return;
    const { claimMs } = this.#timing;
    const events = await this.#deps.store.write((writer) => writer.claimEvents(notificationId, free, claimMs));
    if (events.length > 0) this.#receivers.set(notificationId, receiver);
    for (const event of events) {
      const delivery = this.#deliver(event, receiver);
      this.#running.add(delivery);
      void delivery.then(() => this.#running.delete(delivery));
    }
  }

  /** Never rejects. An event whose outcome is not stored is due again after its claim. */
  async #deliver(event: WebhookEvent, receiver: Receiver): Promise<void> {
    const { store, log, metrics } = this.#deps;
    receiver.running += 1;
    try {
      const report = await this.#try(event, receiver);
      if (await store.write((writer) => writer.settleEvent(event, report))) {
        if ('end' in report) metrics.count('webhook_events_ended', { end: report.end });
      }
    } catch (error) {
      log.error(
        { err: error, notification: event.notificationId, event: event.id },
        'the outcome of a webhook delivery could not be stored',
      );
    }
    receiver.running -= 1;
    if (receiver.running === 0 && receiver.failures === 0) this.#receivers.delete(event.notificationId);
    this.wake();
  }

  async #try(event: WebhookEvent, receiver: Receiver): Promise<WebhookDeliveryResult> {
    const { store, client, metrics, clock } = this.#deps;
    const notification = await store.read.notification(event.notificationId);
    if (notification === undefined) {
      receiver.failures = 0;
      return { outcome: 'the notification was deleted', end: 'dropped' };
    }
    // Uses the present address and keys, so that a change also applies to waiting events.
    const signingKeys = await store.read.signingKeys(notification.id).catch((error: unknown) => {
      if (error instanceof UnsealableSecret && error.reason === 'damaged') return undefined;
      throw error;
    });
    if (signingKeys === undefined) return await this.#judge(event, receiver, DAMAGED_KEY);
    const began = clock.elapsed();
    const { url } = notification;
    const answer = await client.post({
      url,
      id: event.id,
      body: event.body,
      at: clock.now(),
      signingKeys,
      isDeclared: hasDeclaredAddress(notification),
    });
    metrics.observe('webhook_delivery_duration', { outcome: answer.kind }, (clock.elapsed() - began) / 1000);
    return await this.#judge(event, receiver, answer);
  }

  async #judge(event: WebhookEvent, receiver: Receiver, answer: WebhookAnswer): Promise<WebhookDeliveryResult> {
    const { store, log, clock, random } = this.#deps;
    const { restMs, restCapMs, retryMs, retryCapMs, giveUpMs, leastTries } = this.#timing;
    const redirect = answer.kind === 'rejected' ? (answer.redirect ?? '') : '';
    const outcome = 'status' in answer ? `HTTP ${answer.status}${redirect}` : `${answer.kind}: ${answer.reason}`;
    const about = { notification: event.notificationId, event: event.id, tries: event.tries, outcome };
    if (answer.kind === 'delivered') {
      if (receiver.failures > 0) log.info(about, 'webhook receiver accepts deliveries again');
      receiver.failures = 0;
      receiver.restsUntil = 0;
      return { outcome, end: 'delivered' };
    }
    receiver.failures += 1;
    receiver.restsUntil = clock.elapsed() + doubled(restMs, receiver.failures, restCapMs);
    const { triesSince, dueSince } = event;
    if (triesSince >= leastTries && (await store.now()) - dueSince >= giveUpMs) {
      log.error(about, 'webhook event is dead');
      return { outcome, end: 'dead' };
    }
    // One line when it begins to fail: a receiver that is down must not fill the log.
    if (receiver.failures > 1) log.debug(about, 'webhook not delivered');
    else log.warn(about, 'webhook not delivered; it will be tried again');
    return { outcome, retryInMs: Math.ceil(doubled(retryMs, triesSince, retryCapMs) * (1 - random() / 4)) };
  }

  /** How long receivers are still left alone, in milliseconds. */
  #rests(): number[] {
    const now = this.#deps.clock.elapsed();
    return [...this.#receivers.values()].flatMap(({ restsUntil }) => (restsUntil > now ? [restsUntil - now] : []));
  }

  /** Counts the waiting events. That reads each of them, so it is done at most once in `sweepMs`. */
  async #count(): Promise<void> {
    const { store, metrics, clock } = this.#deps;
    if (clock.elapsed() - this.#countedAt < this.#timing.sweepMs) return;
    this.#countedAt = clock.elapsed();
    metrics.set('webhook_events_waiting', {}, await store.read.waitingEvents());
  }
}

/** A pause after so many failures, from 1. */
function doubled(first: number, failures: number, cap: number): number {
  return Math.min(first * 2 ** Math.min(failures - 1, 30), cap);
}
