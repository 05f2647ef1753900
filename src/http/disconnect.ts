import type { ServerResponse } from 'node:http';
import type { CallerSignal } from '../plugin-host/plugin-host.ts';

/** Aborts when the client leaves before its answer is complete. */
export function disconnectSignal(response: ServerResponse): CallerSignal {
  const signal = new DisconnectSignal();
  response.on('close', () => {
    if (!response.writableFinished) signal.abort();
  });
  return signal;
}

/**
 * Stands in for an AbortSignal. One is made for each plugin call, and an AbortController costs more than everything
 * else that is recorded of the call.
 */
class DisconnectSignal implements CallerSignal {
  aborted = false;
  #listeners: (() => void)[] = [];

  addEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners.push(listener);
  }

  removeEventListener(_type: 'abort', listener: () => void): void {
    this.#listeners = this.#listeners.filter((one) => one !== listener);
  }

  abort(): void {
    this.aborted = true;
    const listeners = this.#listeners;
    this.#listeners = [];
    for (const listener of listeners) listener();
  }
}
