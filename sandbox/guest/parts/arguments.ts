import { parseArgs } from '@pkgjs/parseargs';

/** `parseArgs` of Node's module `util`. */
export function part(): Record<string, unknown> {
  return { parseArgs };
}
