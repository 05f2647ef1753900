import type { CapabilityReply, RequestMessage } from '../../../../sandbox/contract.ts';
import { withTimeout } from '../../../domain/with-timeout.ts';
import type { Log } from '../../../observability/log.ts';
import type { CallWait } from '../../calls/record.ts';

/** What the gateway knows of one capability call once it is answered. */
export interface CallAnswer {
  /** A method of the contract or `unknown`: a label of metrics, so never the guest's text. */
  method: string;
  result: 'ok' | 'refused' | 'failed';
  reply: CapabilityReply;
  /** The capability has run, but its answer is too large for the guest. */
  isDone?: boolean;
}

/** A capability call that has no answer yet. */
export interface OpenCall {
  readonly message: RequestMessage;
  /** Whether it may change something outside. */
  hasEffect: boolean;
  /** The time that the guest read when it asked; absent: now. */
  askedAt?: number | undefined;
  /** What it waits for, and since when: it does nothing until then. */
  wait?: { on: CallWait; since: number };
  answering: Promise<CallAnswer>;
}

/** The call that has ended, for the log. */
interface EndedRun {
  pluginId: string;
  requestId: string;
}

/** How long an answer waits for what became of the effects that its handler has left, in ms. */
const LEFT_MS = 1000;
const MAX_NAMED = 16;
const MAX_REASON = 200;
/** The most characters of a relayer's id, a key or a URL that a line shows. */
const MAX_NAME = 256;

/**
 * The line about capability calls that were not answered when their plugin call ended: what each asked for and what
 * became of it. An author who takes an accepted payment for dropped pays again. Without effects among them there is a
 * line only for a handler that returned. Logs those that end after the answer.
 */
export async function lineOfLeftCalls(
  open: Iterable<OpenCall>,
  hasReturned: boolean,
  run: EndedRun,
  log: Log,
): Promise<string | undefined> {
  const all = [...open];
  const effects = all.filter(({ hasEffect }) => hasEffect);
  const left = hasReturned ? [...effects, ...all.filter(({ hasEffect }) => !hasEffect)] : effects;
  if (left.length === 0) return undefined;
  const answers = new Map<OpenCall, CallAnswer>();
  const following = effects.map(async (call) => answers.set(call, await call.answering));
  await withTimeout(LEFT_MS, Promise.all(following));
  for (const call of effects) if (!answers.has(call)) void tellLater(call, run, log);
  const named = left.slice(0, MAX_NAMED).map((call) => `${nameOf(call)}: ${fateOf(call, answers.get(call))}`);
  if (left.length > MAX_NAMED) named.push(`${left.length - MAX_NAMED} more`);
  const [begin, advice] = hasReturned
    ? ['The handler has returned without waiting for', '. Await what the handler starts.']
    : ['The call ended before the answer to', '.'];
  return `${begin} ${named.join('; ')}${advice}`;
}

function nameOf({ message: { method, params } }: OpenCall): string {
  const given = (typeof params === 'object' && params !== null ? params : {}) as Record<string, unknown>;
  const { relayerId, key, url, method: verb } = given;
  if (typeof relayerId === 'string') return `${shown(method)} of ${shown(relayerId)}`;
  if (typeof url === 'string') return `${shown(method)} ${shown(String(verb))} ${shown(url)}`;
  return typeof key === 'string' ? `${shown(method)} ${JSON.stringify(shown(key))}` : shown(method);
}

function fateOf({ hasEffect, message }: OpenCall, answer: CallAnswer | undefined): string {
  if (!hasEffect) return 'its answer was dropped';
  if (answer === undefined) return 'still under way, it may happen yet';
  const { reply, isDone } = answer;
  if (reply.ok) {
    const id = transactionOf(message, answer);
    return id === undefined ? 'done' : `accepted as transaction ${id}`;
  }
  // The end of the call aborts its fetches. By then the request may have been sent.
  if (message.method === 'fetch' && answer.result === 'failed') return 'aborted, it may have arrived';
  const reason = reply.error.message.slice(0, MAX_REASON);
  return isDone === true ? `done (${reason})` : `not done (${reason})`;
}

function transactionOf({ method }: OpenCall['message'], { reply }: CallAnswer): string | undefined {
  if (method !== 'relayer.sendTransaction' || !reply.ok) return undefined;
  const { value } = reply;
  const id = typeof value === 'object' && value !== null && 'id' in value ? value['id'] : undefined;
  return typeof id === 'string' ? id : undefined;
}

async function tellLater(call: OpenCall, run: EndedRun, log: Log): Promise<void> {
  const answer = await call.answering;
  const transactionId = transactionOf(call.message, answer);
  const fate = fateOf(call, answer);
  log.warn({ ...run, left: nameOf(call), fate, transactionId }, 'a request that a plugin call did not await has ended');
}

function shown(text: string): string {
  return text.length <= MAX_NAME ? text : `${text.slice(0, MAX_NAME)}…`;
}
