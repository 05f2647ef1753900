import { readFile } from 'node:fs/promises';
import { basename, dirname, relative, resolve } from 'node:path';
import type {
  CallOutcome,
  CallReport,
  CapabilityReply,
  DurableStart,
  PluginVersion,
  RequestMessage,
} from '../../../sandbox/contract.ts';
import { createSandbox, type Sandbox } from '../../../sandbox/host/sandbox.ts';
import { systemClock } from '../../domain/clock.ts';
import { canonicalJson, isObject, type Json } from '../../domain/json/json.ts';
import {
  configTexts,
  type ReplayRecord,
  redactSecrets,
  replayRecordSchema,
  restoreSecrets,
  type Secrets,
} from '../../features/calls/replay-record.ts';
import { bindCapabilities } from '../../features/plugins/host/capabilities/all-capabilities.ts';
import type { CatalogPlugin } from '../../features/plugins/host/catalog/known-plugin.ts';
import { payloadHash } from '../../features/plugins/host/gateway.ts';
import { pluginEntrySchema } from '../../features/plugins/records/plugin.ts';
import { createLog } from '../../observability/log.ts';
import { compilePlugins, SANDBOX_DIR } from '../check-config.ts';
import type { CommandArguments, CommandContext } from '../command.ts';
import { readPluginConfiguration } from '../settings.ts';
import { FakeServices } from '../testing/fake-services.ts';

/** `plugin replay`: runs a recorded call in a local sandbox, and says where it goes another way. */
export async function replayPlugin(context: CommandContext, given: CommandArguments): Promise<number> {
  const [file = ''] = given.values;
  const record = await readRecord(resolve(context.cwd, file));
  const { serving, secrets, note } = await findVersion(context, record, given.options.get('against'));
  if (note !== undefined) context.say(note);
  const calls = await LocalCalls.open();
  try {
    const mapped = (text: string) => serving.positions.mapped(text);
    const { differences, requests } = await replayCall(calls, record, serving.version, { secrets, mapped });
    for (const { what, recorded, now } of differences) {
      context.say(`${what}\n  recorded: ${recorded}\n  now:      ${now}`);
    }
    const end = record.outcome === null ? 'as far as the record goes' : 'and the same outcome';
    if (differences.length === 0) context.say(`No difference: ${counted(requests, 'request')}, ${end}`);
    else context.say(counted(differences.length, 'difference'));
    return differences.length === 0 ? 0 : 1;
  } finally {
    await calls.close();
  }
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}

async function readRecord(file: string): Promise<ReplayRecord> {
  const text = await readFile(file, 'utf8');
  const value: unknown = JSON.parse(text);
  // Alone, or in an answer of the API.
  const read = replayRecordSchema.safeParse(isObject(value) && 'data' in value ? value['data'] : value);
  if (!read.success) throw new Error(`${basename(file)} is not a call record: ${read.error.issues[0]?.message}`);
  return read.data;
}

type BuiltVersion = NonNullable<CatalogPlugin['serving']>;

/** Builds the plugin of the record, or the file that is to be compared with it. */
async function findVersion(
  context: CommandContext,
  record: ReplayRecord,
  against: string | undefined,
): Promise<{ serving: BuiltVersion; secrets: Secrets; note?: string }> {
  const settings = await readPluginConfiguration(context);
  const declared = settings.plugins.find(({ id }) => id === record.plugin);
  let { environment } = settings;
  let plugins = settings.plugins;
  if (against !== undefined) {
    const file = resolve(context.cwd, against);
    const folder = resolve(context.cwd, environment.PLUGINS_DIR);
    let path = relative(folder, file);
    if (path.startsWith('..')) {
      environment = { ...environment, PLUGINS_DIR: dirname(file) };
      path = basename(file);
    }
    plugins = [declared === undefined ? pluginEntrySchema.parse({ id: record.plugin, path }) : { ...declared, path }];
  }
  const all = await compilePlugins(context.cwd, { ...settings, environment, plugins });
  const plugin = all.find(({ entry }) => entry.id === record.plugin);
  if (plugin === undefined)
    throw new Error(`There is no plugin ${JSON.stringify(record.plugin)} here; name its file with --against`);
  const { serving, failure } = plugin;
  if (failure !== undefined || serving === undefined) throw new Error(failure?.message ?? 'It was not built');
  const missing = plugin.entry.permissions?.env.filter((name) => !(name in serving.version.env)) ?? [];
  const isSame = serving.version.version === record.version;
  const notes = [
    isSame
      ? ''
      : `The record is of another version (${record.version.slice(0, 12)}) than ${against ?? plugin.entry.path}`,
    missing.length === 0 ? '' : `Granted environment variables that are not set here: ${missing.join(', ')}`,
  ].filter(Boolean);
  const secrets = { ...serving.version.env, ...configTexts(plugin.entry.config) };
  return { serving, secrets, ...(notes.length > 0 && { note: notes.join('\n') }) };
}

