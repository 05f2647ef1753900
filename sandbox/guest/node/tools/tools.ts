import { checkString, nodeError } from '../node-error.ts';
import { isDeepEqual } from './deep-equal.ts';
import { callbackify, deprecate, inherits, promisify } from './function-wrappers.ts';
import { styleText } from './style-text.ts';
import { createTypeChecks } from './type-checks.ts';

interface Signal {
  readonly aborted: boolean;
  addEventListener(type: string, listener: (event: unknown) => void, options: { once: boolean }): void;
}

/**
 * Node's module `util`, without the functions that show values as text, and without the members that are global too.
 */
export function createTools(): Record<string, unknown> {
  const types = createTypeChecks();
  return {
    promisify,
    callbackify,
    deprecate,
    inherits,
    types,
    styleText,
    parseEnv,
    isDeepStrictEqual: (a: unknown, b: unknown, options?: unknown) =>
      isDeepEqual(a, b, {
        strict: true,
        skipPrototype: options === true || (options as { skipPrototype?: unknown } | undefined)?.skipPrototype === true,
      }),
    isArray: Array.isArray,
    _extend: (target: object, source: unknown) =>
      typeof source === 'object' && source !== null ? Object.assign(target, source) : target,
    debuglog,
    debug: debuglog,
    toUSVString: (text: unknown) => String(text).toWellFormed(),
    markPromiseAsHandled: (promise: Promise<unknown>) => void promise.catch(() => {}),
    transferableAbortController: () => new AbortController(),
    transferableAbortSignal: (signal: unknown) => signal,
    aborted(signal: Signal) {
      if (typeof signal?.aborted !== 'boolean') {
        throw nodeError('ERR_INVALID_ARG_TYPE', 'signal is not of type AbortSignal.', TypeError);
      }
      return new Promise<unknown>((resolve) => {
        if (signal.aborted) resolve(undefined);
        else signal.addEventListener('abort', resolve, { once: true });
      });
    },
    getCallSites,
  };
}

/** Logs nothing, because `NODE_DEBUG` is never set for a plugin. */
function debuglog(_section: unknown, tell?: (log: unknown) => void): unknown {
  const log = Object.assign(() => {}, { enabled: false });
  tell?.(log);
  return log;
}

interface CallSite {
  getFunctionName(): string | null;
  getFileName(): string | undefined;
  getLineNumber(): number | null;
  getColumnNumber(): number | null;
}

/** The call sites of the caller and of its callers. */
function getCallSites(frames: unknown = 10): object[] {
  const most = typeof frames === 'number' ? frames : 10;
  const kind = Error as unknown as { prepareStackTrace: unknown; stackTraceLimit: number };
  const { prepareStackTrace, stackTraceLimit } = kind;
  try {
    kind.stackTraceLimit = most + 1;
    kind.prepareStackTrace = (_: unknown, sites: CallSite[]) => sites;
    const sites = (new Error('sites').stack as unknown as CallSite[]).slice(1);
    return sites.map((site) => ({
      functionName: site.getFunctionName() ?? '',
      scriptId: '0',
      scriptName: site.getFileName() ?? '',
      lineNumber: site.getLineNumber() ?? 0,
      columnNumber: site.getColumnNumber() ?? 0,
      column: site.getColumnNumber() ?? 0,
    }));
  } finally {
    kind.prepareStackTrace = prepareStackTrace;
    kind.stackTraceLimit = stackTraceLimit;
  }
}

/** The entries of a file such as `.env` (https://nodejs.org/api/util.html#utilparseenvcontent). */
function parseEnv(content: unknown): Record<string, string> {
  checkString(content, 'content');
  const found = { __proto__: null } as unknown as Record<string, string>;
  const entry = /^[ \t]*(?:export[ \t]+)?([\w.-]+)[ \t]*=[ \t]*("(?:[^"]*)"|'(?:[^']*)'|`(?:[^`]*)`|[^#\n\r]*)/gm;
  for (const [, name = '', value = ''] of content.matchAll(entry)) {
    const quote = /^(["'`])/.exec(value)?.[1];
    const bare = quote === undefined ? value.trim() : value.slice(1, -1);
    found[name] = quote === '"' ? bare.replaceAll('\\n', '\n') : bare;
  }
  return found;
}
