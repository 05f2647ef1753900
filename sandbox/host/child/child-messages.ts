import {
  type CallFailure,
  type EndCode,
  FIXED_LIMITS,
  type Json,
  type Limits,
  type LoadFailure,
  type LogEntry,
  type RequestMessage,
  type Usage,
} from '../../contract.ts';
import { type FramePayloadLimit, ProtocolViolation } from '../../frames.ts';
import {
  type DoneMessage,
  type LoadedMessage,
  logBytes,
  type ParsedFrame,
  type ReadyMessage,
  UP,
} from '../../protocol.ts';
import { isJson } from './json-check.ts';

/** How deeply a capability's parameters may be nested. Deeper ones could overflow a reader's stack. */
export const MAX_DEPTH = 64;

/** Greatest total weight of the values in a capability's parameters; a scalar weighs 1. */
export const MAX_WEIGHT = 65_536;
/** Weight of an object or array: it costs each process that handles it about as much as four other values. */
const CONTAINER_WEIGHT = 4;
const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const OPEN_BRACE = 0x7b;
const OPEN_BRACKET = 0x5b;

const LOG_LEVELS: readonly LogEntry['level'][] = ['log', 'info', 'warn', 'error', 'debug', 'uncaught', 'ungranted'];
const MAX_METHOD = 100;
const MAX_VERSION = 200;
const MAX_CODE = 1000;

/** More than any child of ours has, yet small enough to be safe in a sum or a report. */
const MAX_ISOLATES = 65_536;
const MAX_HEAP_BYTES = 2 ** 40;

/** The ends that a child may report. Only the host may report the others. */
const ENDS_OF_CALLS: readonly EndCode[] = [
  'CPU_LIMIT',
  'MEMORY_LIMIT',
  'CALL_LIMIT',
  'RESULT_TOO_LARGE',
  'RESULT_NOT_SERIALIZABLE',
  'SANDBOX_LOST',
  'CANCELED',
];
const ENDS_OF_LOADS: readonly EndCode[] = ['CPU_LIMIT', 'MEMORY_LIMIT'];

/** Milliseconds, and four whole numbers. */
const RETURN_NUMBERS = /^(\d{1,15}(?:\.\d{1,20})?(?:e-\d{1,2})?) (\d{1,16}) (\d{1,16}) (\d{1,16}) (\d{1,16})\n/;

type Fields = { [key: string]: unknown };

/** A child's frames with a longer payload are parsed in a thread, in bytes. */
export const MAX_HOST_PAYLOAD = 16_384;

/**
 * Parses the payload of a child's frame. The host's loop parses the small ones itself; a driver thread parses the
 * others. Never throws.
 */
export function parseFrame(kind: number, text: string): ParsedFrame {
  try {
    switch (kind) {
      case UP.REQUEST:
        return requestFrame(text);
      case UP.LOG:
        return { kind, entry: parseLog(text), bytes: logBytes(text) };
      case UP.DONE:
        return { kind, message: parseDone(text) };
      case UP.RETURNED:
        return { kind, message: parseReturned(text) };
      case UP.LOADED:
        return { kind, message: parseLoaded(text) };
      case UP.READY:
        return { kind, message: parseReady(text) };
      case UP.ISOLATES:
        return { kind, isolates: parseIsolates(text) };
      default:
        throw new ProtocolViolation(`no such frame: ${kind}`);
    }
  } catch (error) {
    if (!(error instanceof ProtocolViolation)) throw error;
    return { kind: 'violation', detail: error.message };
  }
}

/** @throws ProtocolViolation */
function requestFrame(text: string): ParsedFrame {
  const { head, value } = splitRequestText(text);
  const crowded = hasTooManyJsonValues(head);
  const message = crowded ? { id: requestId(head), method: '', params: null } : parseRequest(head, value);
  const refusal = refusalOf(crowded, message.params);
  // What is refused goes no further: a copy to another thread would not survive how deep it is.
  const passed = refusal === null ? message : { ...message, params: null };
  return { kind: UP.REQUEST, message: passed, refusal, bytes: Buffer.byteLength(text) };
}

function refusalOf(crowded: boolean, params: Json): string | null {
  if (crowded) {
    return `parameters may hold at most ${MAX_WEIGHT} values, where an object or array counts for four`;
  }
  return isTooDeep(params) ? `parameters may be nested ${MAX_DEPTH} levels deep` : null;
}

/** @throws ProtocolViolation */
export function parseReady(text: string): ReadyMessage {
  const fields = fieldsOf(text, ['protocol', 'node']);
  return { protocol: whole(fields, 'protocol'), node: line(fields, 'node', MAX_VERSION) };
}

