/** What the calls of `npm run soak -- durable` do, and where the processes die under them. */

export const PLUGIN = 'pays';
export const RECEIVER = '0x00000000000000000000000000000000000abcde';
export const AMOUNT = 7n;

/**
 * Six effects, with clock, chance, a value, races, an event and a wait between them. The answer has `fixed`, which is
 * the same in each call, and `heard`, which is not, and from which the payments are made.
 */
export const HANDLER = `
import { createHash } from 'node:crypto';
const hex = (text) => '0x' + Array.from(new TextEncoder().encode(text), (byte) => byte.toString(16).padStart(2, '0')).join('');
export async function handler({ api, kv, params: { name, relayerId, read } }) {
  if (read !== undefined) {
    const values = [];
    for (const one of read) values.push({ count: await kv.get('count-' + one), done: await kv.get('done-' + one) });
    return values;
  }
  const relayer = api.useRelayer(relayerId);
  const course = [];
  const heard = {};
  const ids = [];
  const send = async (step, told) => {
    const data = hex(JSON.stringify({ name, step, ...told }));
    const sent = await relayer.sendTransaction({ to: '${RECEIVER}', value: '${AMOUNT}', data, gas_limit: 80000, speed: 'fast' });
    course.push('paid');
    ids[step] = sent.id;
    return sent;
  };
  heard.born = Date.now();
  heard.uuid = crypto.randomUUID();
  await send(0, { born: heard.born, uuid: heard.uuid });
  const before = await kv.get('count-' + name);
  course.push(['before', before ?? null]);
  heard.kept = await kv.set('count-' + name, (before ?? 0) + 1);
  heard.chance = Math.random();
  heard.bytes = [...crypto.getRandomValues(new Uint8Array(4))].join('.');
  await send(1, { chance: heard.chance, bytes: heard.bytes });
  heard.winner = await Promise.race([
    relayer.getRelayerStatus().then(() => 'status'),
    api.sleep(20).then(() => 'sleep'),
    kv.get('count-' + name).then(() => 'value'),
  ]);
  course.push(await Promise.race([api.sleep(5).then(() => 'short'), api.sleep(90000).then(() => 'long')]));
  heard.raced = Date.now();
  const third = await send(2, { winner: heard.winner, raced: heard.raced });
  heard.done = Date.now();
  const order = [];
  await Promise.all([
    send(3, { order: 'none' }).then(() => order.push('paid')),
    kv.set('done-' + name, heard.done).then(() => order.push('kept')),
    new Promise((done) => setTimeout(done, 30)).then(() => order.push('timer')),
  ]);
  heard.order = order;
  course.push(await api.waitFor('go', { timeout: 3600000 }));
  const { status, hash } = await third.wait({ until: 'confirmed', timeout: 1800000 });
  course.push(status);
  heard.hash = hash;
  heard.ended = Date.now();
  const text = JSON.stringify(course);
  return { fixed: { course, digest: createHash('sha256').update(text).digest('hex') }, heard, ids };
}`;

/** What a call answers. */
export interface Answer {
  fixed: object;
  heard: {
    born: number;
    uuid: string;
    chance: number;
    bytes: string;
    winner: string;
    raced: number;
    done: number;
    ended: number;
    hash: string;
    order: string[];
  };
  ids: string[];
}

/** The contents of a call's payments, by what the call heard. */
export function paymentsOf(name: string, { born, uuid, chance, bytes, winner, raced }: Answer['heard']): string[] {
  return [{ born, uuid }, { chance, bytes }, { winner, raced }, { order: 'none' }].map((told, step) =>
    JSON.stringify({ name, step, ...told }),
  );
}

export const EVENT = { name: 'go', value: { by: 'the harness' } };

/** When a process dies: in the commit of an effect, before the answer is sent to the guest, or soon after. */
export const PHASES = ['commit', 'held', 'sent'] as const;
export type Phase = (typeof PHASES)[number];
export type Victim = 'service' | 'plugin';

/** How far the kills of a call have come. One file for each call, written by the process that dies. */
export interface Plan {
  /** The entry of a run, from 1 on, at which something dies next. */
  next: number;
  /** Has calls begin with different phases and victims. */
  salt: number;
  isSuspensionDone: boolean;
  isEndDone: boolean;
}

/** A line of {@link KILLS_FILE}. */
export interface PlannedKill {
  name: string;
  /** `start`, the method that was answered, `suspension` or `end`. */
  at: string;
  entry: number;
  phase: Phase;
  victim: Victim;
}

export const KILLS_FILE = 'kills.jsonl';