/** Where a call goes another way than its record. Texts for people. */
export interface Difference {
  what: string;
  recorded: string;
  now: string;
}

export interface ReplayResult {
  differences: Difference[];
  /** How many requests were compared. */
  requests: number;
}

const TIMEOUT_MS = 120_000;
const CLOSE_MS = 3000;
const TICK_MS = 250;
/** A call that asks for nothing for so long, in milliseconds, waits for what its record does not have. */
const QUIET_MS = 10_000;
const MAX_SHOWN = 2000;

/** Answers the requests of one call. */
export type AnswerRequest = (request: RequestMessage) => Promise<CapabilityReply>;

/** Runs durable calls in one sandbox of this process, with nothing of a service around it. */
export class LocalCalls {
  readonly #sandbox: Sandbox;
  readonly #running = new Map<number, AnswerRequest>();
  readonly #ticking: NodeJS.Timeout;
  #lastCall = 0;

  private constructor() {
    this.#sandbox = createSandbox({
      capabilities: (_child, call, request) =>
        this.#running.get(call)?.(request) ?? Promise.reject(new Error('no such call')),
      on: { loaded: () => true, lost: () => undefined, dying: () => undefined, killed: () => undefined },
      sandboxDir: SANDBOX_DIR,
      log: createLog('silent'),
      clock: systemClock,
      maxProcesses: 8,
      mostThreads: 1,
    });
    this.#ticking = setInterval(() => this.#sandbox.tick(), TICK_MS).unref();
  }

  static async open(): Promise<LocalCalls> {
    const calls = new LocalCalls();
    const opened = await calls.#sandbox.open(SANDBOX_DIR);
    await opened?.thread;
    return calls;
  }

  /** @param answers makes the function that answers; it gets one that ends the call */
  async run(
    version: PluginVersion,
    context: Json,
    durable: DurableStart,
    answers: (cancel: () => void) => AnswerRequest,
  ): Promise<CallReport> {
    const { admission } = this.#sandbox;
    const seat = await admission.enter({
      pluginId: version.pluginId,
      version: () => version,
      waitUntil: systemClock.elapsed() + TIMEOUT_MS,
      signal: new AbortController().signal,
    });
    if (typeof seat === 'string') throw new Error(`No sandbox process for ${version.pluginId}: ${seat}`);
    this.#lastCall += 1;
    const call = this.#lastCall;
    const { id: child, thread } = seat.child;
    this.#running.set(
      call,
      answers(() => this.#sandbox.cancel(thread, child, call)),
    );
    const task = { child, call, version: seat.version.version, context: JSON.stringify(context), durable };
    const report = await this.#sandbox.run(thread, { ...task, timeout_ms: TIMEOUT_MS });
    this.#running.delete(call);
    admission.leave(seat, report.lost);
    return report;
  }

  async close(): Promise<void> {
    clearInterval(this.#ticking);
    await this.#sandbox.close(CLOSE_MS);
  }
}

/**
 * Runs a recorded call again.
 * @param local the secrets of this folder, and what puts the author's files into a text
 */
export async function replayCall(
  calls: LocalCalls,
  record: ReplayRecord,
  version: PluginVersion,
  local: { secrets?: Secrets; mapped?(text: string): string } = {},
): Promise<ReplayResult> {
  const { secrets = version.env, mapped = (text: string) => text } = local;
  let replayed: ReplayedCall | undefined;
  const { seed, now } = record;
  const { outcome } = await calls.run(version, restoreSecrets(record.context, secrets), { seed, now }, (cancel) => {
    const call = new ReplayedCall(record, secrets, cancel);
    replayed = call;
    return (request) => call.ask(request);
  });
  if (replayed === undefined) throw new Error('The call was not run');
  return replayed.end(outcome, mapped);
}

const CAPABILITIES = bindCapabilities(new FakeServices({}).services({} as never));

/** What tells a request from others: its parameters as the service reads them. */
export function payloadOf({ method, params }: RequestMessage): Json {
  try {
    return (CAPABILITIES.get(method)?.prepare(params).payload() ?? params) as Json;
  } catch {
    // The service refused it too.
    return params;
  }
}

interface Asked {
  method: string;
  payload: Json;
}

/** One call that hears what its record has, in the recorded order. */
class ReplayedCall {
  readonly #record: ReplayRecord;
  readonly #secrets: Secrets;
  readonly #cancel: () => void;
  readonly #places: ReadonlyMap<number, number>;
  readonly #waiting = new Map<number, () => void>();
  readonly #unrecorded = new Map<number, Asked>();
  readonly #differences: Difference[] = [];
  #next = 0;
  #quiet: NodeJS.Timeout | undefined;
  #isQuiet = false;

  constructor(record: ReplayRecord, secrets: Secrets, cancel: () => void) {
    this.#record = record;
    this.#secrets = secrets;
    this.#cancel = cancel;
    this.#places = new Map(record.deliveries.map(({ request }, place) => [request, place]));
  }

