import type { LogEntry } from '../../sandbox/protocol.ts';
import type { Log } from '../observability/log.ts';
import { MAX_SHOWN } from './catalog/network-use.ts';
import type { ServingVersion } from './catalog/version-swap.ts';

/** The form of an environment entry's name that is accepted from a sandbox. The name goes into the log. */
const NAME = /^[A-Z][A-Z0-9_]{1,99}$/;

/**
 * Removes the lines that name environment entries which the plugin read without a grant. Logs each name once for a
 * version, unless the plugin's code already showed it. The plugin's view shows the name from then on.
 * @returns the other lines
 */
export function takeUngranted(
  lines: readonly LogEntry[],
  log: Log,
  pluginId: string,
  version: ServingVersion | undefined,
): readonly LogEntry[] {
  if (!lines.some(({ level }) => level === 'ungranted')) return lines;
  const known = version?.reads.environment;
  for (const { level, message: name } of lines) {
    if (level !== 'ungranted' || known === undefined || known.length > MAX_SHOWN) continue;
    if (known.includes(name) || !NAME.test(name)) continue;
    known.push(name);
    known.sort();
    const hint = `add ${JSON.stringify(name)} to permissions.env of plugin ${pluginId} in config.json`;
    log.warn({ pluginId, missing: [name], hint }, 'a plugin reads an environment entry that it does not see');
  }
  return lines.filter(({ level }) => level !== 'ungranted');
}
