import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { RunningService } from './service.ts';

/** A plugin whose calls wait until another call sets a word. Each looks for the word every five seconds. */
export const WAITING_PLUGIN = `export async function handler({ kv, params: { word, index } }) {
  if (word) return kv.set('word', true);
  while (index !== undefined && !(await kv.exists('word'))) await new Promise((resolve) => setTimeout(resolve, 5000));
  return index ?? null;
}`;

/** Entry of {@link WAITING_PLUGIN}, for that many calls at once and the call that sets the word. */
export function waitingEntry(calls: number, processMb: number): object {
  return {
    id: 'waiting',
    path: 'waiting.ts',
    timeout: 300,
    limits: { concurrency: calls + 1, process_mb: processMb },
  };
}

/** Calls of plugin `waiting` that all run at once. */
export class WaitingCalls {
  readonly #service: RunningService;
  readonly #calls: number;
  readonly #agent: Agent;
  readonly #answers: Promise<unknown[]>;
  #ended = 0;

  /** Begins that many calls; the n-th is answered with n. */
  constructor(service: RunningService, calls: number) {
    this.#service = service;
    this.#calls = calls;
    this.#agent = new Agent({ connections: calls, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
    this.#answers = Promise.all(Array.from({ length: calls }, (_, index) => this.#call(index)));
    // Handled here too, so that a call that fails early is not an unhandled rejection.
    this.#answers.catch(() => undefined);
  }

  /** Resolves when all calls run. Rejects with the reason if one is refused. */
  async allRun(patienceMs: number): Promise<void> {
    const deadline = performance.now() + patienceMs;
    while ((await this.#running()) < this.#calls) {
      if (performance.now() > deadline) throw new Error(`${this.#calls} calls do not come to wait`);
      // An ended call, whatever its outcome, no longer counts as running.
      if (this.#ended > 0) await this.#answers;
      await sleep(50);
    }
  }

  /** Sets the word. Resolves with the answers. */
  async answers(): Promise<unknown[]> {
    const word = await this.#service.call('waiting', { word: true });
    if (word.status !== 200) throw new Error(`the word was not given: ${JSON.stringify(word.body)}`);
    return this.#answers;
  }

  /** Safe to call twice. */
  async close(): Promise<void> {
    if (!this.#agent.destroyed) await this.#agent.destroy();
  }

  async #call(index: number): Promise<unknown> {
    const { url, apiKey } = this.#service;
    const { statusCode, body } = await request(`${url}/api/v1/plugins/waiting/call`, {
      method: 'POST',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ params: { index } }),
      dispatcher: this.#agent,
    });
    const text = await body.text();
    this.#ended += 1;
    if (statusCode !== 200) throw new Error(`call ${index}: ${statusCode} ${text}`);
    return (JSON.parse(text) as { data: unknown }).data;
  }

  async #running(): Promise<number> {
    const { url, apiKey } = this.#service;
    const headers = { authorization: `Bearer ${apiKey}` };
    const { body } = await request(`${url}/api/v1/metrics/isolayer_plugin_calls_running`, { headers });
    const [, running = '0'] = /^isolayer_plugin_calls_running (\d+)$/m.exec(await body.text()) ?? [];
    return Number(running);
  }
}
