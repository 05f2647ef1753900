import { effect, signal } from '@preact/signals';
import type { Schemas } from '../src/client/api.ts';
import { client, reasonOf } from './session.ts';

export type TransactionNews = Schemas['TransactionEvent'];
export type CallNews = Schemas['PluginCallEvent'];

type Listener = { transaction?: (news: TransactionNews) => void; call?: (news: CallNews) => void };

/** Whether the event stream of the server is connected. */
export const connection = signal<'connecting' | 'live' | 'lost'>('connecting');

/** Rises when everything shown has to be loaded again. */
export const generation = signal(0);

const READ_EVERY_MS = 5_000;
let readAt = Number.NEGATIVE_INFINITY;
let isDue = false;

const listeners = new Set<Listener>();
/** After this time without data, the connection counts as dead. The server sends something every 15 s. */
const MAX_SILENCE_MS = 20_000;
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 10_000;

/** Calls `listener` for each event, until the returned function is called. */
export function listen(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

effect(() => {
  const current = client.value;
  if (current === null) return undefined;
  const leaving = new AbortController();
  void follow(leaving.signal);
  return () => leaving.abort();
});

/** Aborts the current stream. */
let connecting = new AbortController();
let heardAt = Date.now();
let endPause = () => {};

/** Connects again. After sleep, or a change of network, a connection may be dead without an error. */
function connectAnew(): void {
  connecting.abort();
  endPause();
}

addEventListener('online', connectAnew);
document.addEventListener('visibilitychange', () => {
  const isSilent = Date.now() - heardAt > MAX_SILENCE_MS;
  if (document.visibilityState === 'visible' && isSilent) connectAnew();
});

async function follow(signal: AbortSignal): Promise<void> {
  let lastId = '';
  let pause = MIN_PAUSE_MS;
  while (!signal.aborted) {
    try {
      connecting = new AbortController();
      const stream = client.peek()?.follow({ lastId, heard }, AbortSignal.any([signal, connecting.signal]));
      for await (const { id, event, data } of stream ?? []) {
        lastId = id;
        pause = MIN_PAUSE_MS;
        connection.value = 'live';
        if (event === 'reset') readAnew();
        tell(event, data);
      }
    } catch (error) {
      if (signal.aborted) return;
      reasonOf(error);
    }
    if (signal.aborted) return;
    connection.value = 'lost';
    await new Promise<void>((resolve) => {
      endPause = resolve;
      setTimeout(resolve, pause);
    });
    pause = Math.min(pause * 2, MAX_PAUSE_MS);
  }
}

/**
 * Has everything loaded again, but not more often than every {@link READ_EVERY_MS}. This spares the server, and leaves
 * time for answers to arrive.
 */
function readAnew(): void {
  if (isDue) return;
  isDue = true;
  const next = () => {
    isDue = false;
    readAt = performance.now();
    generation.value += 1;
  };
  setTimeout(next, Math.max(0, readAt + READ_EVERY_MS - performance.now()));
}

function heard(): void {
  heardAt = Date.now();
}

function tell(event: string, data: string): void {
  for (const { transaction, call } of listeners) {
    if (event === 'transaction') transaction?.(JSON.parse(data) as TransactionNews);
    if (event === 'plugin_call') call?.(JSON.parse(data) as CallNews);
  }
}