/** @throws ProtocolViolation */
export function parseLoaded(text: string): LoadedMessage {
  const fields = fieldsOf(text, ['version', 'isolate_bytes', 'failure']);
  return {
    version: line(fields, 'version', MAX_VERSION),
    isolate_bytes: whole(fields, 'isolate_bytes', MAX_HEAP_BYTES),
    failure: fields['failure'] === null ? null : failureOf(fields['failure']),
  };
}

/** @throws ProtocolViolation */
export function parseLog(text: string): LogEntry {
  const cut = text.indexOf(' ');
  const named = cut < 0 ? '' : text.slice(0, cut);
  const level = LOG_LEVELS.find((known) => known === named);
  if (level === undefined) throw new ProtocolViolation('a log entry has no such level');
  return { level, message: text.slice(cut + 1) };
}

/**
 * Splits a capability call into its message and, if present, the JSON text of its parameter `value` after the newline.
 */
export function splitRequestText(text: string): { head: string; value: string | undefined } {
  const cut = text.indexOf('\n');
  return cut === -1 ? { head: text, value: undefined } : { head: text.slice(0, cut), value: text.slice(cut + 1) };
}

/**
 * Puts a request together from its parts. Checks that `value` is JSON and keeps it as text.
 * @throws ProtocolViolation
 */
export function parseRequest(head: string, value?: string): RequestMessage {
  const fields = fieldsOf(head, ['id', 'method', 'params']);
  const params = fields['params'] as Json;
  if (isObject(params) && Object.hasOwn(params, 'value'))
    throw new ProtocolViolation('value is not behind the message');
  if (value !== undefined && !(isObject(params) && isJson(value))) throw new ProtocolViolation('value is not JSON');
  return {
    id: whole(fields, 'id'),
    method: line(fields, 'method', MAX_METHOD),
    params: value === undefined ? params : { ...(params as { [key: string]: Json }), value },
  };
}

/** @throws ProtocolViolation */
export function parseDone(text: string): DoneMessage {
  const fields = fieldsOf(text, ['outcome', 'usage', 'dropped_logs', 'isolates']);
  return {
    outcome: outcomeOf(fields['outcome'], ENDS_OF_CALLS),
    usage: usageOf(fields['usage']),
    dropped_logs: whole(fields, 'dropped_logs'),
    isolates: whole(fields, 'isolates', MAX_ISOLATES),
  };
}

/** @throws ProtocolViolation */
export function parseReturned(text: string): DoneMessage {
  const found = RETURN_NUMBERS.exec(text);
  if (found === null) throw new ProtocolViolation('a return does not begin with its numbers');
  const cpu_ms = Number(found[1]);
  const calls = Number(found[2]);
  const heap_bytes = Number(found[3]);
  const dropped_logs = Number(found[4]);
  const isolates = Number(found[5]);
  const json = text.slice(found[0].length);
  if (!isJson(json)) throw new ProtocolViolation('a result is not JSON');
  const usage = { cpu_ms, calls: atMost(calls), heap_bytes: atMost(heap_bytes, MAX_HEAP_BYTES) };
  const outcome = { kind: 'returned', json } as const;
  return { outcome, usage, dropped_logs: atMost(dropped_logs), isolates: atMost(isolates, MAX_ISOLATES) };
}

/** @throws ProtocolViolation */
export function parseIsolates(text: string): number {
  if (!/^\d{1,10}$/.test(text)) throw new ProtocolViolation('a number of isolates is no number');
  if (Number(text) > MAX_ISOLATES) throw new ProtocolViolation(`isolates is more than ${MAX_ISOLATES}`);
  return Number(text);
}

/** Whether `value` has more than {@link MAX_DEPTH} containers inside each other. */
export function isTooDeep(value: Json): boolean {
  let level: Json[] = [value];
  for (let depth = 0; depth <= MAX_DEPTH; depth += 1) {
    level = level.flatMap((item) => (typeof item === 'object' && item !== null ? Object.values(item) : []));
    if (level.length === 0) return false;
  }
  return true;
}

/**
 * Whether JSON text holds more values than a capability call may have. It scans the text without parsing it: parsing
 * and copying a megabyte of `[[],[],…` holds up the main loop, and the other children of this thread, for tenths of a
 * second.
 */
export function hasTooManyJsonValues(text: string): boolean {
  if (text.length * CONTAINER_WEIGHT <= MAX_WEIGHT) return false;
  let weight = 0;
  let inString = false;
  for (let at = 0; at < text.length && weight <= MAX_WEIGHT; at += 1) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) inString = !inString;
    else if (inString) at += code === BACKSLASH ? 1 : 0;
    else if (code === COMMA) weight += 1;
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) weight += CONTAINER_WEIGHT;
  }
  return weight > MAX_WEIGHT;
}

/**
 * Reads the id of a request that has too many values to be parsed. Our own runtime writes the id at the beginning of
 * the text.
 * @throws ProtocolViolation
 */
