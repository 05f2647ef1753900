import type { WebhookEnd } from '../../domain/webhook-event.ts';
import type { WebhookAnswer } from '../../egress/webhook-client.ts';

/** What the delivery of webhooks counts. */
export interface WebhookMetrics {
  /** A delivery ended. */
  tried(delivery: { outcome: WebhookAnswer['kind']; seconds: number }): void;
  /** An event ended. */
  ended(end: WebhookEnd): void;
  /** How many events have not ended. */
  waiting(events: number): void;
}
