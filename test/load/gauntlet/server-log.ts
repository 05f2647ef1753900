import { HOSTILE } from './hostile-plugins.ts';

const ERRORS: ReadonlySet<string> = new Set(['error', 'fatal']);
/** Errors that a plugin causes in the server's log. From a hostile plugin they are expected. */
const OF_PLUGINS: ReadonlySet<string> = new Set(['a plugin is backed off', 'a plugin did not catch an error']);
const SHOWN = 300;

interface LogLine {
  level?: string;
  msg?: string;
  err?: { message?: string };
  pluginId?: string;
}

/** Errors in a server's output, logged or written directly, by text, with their counts. */
export function errorsIn(output: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const line of output.split('\n')) {
    const text = errorOf(line);
    if (text !== null) counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  return counts;
}

function errorOf(line: string): string | null {
  if (!line.startsWith('{')) return /Error\b|^\(node:\d+\)/.test(line) ? line.slice(0, SHOWN) : null;
  const { level, msg, err, pluginId } = JSON.parse(line) as LogLine;
  if (level === undefined || !ERRORS.has(level) || msg === undefined) return null;
  if (OF_PLUGINS.has(msg) && pluginId?.startsWith(HOSTILE) === true) return null;
  return [msg, ...(err?.message === undefined ? [] : [err.message])].join(': ').slice(0, SHOWN);
}
