import path from 'node:path';
import { build } from 'esbuild';
import type { CallOutcome, CapabilityReply, Json, Limits, LogEntry } from '../../contract.ts';
import { GuestProgram, GuestRuntime } from '../../process/isolate.ts';
import { GuestHost, replyText } from './guest-host.ts';
import { guestRuntime, ROOT, version } from './sandbox.ts';

const SLICE_MS = 10_000;

export interface GuestCall {
  outcome: CallOutcome | undefined;
  logs: LogEntry[];
  /** What left the isolate and bypassed the runtime, for instance an unhandled rejection. */
  escapes: string[];
}

/** The script of a plugin whose module is this TypeScript text, for a bare isolate. */
export async function bundle(source: string): Promise<string> {
  const { outputFiles } = await build({
    stdin: { contents: source, loader: 'ts', resolveDir: ROOT },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: '__isolayer_plugin__',
    platform: 'browser',
    target: 'es2024',
    alias: { '@openzeppelin/relayer-sdk': path.join(ROOT, 'sandbox/guest/modules/relayer-sdk.ts') },
  });
  return outputFiles[0]?.text ?? '';
}

/** Runs plugins in real isolates of this process, with a simple host. */
export class GuestWorld {
  readonly #runtime: GuestRuntime;

  private constructor(runtime: GuestRuntime) {
    this.#runtime = runtime;
  }

  static async open(): Promise<GuestWorld> {
    return new GuestWorld(new GuestRuntime(await guestRuntime()));
  }

  /** Calls a plugin once in an isolate of its own; timers fire at once, `answer` answers its capability calls. */
  call(
    script: string,
    options: {
      params?: Json;
      limits?: Partial<Limits>;
      env?: Record<string, string>;
      answer?: (method: string, params: Json) => CapabilityReply;
      /** The bytes of random values, in order. */
      randomBytes?: number[];
    } = {},
  ): GuestCall {
    const { params = {}, limits = {}, env = {}, answer = () => ({ ok: true, value: null }) } = options;
    const host = new GuestHost();
    if (options.randomBytes !== undefined) {
      host.randomBytes = options.randomBytes;
      host.beginsAnew = false;
    }
    const program = new GuestProgram(this.#runtime, version(script, { limits, env }));
    const isolate = program.createIsolate(host.call);
    const escapes: string[] = [];
    const enter = (entry: 'invoke' | 'reply' | 'fire', argument: string | number) => {
      const escape = isolate.enter(entry, argument, SLICE_MS);
      if (escape === null) return;
      if (escape === 'changed') throw new Error('one call alone was kept from its isolate');
      escapes.push(escape.cause === 'thrown' ? escape.text : escape.cause);
    };
    try {
      enter(
        'invoke',
        JSON.stringify({ params, headers: {}, route: '', method: 'POST', query: {}, caller: { keyId: 'k' } }),
      );
      while (host.outcome === undefined && host.requests.length + host.jobs.length + host.timers.size > 0) {
        const request = host.requests.shift();
        if (request !== undefined) enter('reply', replyText(request.id, answer(request.method, request.params)));
        const job = host.jobs.shift();
        if (job !== undefined) enter('reply', replyText(job.id, { ok: true, value: job.answer }));
        for (const id of [...host.timers.keys()]) {
          host.timers.delete(id);
          enter('fire', id);
        }
      }
      return { outcome: host.outcome, logs: host.logs, escapes };
    } finally {
      isolate.dispose();
    }
  }
}
