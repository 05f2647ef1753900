import type { CallOutcome } from '../contract.ts';
import { isInteger, stringSlice, stringTrim, toText } from './intrinsics/primordials.ts';
import { toJsonText } from './json-text.ts';

type Threw = Extract<CallOutcome, { kind: 'threw' }>;

/** The outcome for a thrown value, and the reason if its details were dropped. */
export interface GuestFailure {
  outcome: Threw;
  droppedDetails: string | null;
}

const MAX_MESSAGE = 8192;
const MAX_CODE = 256;
const NO_MESSAGE = 'Plugin execution failed';
const CODE_OF_NAME = {
  __proto__: null,
  SyntaxError: 'SYNTAX_ERROR',
  TypeError: 'TYPE_ERROR',
  ReferenceError: 'REFERENCE_ERROR',
} as unknown as Record<string, string | undefined>;

/**
 * Extracts message, code, status and details from any value that a plugin threw. Never throws: a property that cannot
 * be read counts as absent.
 */
export function describeFailure(thrown: unknown, detailsLimitBytes: number): GuestFailure {
  if (!isObject(thrown)) {
    return { outcome: failure(shown(textOf(thrown)), 'PLUGIN_ERROR', 500, '{}'), droppedDetails: null };
  }
  const { text, dropped } = detailsOf(thrown, detailsLimitBytes);
  return { outcome: failure(messageOf(thrown), codeOf(thrown), statusOf(thrown), text), droppedDetails: dropped };
}

/** Whether a thrown value was made by `pluginError`, to be the answer to the caller. */
export function isPluginErrorValue(thrown: unknown): boolean {
  return isObject(thrown) && read(thrown, 'name') === 'PluginError';
}

function failure(message: string, code: string, status: number, details: string): Threw {
  return { kind: 'threw', message, code, status, details };
}

function messageOf(thrown: object): string {
  const message = read(thrown, 'message');
  const text = typeof message === 'string' && message !== '' ? message : textOf(isTruthy(message) ? message : thrown);
  return shown(bounded(text, MAX_MESSAGE));
}

function shown(text: string): string {
  return stringTrim(text) === '' ? NO_MESSAGE : text;
}

function codeOf(thrown: object): string {
  const name = read(thrown, 'name');
  const byName = typeof name === 'string' ? CODE_OF_NAME[name] : undefined;
  if (byName !== undefined) return byName;
  const code = read(thrown, 'code');
  if (typeof code === 'string' && code !== '') return bounded(code, MAX_CODE);
  return typeof code === 'number' ? toText(code) : 'PLUGIN_ERROR';
}

/**
 * The status of an error, from 200 to 599. A lower status would never end the HTTP exchange (RFC 9110 15.2), a higher
 * one has no meaning.
 */
function statusOf(thrown: object): number {
  const status = read(thrown, 'status');
  return typeof status === 'number' && isInteger(status) && status >= 200 && status <= 599 ? status : 500;
}

function detailsOf(thrown: object, limitBytes: number): { text: string; dropped: string | null } {
  try {
    const { details } = thrown as { details?: unknown };
    if (details === undefined || details === null) return { text: '{}', dropped: null };
    const json = toJsonText(details, 'details', limitBytes);
    return json.ok ? { text: json.text, dropped: null } : { text: '{}', dropped: json.message };
  } catch {
    return { text: '{}', dropped: 'reading them failed' };
  }
}

function read(thrown: object, name: 'message' | 'name' | 'code' | 'status'): unknown {
  try {
    return (thrown as Record<typeof name, unknown>)[name];
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  try {
    return bounded(toText(value), MAX_MESSAGE);
  } catch {
    return `${NO_MESSAGE}: what was thrown cannot be turned into text`;
  }
}

function bounded(text: string, longest: number): string {
  return text.length <= longest ? text : `${stringSlice(text, 0, longest)}… (${text.length - longest} more characters)`;
}

function isObject(value: unknown): value is object {
  return (typeof value === 'object' && value !== null) || typeof value === 'function';
}

function isTruthy(value: unknown): boolean {
  return value ? true : false;
}
