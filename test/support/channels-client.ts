import { setTimeout as sleep } from 'node:timers/promises';
import type { AnswerBody, ServiceClient } from './service.ts';

/** A request of a client to the channels plugin, and functions that report the outcome. */
export interface ChannelsAsk {
  params: object;
  /** Returns a running service. Asked for each call, because a service may have ended. */
  service(): Promise<Pick<ServiceClient, 'call'>>;
  /** Whether the chain shows the effect of the request. */
  isDone(): Promise<boolean>;
  /** Called with the code or status of each answer; `lost` if no answer came. */
  heard?(answer: string, body: AnswerBody): void;
}

/** Codes after which the client asks again: nothing was sent yet, or nothing ever will be. */
const AGAIN: readonly unknown[] = ['SERVICE_UNAVAILABLE', 'SANDBOX_LOST', 'POOL_CAPACITY'];
/** The plugin's lock ended before its first write, as on an overloaded machine. Nothing happened. */
const LOST_LOCK = /^lock lost/;
const UNDER_WAY: readonly unknown[] = ['pending', 'sent', 'submitted'];
const AGAIN_MS = 250;
const LOOK_MS = 500;
/** Enough tries for the time in which consents and their transactions are valid. */
const MAX_TRIES = 600;

/**
 * Behaves as a client of the plugin. It asks again if nothing was sent, and waits for what was sent. It also asks again
 * if an answer was lost, because a consent is valid for one transaction only.
 * @returns the last answer; without `data.status` of `confirmed` it is a failure
 */
export async function relay({ params, service, isDone, heard = () => {} }: ChannelsAsk): Promise<AnswerBody> {
  let asked = params;
  let body: AnswerBody = {};
  let wasLost = false;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    try {
      ({ body } = await (await service()).call('channels', asked));
    } catch (error) {
      heard('lost', { error: String(error) });
      wasLost = true;
      await sleep(AGAIN_MS);
      continue;
    }
    const answer = body.data?.code ?? body.data?.status;
    heard(String(answer), body);
    if (answer === 'WAIT_TIMEOUT') {
      asked = { getTransaction: { transactionId: body.data.details.id } };
    } else if (UNDER_WAY.includes(answer)) {
      await sleep(LOOK_MS);
    } else if (answer === 'expired') {
      asked = params;
    } else if (AGAIN.includes(answer) || LOST_LOCK.test(body.error)) {
      wasLost ||= answer === 'SANDBOX_LOST';
      await sleep(AGAIN_MS);
    } else {
      return answer !== 'confirmed' && wasLost && (await isDone()) ? { data: { status: 'confirmed' } } : body;
    }
  }
  return body;
}
