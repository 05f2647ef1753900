import { setTimeout as sleep } from 'node:timers/promises';
import type { AnswerBody, ServiceClient } from './service.ts';

/** What a client asks of the channels plugin, and who tells it what came of it in the end. */
export interface ChannelsAsk {
  params: object;
  /** A service that runs; asked anew for each call, for one may be gone. */
  service(): Promise<Pick<ServiceClient, 'call'>>;
  /** Whether the chain shows the effect. */
  isDone(): Promise<boolean>;
  /** Told of every answer, by its code or status; `lost` where none came. */
  heard?(answer: string, body: AnswerBody): void;
}

/** Nothing was sent yet, or it is known that nothing ever will be. */
const AGAIN: readonly unknown[] = ['SERVICE_UNAVAILABLE', 'SANDBOX_LOST', 'POOL_CAPACITY'];
/** A machine that is full did not get as far as the first write in the time of the plugin's lock: nothing happened. */
const LOST_LOCK = /^lock lost/;
const UNDER_WAY: readonly unknown[] = ['pending', 'sent', 'submitted'];
const AGAIN_MS = 250;
const LOOK_MS = 500;
/** As long as consents are good, and the transactions that they are in. */
const MOST_TRIES = 600;

/**
 * Does what clients of the plugin do: asks again where nothing was sent, waits for what was, and where an answer was lost
 * asks again as well, since a consent is good for one transaction only.
 * @returns the answer that it ended with; one without `data.status` of `confirmed` is a failure
 */
export async function relay({ params, service, isDone, heard = () => {} }: ChannelsAsk): Promise<AnswerBody> {
  let asked = params;
  let body: AnswerBody = {};
  let wasLost = false;
  for (let tries = 0; tries < MOST_TRIES; tries += 1) {
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
