import { setTimeout as delay } from 'node:timers/promises';
import { z } from 'zod';
import { TIMER_REQUEST } from '../../../../../sandbox/contract.ts';
import { invalidRequest } from '../../../../domain/errors.ts';
import type { Json } from '../../../../domain/json/json.ts';
import { eventNameSchema } from '../../../calls/record.ts';
import { defineCapability, json, type Principal } from './capability.ts';
import type { RequiredGrant } from './grants.ts';
import { WaitTimeout } from './relayer-failure.ts';

/** A longer delay does not fit into a timer of Node.js. A durable call that waits for so long does not run meanwhile. */
const MAX_TIMER_MS = 2 ** 31 - 1;
/** What a date can carry is far less. */
const MAX_MS = 2 ** 43;

const milliseconds = z.number().nonnegative().max(MAX_MS);
const none = (): RequiredGrant => ({ ofCall: true });
const never = () => false;
const failure = ({ message }: { message: string }) => message;

async function wait(principal: Principal, ms: number): Promise<null> {
  const left = principal.waits({ kind: 'time' }, Math.ceil(ms));
  await delay(Math.min(left, MAX_TIMER_MS), undefined, { signal: principal.signal });
  return null;
}

/** What plugins can wait for, besides transactions. A durable call that only waits holds no isolate. */
export const waitCapabilities = [
  /** A timer of a durable call. */
  defineCapability({
    method: TIMER_REQUEST,
    needs: [],
    params: z.strictObject({ ms: milliseconds }),
    result: z.null(),
    grant: none,
    effect: never,
    handle: (_, { ms }, principal) => wait(principal, ms),
    failure,
  }),

  defineCapability({
    method: 'call.sleep',
    needs: [],
    params: z.strictObject({ ms: milliseconds }),
    result: z.null(),
    grant: none,
    effect: never,
    handle: (_, { ms }, principal) => wait(principal, ms),
    failure,
  }),

  defineCapability({
    method: 'call.waitFor',
    needs: [],
    params: z.strictObject({
      name: eventNameSchema,
      timeout: milliseconds.exactOptional(),
    }),
    result: json<Json>('any'),
    grant: none,
    effect: never,
    async handle(_, { name, timeout = MAX_MS }, principal) {
      if (principal.inbox === undefined) {
        throw invalidRequest('waitFor: only a durable call can be sent events; add "durable": true to its entry');
      }
      const left = principal.waits({ kind: 'event', name }, Math.ceil(timeout));
      const event = await principal.inbox.take(name, left, principal.signal, Date.now);
      if (event === undefined) throw new WaitTimeout(`No event ${name} came within ${timeout}ms`);
      return event.value;
    },
    failure,
  }),
];