  ask(request: RequestMessage): Promise<CapabilityReply> {
    clearTimeout(this.#quiet);
    const { id, method } = request;
    const payload = payloadOf(request);
    const recorded = this.#record.deliveries[this.#places.get(id) ?? -1];
    if (recorded === undefined) {
      this.#unrecorded.set(id, { method, payload });
      this.#watch();
      return new Promise(() => undefined);
    }
    // The record has the names of secrets, and the hash that of the payload with the secrets of where it was made.
    const shown = redactSecrets(payload, this.#secrets);
    const isSame =
      recorded.method === method &&
      (recorded.hash === payloadHash(method, payload) ||
        (recorded.payload !== undefined && canonicalJson(recorded.payload) === canonicalJson(shown)));
    if (!isSame) {
      this.#differ(`Request ${id} differs`, shownRequest(recorded), shownRequest({ method, payload: shown }));
      // Its answer means nothing to another request.
      if (recorded.method !== method) {
        this.#cancel();
        return new Promise(() => undefined);
      }
    }
    const answer = restoreSecrets(recorded.answer, this.#secrets) as unknown as CapabilityReply;
    return new Promise((resolve) => {
      this.#waiting.set(id, () => resolve({ ...answer, at: recorded.at }));
      // Later: whoever gets this promise has to wait for it already, as others do. Answers would leave in another order.
      queueMicrotask(() => this.#deliver());
    });
  }

  end(outcome: CallOutcome, mapped: (text: string) => string): ReplayResult {
    clearTimeout(this.#quiet);
    const { deliveries, outcome: recorded } = this.#record;
    const goneAnotherWay = this.#differences.some(({ what }) => what.startsWith('Request'));
    for (const { request, ...asked } of goneAnotherWay ? [] : deliveries.slice(this.#next)) {
      if (!this.#waiting.has(request)) this.#differ(`Request ${request} is missing`, shownRequest(asked), 'not made');
    }
    const now = this.#isQuiet ? undefined : this.#outcome(outcome, mapped);
    if (recorded !== null && (now === undefined || canonicalJson(now) !== canonicalJson(recorded))) {
      const waits = [...this.#unrecorded].map(([id, asked]) => `${id} ${shownRequest(asked)}`);
      const going = `has not ended: it waits for ${waits.join(', ') || 'nothing'}`;
      if (!goneAnotherWay || now !== undefined)
        this.#differ('The outcome differs', shown(recorded), now ? shown(now) : going);
    }
    return { differences: this.#differences, requests: this.#next };
  }

  #outcome(outcome: CallOutcome, mapped: (text: string) => string): Json | undefined {
    if (outcome.kind === 'returned') {
      return redactSecrets({ returned: JSON.parse(outcome.json) as Json }, this.#secrets);
    }
    if (outcome.kind === 'ended' && outcome.code === 'CANCELED') return undefined;
    const recorded =
      this.#record.outcome !== null && 'error' in this.#record.outcome ? this.#record.outcome.error : undefined;
    const message = [mapped(outcome.message), outcome.message].find((text) => text === recorded?.message);
    const details = outcome.kind === 'threw' ? (JSON.parse(outcome.details) as Json) : undefined;
    const error = {
      code: outcome.code,
      message: message ?? mapped(outcome.message),
      status: outcome.kind === 'threw' ? outcome.status : (recorded?.status ?? 0),
      ...(recorded?.details === undefined || details === undefined ? {} : { details }),
    };
    return redactSecrets({ error }, this.#secrets);
  }

  #deliver(): void {
    const { deliveries } = this.#record;
    for (let next = deliveries[this.#next]; next !== undefined; next = deliveries[this.#next]) {
      const deliver = this.#waiting.get(next.request);
      if (deliver === undefined) return this.#watch();
      this.#waiting.delete(next.request);
      this.#next += 1;
      deliver();
    }
    this.#watch();
  }

  /** Ends the call some time after its last request, if it waits for answers that its record does not have. */
  #watch(): void {
    clearTimeout(this.#quiet);
    const isAtEnd = this.#record.outcome === null && this.#next === this.#record.deliveries.length;
    if (this.#waiting.size + this.#unrecorded.size === 0 && !isAtEnd) return;
    this.#quiet = setTimeout(() => {
      this.#isQuiet = true;
      this.#cancel();
    }, QUIET_MS);
  }

  #differ(what: string, recorded: string, now: string): void {
    this.#differences.push({ what, recorded, now });
  }
}

function shownRequest({ method, payload }: { method: string; payload?: Json }): string {
  return payload === undefined ? `${method} (too long to be kept)` : `${method} ${shown(payload)}`;
}

function shown(value: Json): string {
  const text = JSON.stringify(value);
  return text.length > MAX_SHOWN ? `${text.slice(0, MAX_SHOWN)}…` : text;
}