export function requestId(text: string): number {
  const id = /^\{"id":(\d{1,15}),/.exec(text)?.[1];
  if (id === undefined) throw new ProtocolViolation('a payload does not begin with its id');
  return Number(id);
}

/** Reads why a module cannot be served. */
function failureOf(value: unknown): LoadFailure {
  const fields = exactly(value, ['outcome', 'report']);
  return { outcome: outcomeOf(fields['outcome'], ENDS_OF_LOADS), report: textOf(fields, 'report') };
}

function outcomeOf(value: unknown, ends: readonly EndCode[]): CallFailure {
  const kind = isObject(value) ? value['kind'] : undefined;
  switch (kind) {
    case 'threw': {
      const fields = exactly(value, ['kind', 'message', 'code', 'status', 'details']);
      return {
        kind,
        message: textOf(fields, 'message'),
        code: line(fields, 'code', MAX_CODE),
        status: whole(fields, 'status'),
        details: jsonOf(fields, 'details'),
      };
    }
    case 'ended': {
      const fields = exactly(value, ['kind', 'code', 'message']);
      return { kind, code: endCode(fields['code'], ends), message: textOf(fields, 'message') };
    }
    default:
      throw new ProtocolViolation('an outcome has no such kind');
  }
}

function usageOf(value: unknown): Usage {
  const fields = exactly(value, ['cpu_ms', 'calls', 'heap_bytes']);
  const cpuMs = fields['cpu_ms'];
  if (typeof cpuMs !== 'number' || !(cpuMs >= 0 && cpuMs < Number.POSITIVE_INFINITY)) {
    throw new ProtocolViolation('cpu_ms is no duration');
  }
  return { cpu_ms: cpuMs, calls: whole(fields, 'calls'), heap_bytes: whole(fields, 'heap_bytes', MAX_HEAP_BYTES) };
}

function endCode(value: unknown, ends: readonly EndCode[]): EndCode {
  const code = ends.find((known) => known === value);
  if (code === undefined) throw new ProtocolViolation('an outcome has no such code');
  return code;
}

function fieldsOf(text: string, names: readonly string[]): Fields {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new ProtocolViolation('a payload is not JSON');
  }
  return exactly(value, names);
}

function exactly(value: unknown, names: readonly string[]): Fields {
  if (!isObject(value)) throw new ProtocolViolation('a payload is not an object');
  const keys = Object.keys(value);
  if (keys.length !== names.length || !names.every((name) => Object.hasOwn(value, name))) {
    throw new ProtocolViolation(`a payload must have exactly ${names.join(', ')}`);
  }
  return value;
}

function isObject(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function textOf(fields: Fields, name: string): string {
  const value = fields[name];
  if (typeof value !== 'string') throw new ProtocolViolation(`${name} is not a text`);
  return value;
}

/** Reads JSON text that goes into the answer unchanged. The check keeps it from breaking the answer's shape. */
function jsonOf(fields: Fields, name: string): string {
  const value = textOf(fields, name);
  if (!isJson(value)) throw new ProtocolViolation(`${name} is not JSON`);
  return value;
}

function line(fields: Fields, name: string, longest: number): string {
  const value = textOf(fields, name);
  if (value.length > longest) throw new ProtocolViolation(`${name} is longer than ${longest} characters`);
  return value;
}

function whole(fields: Fields, name: string, most = Number.MAX_SAFE_INTEGER): number {
  const value = fields[name];
  if (!Number.isSafeInteger(value) || (value as number) < 0) throw new ProtocolViolation(`${name} is no whole number`);
  if ((value as number) > most) throw new ProtocolViolation(`${name} is more than ${most}`);
  return value as number;
}

function atMost(value: number, most = Number.MAX_SAFE_INTEGER): number {
  if (value > most) throw new ProtocolViolation(`${value} is more than ${most}`);
  return value;
}

/** Longest payload a child may send in a frame of each kind, in bytes. */
export function childPayloadLimits(limits: Pick<Limits, 'result_bytes'>): FramePayloadLimit {
  const slack = FIXED_LIMITS.up_frame_slack_bytes;
  const caps = new Map<number, number>([
    [UP.READY, slack],
    // The thrown error and its stack; every character may be escaped.
    [UP.LOADED, 2 * slack],
    [UP.ENTER, 0],
    [UP.LEAVE, 0],
    [UP.ISOLATES, 10],
    [UP.REQUEST, FIXED_LIMITS.request_bytes],
    [UP.LOG, FIXED_LIMITS.log_bytes],
    // The details are JSON text inside JSON. Escaping at most doubles them.
    [UP.DONE, 2 * limits.result_bytes + slack],
    [UP.RETURNED, limits.result_bytes + slack],
  ]);
  return (kind) => caps.get(kind);
}
